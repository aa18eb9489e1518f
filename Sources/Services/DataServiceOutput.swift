import BSON
import Errors
import MQL
import Postgres
import QueryCompiler
import Rules
import SQL

// `$merge` and `$out`: what a pipeline gives goes into a collection. Only the system may; whoever else came this far
// is refused here, too.
extension DataCall {
    /// How many documents are written by one transaction of `$merge`.
    private static let mergedDocuments = 500
    /// How long the names of a database and a collection may be, with the dot between them.
    private static let namespaceBytes = 255

    /// Writes what a pipeline gave; the answer has no documents.
    func write(_ documents: [BSONDocument], _ stage: Stage) async throws(ServiceError) {
        guard let place = stage.target else { return }
        let database = place.database ?? namespace.database
        if case .out = stage, database.utf8.count + 1 + place.collection.utf8.count > Self.namespaceBytes {
            throw .mongo(.illegalOperation, "$out cannot write to a namespace of more than 255 bytes")
        }
        let target = try elsewhere(
            place.collection,
            database: place.database,
            Pipeline(stages: [stage])
        )
        guard target.plan.isSystem else { throw RestrictedOperators.refusal(of: stage.name) }
        if case .merge(let arguments) = stage {
            try await target.merge(documents, arguments)
        } else {
            try await target.replaceAll(documents.map { target.prepared($0).document })
        }
    }

    /// Puts documents into this collection, batch by batch; one that fails does not keep back the others.
    private func merge(_ documents: [BSONDocument], _ arguments: MergeArguments) async throws(ServiceError) {
        let takesNullish = try await takesNullish(arguments)
        var failure: ServiceError?
        for start in stride(from: 0, to: documents.count, by: Self.mergedDocuments) {
            var batch: [(document: BSONDocument, values: [BSONValue])] = []
            for document in documents[start..<min(start + Self.mergedDocuments, documents.count)] {
                let document = arguments.usesID ? prepared(document).document : document
                let values = try arguments.values(of: document, takesNullish: takesNullish)
                if let id = document["_id"] { try DocumentLimits.checkID(id) }
                batch.append((document, values))
            }
            if let refused = try await merge(batch, arguments) { failure = failure ?? refused }
        }
        if let failure { throw failure }
    }

    /// Whether documents without a value are matched, too: a sparse index leaves them out.
    ///
    /// - Throws: ``ServiceError`` with server code 51183 where no unique index is on the `on` fields.
    private func takesNullish(_ arguments: MergeArguments) async throws(ServiceError) -> Bool {
        if arguments.matchesByID { return true }
        var fits: [DeclaredIndex] = []
        if let layout = try await layout() {
            fits = try await declaredIndexes(layout).filter { index in
                index.isUnique && !index.isPartial
                    && Set(index.keys.fields.map(\.key)) == arguments.fieldNames
            }
        }
        if fits.isEmpty {
            throw .mongo(51183, "Cannot find index to verify that join fields will be unique")
        }
        return fits.contains { !$0.isSparse }
    }

    /// - Returns: Why a document was left out.
    private func merge(
        _ batch: [(document: BSONDocument, values: [BSONValue])],
        _ arguments: MergeArguments
    ) async throws(ServiceError) -> ServiceError? {
        let match = try match(arguments.narrowing(for: batch.map(\.values)))
        for _ in 0..<WriteCandidates.attempts {
            let layout = arguments.inserts ? try await ensureLayout() : try await self.layout()
            var found: [WriteCandidate] = []
            if let layout { found = try await existing(match, layout) }
            var merged = try MergeBatch(arguments, existing: found.map(\.document), evaluation())
            for (document, values) in batch {
                merged.add(
                    document,
                    values: values,
                    newID: { .objectID(newID()) },
                    duplicate: { duplicate($0) }
                )
            }
            guard let layout else { return merged.failure }
            let changed = try await rows(merged.changed, layout)
            let inserted = try await rows(merged.inserted, layout)
            if changed.isEmpty, inserted.isEmpty { return merged.failure }
            do throws(ServiceError) {
                try await swap(changed, inserted, found, match, layout)
                return merged.failure
            } catch {
                // Where documents match by other fields, their ids may be taken.
                let isTaken = error.serverCode == .duplicateKey && !arguments.matchesByID
                if isTaken || error.postgresFailure?.sqlState == .uniqueViolation {
                    let refused = try await writeEach(changed, inserted, layout)
                    return merged.failure ?? refused
                }
                guard error.serverCode == .writeConflict || error.serverCode == .duplicateKey else {
                    throw error
                }
            }
        }
        throw WriteCandidates.conflict
    }

    /// The documents that can match, as they are now.
    private func existing(
        _ match: WriteMatch,
        _ layout: CollectionLayout
    ) async throws(ServiceError) -> [WriteCandidate] {
        var found: [WriteCandidate] = []
        var last: String?
        while true {
            let (statement, decidesMatch) = compiler(layout).candidates(
                match.narrowing,
                after: last,
                limit: WriteCandidates.pageRows,
                locks: false
            )
            let rows = try await run(statement, isPoint: false)
            found += try await read(rows, match, layout, decidesMatch: decidesMatch)
            guard rows.rowCount == WriteCandidates.pageRows else { return found }
            last = rows.text(rows.rowCount - 1, 0)
        }
    }

    private func rows(
        _ documents: [BSONDocument],
        _ layout: CollectionLayout
    ) async throws(ServiceError) -> [NewRow] {
        var rows: [NewRow] = []
        for document in documents {
            let key = try TypedKey.text(document["_id"] ?? .null)
            rows.append(try await row(document, key: key, layout))
        }
        return rows
    }

    /// Writes a batch if the documents are still as they were read.
    ///
    /// - Throws: ``ServiceError`` with server code 112 when another writer came first, 11000 when a key is there already.
    private func swap(
        _ changed: [NewRow],
        _ inserted: [NewRow],
        _ found: [WriteCandidate],
        _ match: WriteMatch,
        _ layout: CollectionLayout
    ) async throws(ServiceError) {
        let compiler = compiler(layout)
        let before = Dictionary(found.map { ($0.key, $0.stored) }) { first, _ in first }
        try await transaction { (transaction) async throws(ServiceError) in
            var now: [WriteCandidate] = []
            var last: String?
            repeat {
                let page = try await candidates(match, layout, after: last, in: transaction)
                now += page.matching
                last = page.next
            } while last != nil
            guard now.count == found.count, now.allSatisfy({ before[$0.key] == $0.stored }) else {
                throw WriteCandidates.conflict
            }
            if !changed.isEmpty { _ = try await transaction.run(compiler.replace(changed)) }
            guard !inserted.isEmpty else { return }
            let done = try await transaction.run(compiler.insert(inserted))
            let count = done.int(0, 0) ?? 0
            guard count == inserted.count else { throw duplicate(.string(inserted[count].key)) }
        }
    }

    /// One statement per document, so that only those that a unique index refuses are left out.
    private func writeEach(
        _ changed: [NewRow],
        _ inserted: [NewRow],
        _ layout: CollectionLayout
    ) async throws(ServiceError) -> ServiceError? {
        var failure: ServiceError?
        for (row, statement) in changed.map({ ($0, compiler(layout).replace([$0])) })
            + inserted.map({ ($0, compiler(layout).insert($0)) })
        {
            do throws(ServiceError) {
                let done = try await run(statement, isPoint: true)
                if done.affectedRows == 0 { failure = failure ?? duplicate(.string(row.key)) }
            } catch {
                guard error.postgresFailure?.sqlState == .uniqueViolation else { throw error }
                failure = failure ?? named(error)
            }
        }
        return failure
    }

    /// `$out`: these documents and no others, in one transaction; whoever reads sees the old ones until then.
    private func replaceAll(_ documents: [BSONDocument]) async throws(ServiceError) {
        var seen: Set<BSONKey> = []
        for document in documents {
            let id = document["_id"] ?? .null
            try DocumentLimits.check(document)
            guard seen.insert(BSONKey(id)).inserted else { throw duplicate(id) }
        }
        let layout = try await ensureLayout()
        let rows = try await rows(documents, layout)
        let compiler = compiler(layout)
        do throws(ServiceError) {
            try await transaction { (transaction) async throws(ServiceError) in
                for statement in compiler.emptying() { _ = try await transaction.run(statement) }
                for start in stride(from: 0, to: rows.count, by: Self.mergedDocuments) {
                    let batch = Array(rows[start..<min(start + Self.mergedDocuments, rows.count)])
                    let done = try await transaction.run(compiler.insert(batch))
                    guard done.int(0, 0) == batch.count else { throw WriteCandidates.conflict }
                }
            }
        } catch {
            throw named(error)
        }
    }
}

extension Stage {
    /// The collection that it writes to.
    fileprivate var target: OutputTarget? {
        switch self {
        case .merge(let arguments): arguments.target
        case .out(let target): target
        default: nil
        }
    }
}
