import ArgumentParser
import Errors
import Foundation
import Observability
import Postgres

/// Which database a command works on.
struct DatabaseOptions: ParsableArguments {
    @Option(
        name: .long,
        help: "PostgreSQL: postgresql://user:password@host/database (environment: TIDEGATE_DATABASE_URL)."
    )
    var databaseURL: String?

    /// Runs a body with a small pool that is closed afterwards.
    func withDatabase<Value: Sendable>(
        connections: Int = 2,
        _ body: (Database) async throws -> Value
    ) async throws -> Value {
        let database = Database(settings: try settings(connections: connections))
        do {
            let value = try await body(database)
            await database.close()
            return value
        } catch {
            await database.close()
            throw Self.explained(error)
        }
    }

    /// How to connect.
    func settings(connections: Int = 2) throws(ServiceError) -> PostgresSettings {
        let environment = ProcessInfo.processInfo.environment["TIDEGATE_DATABASE_URL"]
        guard let url = databaseURL ?? environment, !url.isEmpty else {
            throw ServiceError(
                .invalidSetting,
                "database-url is not set: --database-url or TIDEGATE_DATABASE_URL"
            )
        }
        var settings = PostgresSettings(connectionString: url, maxConnections: connections)
        // An import may wait for a lock or rewrite a table; the person at the terminal can end it.
        settings.statementTimeout = .seconds(3600)
        settings.idleInTransactionTimeout = .seconds(3600)
        return settings
    }

    /// At the terminal the database's own words help; callers over HTTP never see them.
    private static func explained(_ error: any Error) -> any Error {
        guard let error = error as? ServiceError, let failure = error.postgresFailure else { return error }
        let hint = failure.sqlState.code == "42P01" ? "; has `tidegate migrate` been run?" : ""
        return ServiceError(
            error.code,
            "\(error.message): \(failure.message)\(hint)",
            serverCode: error.serverCode,
            details: error.details,
            cause: failure
        )
    }
}
