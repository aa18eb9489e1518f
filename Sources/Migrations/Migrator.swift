public import Errors
public import Postgres

/// Applies the migrations that are due.
public struct Migrator: Sendable {
    public init(database: Database) { fatalError("in the next commit") }
    /// Applies what is due; returns what was applied.
    public func migrate(_ available: [Migration] = Migration.embedded) async throws(ServiceError) -> [Migration] { fatalError("in the next commit") }
    public func status(_ available: [Migration] = Migration.embedded) async throws(ServiceError) -> MigrationPlan { fatalError("in the next commit") }
}
public struct MigrationPlan: Sendable {
    public let due: [Migration]
}
/// One file of `migrations/`.
public struct Migration: Sendable, Hashable {
    public let number: Int
    public let name: String
    public let checksum: String
    public let text: String
    public static let embedded: [Migration] = []
    /// The files `NNNN_name.sql` of a directory.
    public static func read(directory: String) throws(ServiceError) -> [Migration] { fatalError("in the next commit") }
}
