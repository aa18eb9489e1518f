import BSON
import Errors
import Postgres
import QueryCompiler
import SQL
import Synchronization

/// The orders of keys of all collections, as far as this process has met them.
///
/// Shapes are never changed once they are there, so what is known stays true. New ones are recorded in
/// statements of their own, never inside a transaction that could be rolled back.
final class ShapeRegistry: Sendable {
    private struct Entry {
        var shapes: [Int32: DocumentShape] = [:]
        /// The last ones that documents were written with, newest first.
        var recent: [Int32] = []
    }

    private static let recentShapes = 16
    private let database: Database
    private let entries = Mutex<[Int32: Entry]>([:])

    init(database: Database) {
        self.database = database
    }

    /// The shapes of rows; one that is not in the database any more is left out.
    func shapes(
        of rows: ResultSet,
        collection: Int32,
        deadline: ContinuousClock.Instant
    ) async throws(ServiceError) -> [Int32: DocumentShape] {
        try await shapes(StoredRow.shapes(rows), collection: collection, deadline: deadline)
    }

    /// Shapes by their numbers; as ``shapes(of:collection:deadline:)``.
    func shapes(
        _ wanted: Set<Int32>,
        collection: Int32,
        deadline: ContinuousClock.Instant
    ) async throws(ServiceError) -> [Int32: DocumentShape] {
        if wanted.isEmpty { return [:] }
        var found = known(wanted, collection)
        let missing = wanted.subtracting(found.keys)
        guard !missing.isEmpty else { return found }
        let loaded = try await database.run(
            """
            SELECT id, order_text FROM tidegate.shapes \
            WHERE collection_id = \(bind: .int4(collection)) AND id = ANY (\(bind: .int4Array(missing.sorted())))
            """,
            plan: .generic,
            deadline: deadline
        )
        for row in 0..<loaded.rowCount {
            guard let id = loaded.int(row, 0).flatMap({ Int32(exactly: $0) }), let text = loaded.text(row, 1)
            else {
                continue
            }
            let shape = try DocumentShape(text: text)
            found[id] = shape
            remember(shape, id, collection)
        }
        return found
    }

    private func known(_ wanted: Set<Int32>, _ collection: Int32) -> [Int32: DocumentShape] {
        entries.withLock { entries in
            guard let entry = entries[collection] else { return [:] }
            var found: [Int32: DocumentShape] = [:]
            for id in wanted { found[id] = entry.shapes[id] }
            return found
        }
    }

    private func remember(_ shape: DocumentShape, _ id: Int32, _ collection: Int32) {
        entries.withLock { $0[collection, default: Entry()].shapes[id] = shape }
    }

    /// A shape that documents like this were written with before; nil when a new one has to be recorded.
    func knownID(for document: BSONDocument, collection: Int32) -> Int32? {
        let recent = entries.withLock { entries in
            entries[collection].map { entry in
                entry.recent.compactMap { id in entry.shapes[id].map { (id, $0) } }
            } ?? []
        }
        guard let index = recent.firstIndex(where: { $0.1.covers(document) }) else { return nil }
        let id = recent[index].0
        if index > 0 { promote(id, collection) }
        return id
    }

    private func promote(_ id: Int32, _ collection: Int32) {
        entries.withLock { entries in
            guard var entry = entries.removeValue(forKey: collection) else { return }
            entry.recent.removeAll { $0 == id }
            entry.recent.insert(id, at: 0)
            if entry.recent.count > Self.recentShapes { entry.recent.removeLast() }
            entries[collection] = entry
        }
    }

    /// The shape of a document, recorded when it is new; 0 past the bounds of a collection.
    func id(
        for document: BSONDocument,
        collection: Int32,
        deadline: ContinuousClock.Instant
    ) async throws(ServiceError) -> Int32 {
        if let id = knownID(for: document, collection: collection) { return id }
        let shape = DocumentShape(of: document)
        let rows = try await database.run(
            "SELECT tidegate.ensure_shape(\(bind: .int4(collection)), \(bind: .text(shape.text)))",
            plan: .generic,
            deadline: deadline
        )
        return keep(shape, rows, collection)
    }

    /// Records a step from one shape to the next, so that SQL can take it from now on.
    func learn(
        from shape: Int32,
        step: String,
        to successor: DocumentShape,
        collection: Int32,
        deadline: ContinuousClock.Instant
    ) async throws(ServiceError) -> Int32 {
        let rows = try await database.run(
            """
            SELECT tidegate.learn_step(\(bind: .int4(collection)), \(bind: .int4(shape)), \(bind: .text(step)), \
            \(bind: .text(successor.text)))
            """,
            plan: .generic,
            deadline: deadline
        )
        return keep(successor, rows, collection)
    }

    private func keep(_ shape: DocumentShape, _ rows: ResultSet, _ collection: Int32) -> Int32 {
        let id = rows.rowCount > 0 ? rows.int(0, 0).flatMap { Int32(exactly: $0) } ?? 0 : 0
        if id > 0 {
            remember(shape, id, collection)
            promote(id, collection)
        }
        return id
    }

    /// A shape that is known already.
    func shape(_ id: Int32, collection: Int32) -> DocumentShape? {
        entries.withLock { $0[collection]?.shapes[id] }
    }
}
