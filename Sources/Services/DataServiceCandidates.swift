import BSON
import Errors
import MQL
import Postgres
import QueryCompiler
import Rules
import SQL

/// What writes in memory share.
enum WriteCandidates {
    /// How often a document is read anew when another writer came first.
    static let attempts = 20
    static let pageRows = 500

    static let conflict = ServiceError.mongo(
        .writeConflict,
        "WriteConflict error: this operation conflicted with another operation. "
            + "Please retry your operation or multi-document transaction."
    )
}

/// A document that a write matched.
struct WriteCandidate {
    let key: String
    /// The text of `doc` as it was read.
    let stored: [UInt8]
    let shape: Int32
    let document: BSONDocument
}

extension DataCall {
    /// The first document that a write matches.
    func candidate(
        _ match: WriteMatch,
        _ layout: CollectionLayout
    ) async throws(ServiceError) -> WriteCandidate? {
        if !match.onVisible, let statement = compiler(layout).candidate(match.filter) {
            return try await read(
                try await run(statement, isPoint: false),
                match,
                layout,
                decidesMatch: true
            ).first
        }
        var last: String?
        while true {
            let (statement, decidesMatch) = compiler(layout).candidates(
                match.narrowing,
                after: last,
                limit: WriteCandidates.pageRows,
                locks: false
            )
            let rows = try await run(statement, isPoint: false)
            if let found = try await read(rows, match, layout, decidesMatch: decidesMatch).first {
                return found
            }
            guard rows.rowCount == WriteCandidates.pageRows else { return nil }
            last = rows.text(rows.rowCount - 1, 0)
        }
    }

    /// One page of what a write matches, locked until the transaction ends.
    ///
    /// - Returns: The documents, and the key beyond which the next page begins; nil after the last page.
    func candidates(
        _ match: WriteMatch,
        _ layout: CollectionLayout,
        after: String?,
        in transaction: Transaction
    ) async throws(ServiceError) -> (matching: [WriteCandidate], next: String?) {
        let (statement, decidesMatch) = compiler(layout).candidates(
            match.narrowing,
            after: after,
            limit: WriteCandidates.pageRows,
            locks: true
        )
        let rows = try await transaction.run(statement)
        let matching = try await read(rows, match, layout, decidesMatch: decidesMatch)
        let isLast = rows.rowCount < WriteCandidates.pageRows
        return (matching, isLast ? nil : rows.text(rows.rowCount - 1, 0))
    }

    /// The documents of rows that a write matches.
    func read(
        _ rows: ResultSet,
        _ match: WriteMatch,
        _ layout: CollectionLayout,
        decidesMatch: Bool
    ) async throws(ServiceError) -> [WriteCandidate] {
        let shapes = try await service.shapes.shapes(of: rows, collection: layout.id, deadline: deadline)
        return try await deciding { () throws(ServiceError) in
            try read(rows, shapes, match, decidesMatch: decidesMatch)
        }
    }

    private func read(
        _ rows: ResultSet,
        _ shapes: [Int32: DocumentShape],
        _ match: WriteMatch,
        decidesMatch: Bool
    ) throws(ServiceError) -> [WriteCandidate] {
        let context = evaluation()
        var found: [WriteCandidate] = []
        for row in 0..<rows.rowCount {
            let (text, shape) = StoredRow.parts(rows, row)
            let document = try StoredForm.read(text, shape: shapes[shape])
            // Rules first: an error of the caller's filter must not tell of documents that rules keep from it.
            if match.onVisible || !decidesMatch {
                guard try passesRules(document, context),
                    let seen = try seen(document, context),
                    try match.filter.matches(match.onVisible ? seen : document, context)
                else { continue }
            }
            found.append(
                WriteCandidate(
                    key: rows.text(row, 0) ?? "",
                    stored: Array(text),
                    shape: shape,
                    document: document
                )
            )
        }
        return found
    }
}
