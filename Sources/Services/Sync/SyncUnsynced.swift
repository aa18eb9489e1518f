import BSON
import Errors
import MQL
import Postgres
import QueryCompiler
import SQL
import Sync

/// Keeps the list of documents that no device can have.
///
/// A collection is looked through once for each form of its class; what changes later is seen as it becomes history.
/// Both happen while the history is held, so that the newest look counts. What became history with another form than
/// the collection was looked through with was held against that other form: then the look counts no more
/// (``SyncHistoryReader``). Source: `sync-semantics.md` §12.
struct SyncUnsynced {
    let service: SyncService
    let app: SyncedApp

    /// What is to be noted of one collection.
    struct Findings {
        var keys: [String] = []
        var ids: [String] = []
        var reasons: [String] = []
        /// Keys of documents that are gone, or fit.
        var gone: [String] = []

        var isEmpty: Bool { keys.isEmpty && gone.isEmpty }

        /// - Parameters:
        ///   - document: As it is now; nil when it is gone.
        ///   - id: Its `_id`.
        ///   - wasUnfit: Whether it may be in the list.
        ///   - mapping: Its class.
        /// - Throws: ``ServiceError`` for an `_id` that no document can have.
        mutating func take(
            _ document: BSONDocument?,
            _ id: BSONValue,
            wasUnfit: Bool,
            _ mapping: ObjectMapping
        ) throws(ServiceError) {
            if let reason = document.flatMap({ mapping.unrepresentable($0) }) {
                keys.append(try TypedKey.text(id))
                ids.append(ExtendedJSON.relaxed(id))
                reasons.append(reason)
            } else if wasUnfit {
                gone.append(try TypedKey.text(id))
            }
        }
    }

    /// How many documents are looked at while the history is held.
    private static let pageDocuments = 500

    /// Writes findings down, and what is new of them into the log.
    func note(_ findings: Findings, _ collection: Int32, in transaction: Transaction) async throws {
        if findings.isEmpty { return }
        let news = try await transaction.run(
            SyncStatements.noteUnsynced(app.snapshot.id, collection, findings),
            plan: .generic
        )
        guard let place = app.collections[collection], news.rowCount > 0 else { return }
        service.log.unsynced(
            app: app.snapshot.clientAppID,
            place,
            (0..<news.rowCount).map { (news.text($0, 0) ?? "", news.text($0, 1) ?? "") }
        )
    }

    /// Looks through the collections that have not been looked through with their class as it is.
    func scan() async throws {
        for (collection, place) in app.collections {
            guard let type = app.schema[place], let form = app.forms[type.name.text],
                let mapping = app.schema.mapping(of: type.name)
            else { continue }
            while try await page(collection, place, mapping, form.digest) {}
        }
    }

    /// The next documents of a collection; false when there are no more.
    private func page(
        _ collection: Int32,
        _ place: Namespace,
        _ mapping: ObjectMapping,
        _ form: String
    ) async throws -> Bool {
        let id = app.snapshot.id
        guard
            let layout = try await service.data.catalog.layout(
                database: place.database,
                collection: place.collection,
                deadline: .now + SyncService.timeLimit
            )
        else { return false }
        return try await service.inTurn(id) {
            try await service.database.transaction(within: SyncService.timeLimit) { transaction in
                let head = try await transaction.run(SyncStatements.lock(id), plan: .generic)
                guard head.rowCount == 1 else { return false }
                let known = try await transaction.run(SyncStatements.scan(id, collection), plan: .generic)
                let isKnown = known.rowCount == 1 && known.text(0, 0) == form
                if isKnown, known.bool(0, 2) == true { return false }
                let position = isKnown ? known.text(0, 1) ?? "" : ""
                let rows = try await transaction.run(
                    SyncStatements.page(layout.table, after: position, rows: Self.pageDocuments),
                    plan: .generic
                )
                let shapes = try await service.data.shapes.shapes(
                    of: rows,
                    collection: layout.id,
                    deadline: .now + SyncService.timeLimit
                )
                var findings = Findings()
                for row in 0..<rows.rowCount {
                    let (text, shape) = StoredRow.parts(rows, row)
                    let document = try StoredForm.read(text, shape: shapes[shape])
                    try findings.take(document, document["_id"] ?? .null, wasUnfit: true, mapping)
                }
                try await note(findings, collection, in: transaction)
                let isDone = rows.rowCount < Self.pageDocuments
                let reached = rows.rowCount > 0 ? rows.text(rows.rowCount - 1, 0) ?? position : position
                _ = try await transaction.run(
                    SyncStatements.keepScan(id, collection, form, position: reached, isDone: isDone),
                    plan: .generic
                )
                return !isDone
            }
        }
    }
}

extension SyncService {
    /// Looks for documents that no device can have, whenever a class has another form.
    func watchForms() async {
        var known: [String: SyncedApp] = [:]
        while !Task.isCancelled {
            for app in synced where known[app.snapshot.id] !== app {
                do {
                    try await SyncUnsynced(service: self, app: app).scan()
                    known[app.snapshot.id] = app
                } catch {
                    // That the database is away, the pool says.
                    if (error as? ServiceError)?.code != .maintenanceInProgress { report(error) }
                }
            }
            try? await Task.sleep(for: .seconds(2))
        }
    }
}

// SQL about documents that no device can have.
extension SyncStatements {
    /// Rows: `_id` as Extended JSON and the reason, of what is new.
    static func noteUnsynced(_ app: String, _ collection: Int32, _ findings: SyncUnsynced.Findings)
        -> SQLFragment
    {
        """
        SELECT id, reason FROM tidegate.note_unsynced(\(bind: .text(app)), \(bind: .int4(collection)), \
        \(bind: .textArray(findings.keys)), \(bind: .textArray(findings.ids)), \
        \(bind: .textArray(findings.reasons)), \(bind: .textArray(findings.gone)))
        """
    }

    /// How far a collection was looked through: the form of its class, the last key, whether it is done.
    static func scan(_ app: String, _ collection: Int32) -> SQLFragment {
        """
        SELECT schema, position, is_done FROM tidegate.sync_scans \
        WHERE app = \(bind: .text(app)) AND collection_id = \(bind: .int4(collection))
        """
    }

    /// Takes note of how far a collection was looked through.
    static func keepScan(_ app: String, _ collection: Int32, _ form: String, position: String, isDone: Bool)
        -> SQLFragment
    {
        """
        INSERT INTO tidegate.sync_scans (app, collection_id, schema, position, is_done) VALUES (\(bind: .text(app)), \
        \(bind: .int4(collection)), \(bind: .text(form)), \(bind: .text(position)), \(bind: .bool(isDone))) \
        ON CONFLICT (app, collection_id) DO UPDATE \
        SET schema = excluded.schema, position = excluded.position, is_done = excluded.is_done
        """
    }

    /// Documents by rising key.
    static func page(_ table: SQLIdentifier, after key: String, rows: Int) -> SQLFragment {
        """
        SELECT _id, doc, shape FROM \(table) WHERE _id > \(bind: .text(key)) ORDER BY _id \
        LIMIT \(bind: .int(Int64(rows)))
        """
    }
}
