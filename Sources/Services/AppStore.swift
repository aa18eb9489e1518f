public import AppDefinition
public import Errors
public import Postgres
import SQL

/// Apps in the database: the tables of `0001_apps.sql` and ``ConfigurationTree``, each made from the other.
///
/// Identity is by name. An import replaces what the tree speaks of in one transaction; equal rows are left
/// alone, so that importing a tree twice changes nothing and raises no version.
/// Source: `reference/app-config.md` §16.
public struct AppStore: Sendable {
    /// An app as it stands in the tables.
    public struct StoredApp: Sendable {
        /// 24 hexadecimal digits.
        public let id: String
        /// The id in URLs.
        public let clientAppID: String
        /// The version that was read.
        public let version: Int64
        /// Its configuration, with secrets; without kept files unless an export asks.
        public let tree: ConfigurationTree
        /// Rows that could not be read.
        public let findings: Findings
    }

    /// What an import did.
    public struct ImportResult: Sendable, Hashable {
        /// 24 hexadecimal digits.
        public let id: String
        /// The id in URLs.
        public let clientAppID: String
        /// There was no app of that name.
        public let isNew: Bool
        /// Something is different now.
        public let changed: Bool
        /// The version that is in the database now.
        public let version: Int64
        /// Referenced secrets that the database lacks.
        public let missingSecrets: [String]
    }

    let database: Database

    /// A store on a database that is migrated.
    public init(database: Database) {
        self.database = database
    }

    /// Reads one app by internal id.
    public func load(id: String) async throws(ServiceError) -> StoredApp? {
        let rows = try await database.run(AppStoreStatements.rows(app: id))
        return AppRows.apps(rows).first
    }

    /// Reads all apps.
    public func loadAll() async throws(ServiceError) -> [StoredApp] {
        let ids = try await database.run(AppStoreStatements.ids)
        var apps: [StoredApp] = []
        for row in 0..<ids.rowCount {
            guard let id = ids.text(row, 0), let app = try await load(id: id) else { continue }
            apps.append(app)
        }
        return apps
    }

    /// The internal id of an app given by internal id, client app id or name.
    public func find(_ app: String) async throws(ServiceError) -> String? {
        let rows = try await database.run(AppStoreStatements.find(app))
        return rows.rowCount > 0 ? rows.text(0, 0) : nil
    }

    /// An app as the files of an export.
    ///
    /// - Parameters:
    ///   - app: Internal id, client app id or name.
    ///   - withAppID: Name the client app id even if the imported tree did not.
    /// - Returns: The files, secrets never among them.
    /// - Throws: ``ServiceError`` with code `appNotFound`; `invalidAppDefinition` when a row cannot be read.
    public func export(_ app: String, withAppID: Bool = false) async throws(ServiceError) -> FileTree {
        guard let id = try await find(app), let stored = try await load(id: id) else {
            throw ServiceError(.appNotFound, "there is no app '\(app)'")
        }
        if let fault = stored.findings.errors.first {
            throw ServiceError(.invalidAppDefinition, "the app cannot be exported: \(fault)")
        }
        var tree = stored.tree
        if withAppID { tree.clientAppID = stored.clientAppID }
        let files = try await database.run(AppStoreStatements.files(app: id), within: .seconds(120))
        for row in 0..<files.rowCount {
            guard let path = files.text(row, 0), let hex = files.slice(row, 1) else { continue }
            tree.otherFiles[path] = AppRows.bytes(hex: hex)
        }
        tree.mailTemplates =
            MailTemplates(
                rows: try await database.run(AppStoreStatements.mailTemplates(app: id))
            ).node
        return ConfigurationTreeWriter.write(tree)
    }

    /// Records why a version is not in force.
    public func recordErrors(
        app: String,
        version: Int64,
        findings: [Finding],
        inForce: Int64?
    ) async throws(ServiceError) {
        let errors = AppRows.json(findings)
        _ = try await database.run(
            AppStoreStatements.recordErrors(app: app, version: version, errors: errors, inForce: inForce)
        )
    }
}
