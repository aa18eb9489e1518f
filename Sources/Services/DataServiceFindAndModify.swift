import BSON
import Errors
import MQL
import Postgres
import QueryCompiler
import Rules
import SQL

extension DataCall {
    /// `findOneAndUpdate`, `findOneAndReplace`, `findOneAndDelete`: one document, locked, judged and changed in one
    /// transaction; the answer is what of it the caller may see.
    func findAndModify(_ arguments: FindAndModifyArguments) async throws(ServiceError) -> ResultDocuments {
        let match = try match(arguments.filter, sort: arguments.sort)
        for attempt in 1...WriteCandidates.attempts {
            if let layout = try await layout() {
                do throws(ServiceError) {
                    let found = try await enclosed { call async throws(ServiceError) in
                        try await call.modifyFirst(arguments, match, layout)
                    }
                    switch found {
                    case .none: break
                    case .changed(let document): return try await answer(document, arguments)
                    // Another writer came first.
                    case .lost: continue
                    }
                } catch {
                    throw named(error)
                }
            }
            guard arguments.upsert, case .update(let update) = arguments.change else { return .none }
            do throws(ServiceError) {
                let inserted = try await upserted(
                    UpdateArguments(filter: arguments.filter, update: update, upsert: true)
                )
                var result = arguments.returnsNew ? try await answer(inserted, arguments) : .none
                result.upsertedID = inserted["_id"]
                return result
            } catch {
                // Another upsert inserted the document at this moment: now there is one to update.
                guard error.serverCode == .duplicateKey, attempt < 3 else { throw error }
            }
        }
        throw WriteCandidates.conflict
    }

    /// What became of an attempt.
    private enum Outcome: Sendable {
        case none
        /// The document before or after, whichever is asked for.
        case changed(BSONDocument)
        case lost
    }

    private func modifyFirst(
        _ arguments: FindAndModifyArguments,
        _ match: WriteMatch,
        _ layout: CollectionLayout
    ) async throws(ServiceError) -> Outcome {
        guard let found = try await first(match, arguments.sort, layout) else { return .none }
        switch arguments.change {
        case .delete:
            if let denial = try await denial(of: .delete, before: found.document, after: nil) {
                throw error(denial)
            }
            let done = try await run(
                compiler(layout).delete(key: found.key, document: found.stored),
                isPoint: true
            )
            return done.affectedRows > 0 ? .changed(found.document) : .lost
        case .update(let update):
            let after = try await changed(found, UpdateArguments(filter: arguments.filter, update: update))
            let shown = arguments.returnsNew ? after : found.document
            if after == found.document { return .changed(shown) }
            let shape = try await ShapeSuccession(call: self, layout: layout).shape(
                of: after,
                from: found,
                by: update
            )
            let row = NewRow(key: found.key, document: try Self.stored(after), shape: shape)
            let swap = compiler(layout).swap(
                key: found.key,
                document: found.stored,
                shape: found.shape,
                for: row,
                isReplacement: update.isReplacement
            )
            return try await run(swap, isPoint: true).affectedRows > 0 ? .changed(shown) : .lost
        }
    }

    /// The first document that matches, in an order.
    func first(
        _ match: WriteMatch,
        _ sort: Sort?,
        _ layout: CollectionLayout
    ) async throws(ServiceError) -> WriteCandidate? {
        var way = SortingWay.byIndex
        while !match.onVisible,
            let (statement, sorting) = compiler(layout).lockedCandidate(
                match.filter,
                sort: sort,
                sorting: way
            )
        {
            do throws(ServiceError) {
                let rows = try await transaction { (transaction) async throws(ServiceError) in
                    try await transaction.run(statement)
                }
                note(.exact)
                return try await read(rows, match, layout, decidesMatch: true).first
            } catch {
                guard error.postgresFailure?.sqlState == .cannotSort, let next = sorting.next else {
                    throw error
                }
                way = next
            }
        }
        note(match.onVisible ? .superset : compiler(layout).writeGrade(match.narrowing))
        guard let sort else { return try await candidate(match, layout) }
        return try await LongComputation.run { () async throws(ServiceError) in
            try await firstInMemory(match, sort, layout)
        }
    }

    /// Looks at all that match, page by page.
    private func firstInMemory(
        _ match: WriteMatch,
        _ sort: Sort,
        _ layout: CollectionLayout
    ) async throws(ServiceError) -> WriteCandidate? {
        let context = evaluation()
        var best: (candidate: WriteCandidate, sorted: BSONDocument)?
        var last: String?
        while true {
            let (statement, decidesMatch) = compiler(layout).candidates(
                match.narrowing,
                after: last,
                limit: WriteCandidates.pageRows,
                locks: false
            )
            let rows = try await run(statement, isPoint: false)
            for found in try await read(rows, match, layout, decidesMatch: decidesMatch) {
                let sorted =
                    match.onVisible ? try seen(found.document, context) ?? found.document : found.document
                if let current = best, sort.compare(sorted, current.sorted) >= 0 { continue }
                best = (found, sorted)
            }
            guard rows.rowCount == WriteCandidates.pageRows else { return best?.candidate }
            last = rows.text(rows.rowCount - 1, 0)
        }
    }

    /// What of a document the caller may see, as projected.
    private func answer(
        _ document: BSONDocument,
        _ arguments: FindAndModifyArguments
    ) async throws(ServiceError) -> ResultDocuments {
        let context = evaluation()
        let visible = try await deciding { () throws(ServiceError) in try self.seen(document, context) }
        guard let seen = visible else { return .none }
        guard let projection = arguments.projection else { return ResultDocuments([seen]) }
        return ResultDocuments([try projection.apply(seen, filter: arguments.filter, context)])
    }
}
