import ArgumentParser

/// `tidegate check DIR`: what would become of an app, without a database.
struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check an exported app: one line per item, errors with file and JSON path.",
        discussion: "Exits with 1 when there are errors. Warnings alone exit with 0."
    )

    @Argument(help: "Directory of the app.") var directory: String
    @Flag(name: .shortAndLong, help: "Leave out what is taken as it is.") var quiet = false

    func run() async throws {
        let report = await AppReport(try AppDirectory.read(directory)).checkingSources()
        print(report.text(quiet: quiet))
        if report.app == nil { throw ExitCode(1) }
    }
}
