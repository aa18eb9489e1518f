import ArgumentParser
import Observability

/// `tidegate`: the command line.
@main
struct Tidegate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tidegate",
        abstract: "Serves apps of MongoDB Atlas App Services from PostgreSQL.",
        version: Telemetry.version,
        subcommands: [
            DevCommand.self, ServeCommand.self, MigrateCommand.self, CheckCommand.self, ImportCommand.self,
            ExportCommand.self, ImportDocumentsCommand.self, LogsCommand.self, ExplainCommand.self,
            BuildIndexesCommand.self, ImportUsersCommand.self, FunctionWorkerCommand.self,
        ]
    )
}
