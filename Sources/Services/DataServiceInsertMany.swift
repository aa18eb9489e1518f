import BSON
public import Errors
public import MQL
import Postgres
import QueryCompiler
import Rules
import SQL

/// A document that is ready to be inserted.
struct Insertion {
    let document: BSONDocument
    let id: BSONValue
    let key: String
}

extension DataCall {
    /// `insertMany`: a denial keeps nothing; a duplicate key, in order, the documents before it, and otherwise all
    /// the others (D5).
    func insertMany(_ arguments: InsertManyArguments) async throws(ServiceError) -> [BSONValue] {
        var insertions: [Insertion] = []
        insertions.reserveCapacity(arguments.documents.count)
        for document in arguments.documents { insertions.append(try await insertion(of: document)) }
        let layout = try await ensureLayout()
        let errors = try await insert(insertions, layout, isOrdered: arguments.isOrdered)
        if let first = errors.first {
            throw ServiceError(
                first.error.code,
                first.error.sentence,
                serverCode: first.error.serverCode,
                cause: WriteErrors(errors: errors, cause: first.error.cause)
            )
        }
        return insertions.map(\.id)
    }

    /// A document that its caller may insert.
    func insertion(of document: BSONDocument) async throws(ServiceError) -> Insertion {
        let (document, id) = prepared(EmptyTimestamps.filled(document, now: now))
        if let denial = try await denial(of: .insert, before: nil, after: document) { throw error(denial) }
        return Insertion(document: document, id: id, key: try TypedKey.text(id))
    }

    /// Inserts what may be inserted.
    ///
    /// - Returns: Those that were refused because their key is there, by their place.
    func insert(
        _ insertions: [Insertion],
        _ layout: CollectionLayout,
        isOrdered: Bool
    ) async throws(ServiceError) -> [WriteError] {
        // The first key that comes twice ends an ordered list: it is the duplicate, if none came before it.
        var seen: Set<[UInt8]> = []
        var rows: [NewRow] = []
        for insertion in insertions {
            if isOrdered {
                guard seen.insert(Array(insertion.key.utf8)).inserted else { break }
            }
            rows.append(try await row(insertion.document, key: insertion.key, layout))
        }
        do throws(ServiceError) {
            if !isOrdered { return try await insertUnordered(rows, insertions, layout) }
            let inserted = try await insertOrdered(rows, layout)
            guard inserted < insertions.count else { return [] }
            return [WriteError(index: inserted, error: duplicate(insertions[inserted].id))]
        } catch {
            guard error.postgresFailure?.sqlState == .uniqueViolation else { throw error }
            return try await insertEach(rows, insertions, layout, isOrdered: isOrdered)
        }
    }

    /// - Returns: How many went in before the first whose key is there.
    private func insertOrdered(
        _ rows: [NewRow],
        _ layout: CollectionLayout
    ) async throws(ServiceError) -> Int {
        var attempt = 1
        while true {
            do throws(ServiceError) {
                return try await undoable { call async throws(ServiceError) in
                    try await call.run(call.compiler(layout).insert(rows), isPoint: false).int(0, 0) ?? 0
                }
            } catch {
                // Another writer took a key at this moment; looking again shows which.
                guard isPrimaryKey(error), attempt < 10 else { throw error }
                attempt += 1
            }
        }
    }

    private func insertUnordered(
        _ rows: [NewRow],
        _ insertions: [Insertion],
        _ layout: CollectionLayout
    ) async throws(ServiceError) -> [WriteError] {
        let done = try await undoable { call async throws(ServiceError) in
            try await call.run(call.compiler(layout).insertUnordered(rows), isPoint: false)
        }
        if done.rowCount == rows.count { return [] }
        var inserted: Set<String> = []
        for row in 0..<done.rowCount { inserted.insert(done.text(row, 0) ?? "") }
        var errors: [WriteError] = []
        // Of a key that comes twice, the first was inserted.
        for (index, row) in rows.enumerated() where inserted.remove(row.key) == nil {
            errors.append(WriteError(index: index, error: duplicate(insertions[index].id)))
        }
        return errors
    }

    /// One statement per document, in one transaction: for the documents that a unique index refuses.
    private func insertEach(
        _ rows: [NewRow],
        _ insertions: [Insertion],
        _ layout: CollectionLayout,
        isOrdered: Bool
    ) async throws(ServiceError) -> [WriteError] {
        if enclosing == nil {
            return try await self.enclosed { call async throws(ServiceError) in
                try await call.insertEach(rows, insertions, layout, isOrdered: isOrdered)
            }
        }
        var errors: [WriteError] = []
        for (index, row) in rows.enumerated() {
            do throws(ServiceError) {
                let done = try await undoable { call async throws(ServiceError) in
                    try await call.run(call.compiler(layout).insert(row), isPoint: true)
                }
                if done.affectedRows > 0 { continue }
                errors.append(WriteError(index: index, error: duplicate(insertions[index].id)))
            } catch {
                guard error.postgresFailure?.sqlState == .uniqueViolation else { throw error }
                errors.append(WriteError(index: index, error: named(error)))
            }
            if isOrdered { return errors }
        }
        if isOrdered, rows.count < insertions.count {
            errors.append(WriteError(index: rows.count, error: duplicate(insertions[rows.count].id)))
        }
        return errors
    }

    private func isPrimaryKey(_ error: ServiceError) -> Bool {
        guard let failure = error.postgresFailure, failure.sqlState == .uniqueViolation else { return false }
        return failure.constraint?.hasSuffix("_pkey") == true
    }
}

/// The writes of a request that failed: the cause of the error that quotes the first of them.
public struct WriteErrors: LoggableCause, Sendable {
    /// By their places in the request.
    public let errors: [WriteError]
    let cause: (any Error)?

    /// How many they are.
    public var logText: String { "\(errors.count) of the writes failed" }
}
