import BSON
import Errors
import Postgres
import Rules
import SQL
import TestSupport

@testable import QueryCompiler

/// The bytes of a typed key.
typealias RowKey = [UInt8]

/// A collection in a database of its own, filled with documents.
struct CollectionFixture {
    let database: Database
    let layout: CollectionLayout
    /// By typed key; as bytes, since Swift calls texts equal that are different keys.
    let documents: [RowKey: BSONDocument]

    /// Makes the database and stores the documents.
    ///
    /// - Parameters:
    ///   - documents: Each with an `_id` of its own.
    ///   - promoted: Paths with their types.
    /// - Throws: What PostgreSQL said, rather than what callers would see of it.
    init(_ documents: [BSONDocument], promoted: [(path: String, type: String)] = []) async throws {
        do { try await self.init(making: documents, promoted) } catch let error as ServiceError {
            // The server's own words, which callers never see.
            throw error.postgresFailure.map { $0 as any Error } ?? error
        }
    }

    private init(making documents: [BSONDocument], _ promoted: [(path: String, type: String)]) async throws {
        database = Database(
            settings: PostgresSettings(
                connectionString: try await TestCluster.shared.makeDatabase(migrated: true),
                maxConnections: 2
            )
        )
        _ = try await database.run("SELECT tidegate.ensure_collection('tests', 'items')")
        for field in promoted {
            _ = try await database.run(
                "SELECT tidegate.promote_field('tests', 'items', \(bind: .text(field.path)), \(bind: .text(field.type)))"
            )
        }
        let row = try await database.run(
            "SELECT id, schema_name, table_name, promoted FROM tidegate.collections"
        )
        layout = try CollectionLayout(
            id: Int32(row.int(0, 0) ?? 0),
            schema: row.text(0, 1) ?? "",
            name: row.text(0, 2) ?? "",
            promoted: Array(row.slice(0, 3) ?? [])
        )
        var byKey: [RowKey: BSONDocument] = [:]
        let compiler = QueryCompiler(layout: layout, plan: .system)
        for document in documents {
            let key = try TypedKey.text(document["_id"] ?? .null)
            var bytes: [UInt8] = []
            try StoredForm.write(document, to: &bytes)
            let shape = try await Self.shape(of: document, layout, database)
            _ = try await database.run(compiler.insert(NewRow(key: key, document: bytes, shape: shape)))
            byKey[Array(key.utf8)] = document
        }
        self.documents = byKey
    }

    static func shape(of document: BSONDocument, _ layout: CollectionLayout, _ database: Database)
        async throws -> Int32
    {
        let rows = try await database.run(
            "SELECT tidegate.ensure_shape(\(bind: .int4(layout.id)), \(bind: .text(DocumentShape(of: document).text)))"
        )
        return Int32(rows.int(0, 0) ?? 0)
    }

    /// Runs a statement; a refusal is thrown in the server's own words, which callers never see.
    func run(_ statement: SQLFragment) async throws -> ResultSet {
        do { return try await database.run(statement) } catch {
            throw error.postgresFailure.map { $0 as any Error } ?? error
        }
    }

    /// The keys of the rows that satisfy a condition.
    func keys(where condition: SQLFragment?) async throws -> Set<RowKey> {
        let suffix: SQLFragment = condition.map { " WHERE \($0)" } ?? ""
        let rows = try await run("SELECT _id FROM \(layout.table)\(suffix)")
        return Set((0..<rows.rowCount).compactMap { rows.slice($0, 0).map(Array.init) })
    }
}
