import AppDefinition
import ArgumentParser
import Services

/// `tidegate import DIR`: an exported app into the database.
struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import an exported app.",
        discussion: """
            An app of the same name is replaced, in one transaction; importing a directory twice changes nothing.
            Running gateways take the new version at once. With errors in the directory nothing is changed.
            """
    )

    @Argument(help: "Directory of the app.") var directory: String
    @Option(name: .long, help: "Client app id, as it stands in URLs (default: the export's, or a new one).")
    var appID: String?
    @Flag(name: .long, help: "Also remove values and environments that the directory does not have.")
    var prune = false
    @Flag(name: .long, help: "Only say which files would change.") var dryRun = false
    @Flag(name: .shortAndLong, help: "Leave out what is taken as it is.") var quiet = false
    @OptionGroup var database: DatabaseOptions

    func validate() throws {
        guard let appID else { return }
        let isValid = appID.utf8.count <= 128 && appID.wholeMatch(of: /[A-Za-z0-9][A-Za-z0-9_-]*/) != nil
        guard isValid else { throw ValidationError("--app-id must be letters, digits, - and _") }
    }

    func run() async throws {
        let report = await AppReport(try AppDirectory.read(directory)).checkingSources()
        print(report.text(quiet: quiet))
        guard let app = report.app, let tree = report.tree else { throw ExitCode(1) }
        try await database.withDatabase { database in
            let store = AppStore(database: database)
            if dryRun {
                print(try await differences(tree, store).joined(separator: "\n"))
                return
            }
            let options = AppStore.ImportOptions(clientAppID: appID, removesValues: prune)
            let result = try await store.import(tree, app, options: options)
            let what = result.isNew ? "imported" : result.changed ? "changed" : "unchanged"
            print("app \(app.name) \(what): app id \(result.clientAppID), version \(result.version)")
            if appID == nil, let named = tree.clientAppID, named != result.clientAppID {
                print("the export says app id \(named); --app-id \(named) would change it")
            }
            for secret in result.missingSecrets {
                print(
                    "missing secret: select tidegate.set_secret('\(result.clientAppID)', '\(secret)', '…');"
                )
            }
        }
    }

    /// `+`, `~` and `-` before the files that an import would add, change and remove.
    private func differences(_ tree: ConfigurationTree, _ store: AppStore) async throws -> [String] {
        var new = tree
        var old = FileTree()
        if try await store.find(tree.name) != nil {
            old = try await store.export(tree.name)
            // An existing app keeps its id unless told otherwise.
            if let kept = ConfigurationTreeReader.read(old).tree?.clientAppID, new.clientAppID != nil {
                new.clientAppID = appID ?? kept
            }
        }
        let files = ConfigurationTreeWriter.write(new)
        var lines: [String] = []
        for path in Set(files.paths).union(old.paths).sorted() where files[path] != old[path] {
            let isKept = !prune && (path.hasPrefix("values/") || path.hasPrefix("environments/"))
            if files[path] == nil, isKept || path == "auth/mail_templates.json" { continue }
            lines.append((old[path] == nil ? "+ " : files[path] == nil ? "- " : "~ ") + path)
        }
        return lines.isEmpty ? ["nothing would change"] : lines
    }
}
