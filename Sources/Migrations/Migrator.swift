public import Errors
public import Postgres
import SQL

/// Applies the migrations that are due.
///
/// Several gateways may start at once: each migration runs in one transaction together with its row in
/// `tidegate.migrations`, behind an advisory lock, and what is due is looked up again under that lock.
public struct Migrator: Sendable {
    private let database: Database

    /// A migrator for one database.
    public init(database: Database) {
        self.database = database
    }

    /// Applies what is due.
    ///
    /// - Parameters:
    ///   - available: All migrations; by default those the program was built with.
    ///   - report: Called after each one with the time it took.
    /// - Returns: What was applied by this call, in order.
    /// - Throws: `migrationDrift` before anything is changed; `internalServerError` with the migration's name
    ///   when its SQL fails, which undoes that migration and leaves the earlier ones.
    @discardableResult
    public func migrate(
        _ available: [Migration]? = nil,
        report: (Migration, Duration) -> Void = { _, _ in }
    ) async throws(ServiceError) -> [Migration] {
        let available = try Self.resolve(available)
        var applied: [Migration] = []
        var begin = ContinuousClock.now
        while let migration = try await applyNext(of: available) {
            applied.append(migration)
            report(migration, begin.duration(to: .now))
            begin = .now
        }
        return applied
    }

    /// What is applied and what is due, without changing anything.
    ///
    /// - Throws: `migrationDrift`.
    public func status(_ available: [Migration]? = nil) async throws(ServiceError) -> MigrationPlan {
        let available = try Self.resolve(available)
        let table = try await database.run(MigrationStatements.tableExists)
        guard table.bool(0, 0) == true else { return try MigrationPlan(available: available, applied: []) }
        let rows = try await database.run(MigrationStatements.applied)
        return try MigrationPlan(available: available, applied: MigrationStatements.decode(rows))
    }

    /// How many of the program's migrations are missing; cheap, for asking often.
    ///
    /// A database that is newer than the program misses nothing: a newer gateway brought it there. A role that
    /// may not read the table of migrations learns that the database answers, and no more.
    ///
    /// - Throws: Why the database does not answer in time.
    public func dueCount(within limit: Duration) async throws(ServiceError) -> Int {
        let available = try Migration.embedded()
        let may = try await database.run(MigrationStatements.mayRead, plan: .generic, within: limit)
        guard may.bool(0, 0) == true else { return 0 }
        let rows = try await database.run(MigrationStatements.applied, plan: .generic, within: limit)
        let done = Set(MigrationStatements.decode(rows).map(\.number))
        return available.count { !done.contains($0.number) }
    }

    private static func resolve(_ available: [Migration]?) throws(ServiceError) -> [Migration] {
        if let available { return available }
        return try Migration.embedded()
    }

    /// Applies the first migration that is due, or answers nil.
    private func applyNext(of available: [Migration]) async throws(ServiceError) -> Migration? {
        var current: Migration?
        do {
            return try await database.transaction(within: .seconds(86_400)) { transaction in
                for statement in MigrationStatements.preparation { _ = try await transaction.run(statement) }
                let rows = try await transaction.run(MigrationStatements.applied)
                let plan = try MigrationPlan(
                    available: available,
                    applied: MigrationStatements.decode(rows)
                )
                guard let next = plan.due.first else { return nil as Migration? }
                current = next
                try await transaction.script(next.text)
                // The script may have set anything for its transaction.
                _ = try await transaction.run(MigrationStatements.resetPath)
                _ = try await transaction.run(MigrationStatements.record(next))
                return next
            }
        } catch let error as ServiceError {
            throw current.map { failure($0, error) } ?? error
        } catch {
            throw ServiceError(.internalServerError, "a migration failed", cause: error)
        }
    }

    private func failure(_ migration: Migration, _ error: ServiceError) -> ServiceError {
        var details = ["migration": "\(migration.number)_\(migration.name)"]
        details["reason"] = error.postgresFailure?.description ?? error.message
        return ServiceError(
            .internalServerError,
            "migration \(migration.number) (\(migration.name)) failed",
            details: details,
            cause: error.cause ?? error
        )
    }
}
