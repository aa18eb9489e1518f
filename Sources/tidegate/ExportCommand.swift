import AppDefinition
import ArgumentParser
import Services

/// `tidegate export APP DIR`: an app as the files that an import takes.
struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write an app as a directory, in the layout of App Services.",
        discussion: "Secrets are never written."
    )

    @Argument(help: "App id or name.") var app: String
    @Argument(help: "Directory; it is made, or must be empty.") var directory: String
    @Flag(name: .long, help: "Replace files that are there.") var force = false
    @Flag(name: .long, help: "Name the client app id, so that another database gives the app the same one.")
    var withAppID = false
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        let tree = try await database.withDatabase {
            try await AppStore(database: $0).export(app, withAppID: withAppID)
        }
        try AppDirectory.write(tree, to: directory, replace: force)
        print("\(tree.files.count) files written to \(directory)")
    }
}
