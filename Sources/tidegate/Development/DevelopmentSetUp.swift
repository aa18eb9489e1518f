import AppDefinition
import Errors
import Foundation
import Migrations
import Postgres
import Services

/// Brings the private database up to date and the app into it.
struct DevelopmentSetUp {
    let databaseURL: String
    let directory: URL
    /// nil serves the sample.
    let appDirectory: String?

    /// - Returns: The client app id to call.
    func run() async throws -> String {
        let database = Database(settings: PostgresSettings(connectionString: databaseURL, maxConnections: 2))
        do {
            let id = try await prepare(database)
            await database.close()
            return id
        } catch {
            await database.close()
            throw error
        }
    }

    private func prepare(_ database: Database) async throws -> String {
        _ = try await Migrator(database: database).migrate()
        let files =
            try appDirectory.map { try AppDirectory.read($0) }
            ?? FileTree(files: SampleApp.files.mapValues { Array($0.utf8) })
        let (tree, reading) = ConfigurationTreeReader.read(files)
        guard let tree, !reading.hasErrors else { throw faults(reading) }
        let (app, findings) = AppConfigurationParser.parse(tree)
        guard let app else { throw faults(findings) }
        var sources = Findings()
        for fault in await EngineForChecks.faults(of: app) { sources.add(fault) }
        if sources.hasErrors { throw faults(sources) }
        let result = try await AppStore(database: database).import(tree, app)
        for name in result.missingSecrets {
            print("missing secret: select tidegate.set_secret('\(result.clientAppID)', '\(name)', '…');")
        }
        return result.clientAppID
    }

    private func faults(_ findings: Findings) -> ServiceError {
        let lines = findings.errors.map(\.description).joined(separator: "\n  ")
        return ServiceError(.invalidAppDefinition, "the app cannot be served:\n  \(lines)")
    }
}
