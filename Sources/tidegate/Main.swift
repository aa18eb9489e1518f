import ArgumentParser
import Observability
import Scripting

/// The program's entry.
@main
enum Entry {
    @MainActor
    static func main() async {
        // Started by the dozen, with less of the processors than others: it begins in the thread that is there, before the
        // runtime starts threads of its own, which have the niceness that they please.
        if CommandLine.arguments.dropFirst().first == FunctionWorkers.argument {
            FunctionWorker.serve()
        }
        await Tidegate.main()
    }
}

/// `tidegate`: the command line.
struct Tidegate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tidegate",
        abstract: "Serves apps of MongoDB Atlas App Services from PostgreSQL.",
        version: Telemetry.version,
        subcommands: [
            DevCommand.self, ServeCommand.self, MigrateCommand.self, CheckCommand.self, ImportCommand.self,
            ExportCommand.self, ImportDocumentsCommand.self, LogsCommand.self, ExplainCommand.self,
            BuildIndexesCommand.self, ImportUsersCommand.self,
        ]
    )
}
