import BSON
import Errors
import MQL
import Postgres
import QueryCompiler
import Rules
import SQL

extension DataCall {
    /// `updateOne`, `updateMany`, `replaceOne`: one statement where SQL gives the evaluator's answer, else the
    /// new documents are computed here and swapped in.
    func update(_ arguments: UpdateArguments, many: Bool) async throws(ServiceError) -> UpdateResult {
        let match = try match(arguments.filter, sort: arguments.sort)
        for attempt in 1...WriteCandidates.attempts {
            let result = try await updateMatching(arguments, match, many: many)
            guard result.matched == 0, arguments.upsert else { return result }
            do {
                let id = try await insertUpsert(arguments)
                return UpdateResult(matched: 0, modified: 0, upsertedID: id)
            } catch {
                // Another upsert inserted the document at this moment: now there is one to update.
                guard error.serverCode == .duplicateKey, attempt < 3 else { throw error }
            }
        }
        throw WriteCandidates.conflict
    }

    private func updateMatching(
        _ arguments: UpdateArguments,
        _ match: WriteMatch,
        many: Bool
    ) async throws(ServiceError) -> UpdateResult {
        guard let layout = try await layout() else { return UpdateResult(matched: 0, modified: 0) }
        do throws(ServiceError) {
            if !match.onVisible, !plan.updatesVisibleForm,
                let done = try await updateInStatement(arguments, layout, many: many)
            {
                return done
            }
            note(match.onVisible ? .superset : compiler(layout).writeGrade(arguments.filter))
            return try await LongComputation.run { () async throws(ServiceError) in
                try await many
                    ? updateMany(arguments, match, layout) : updateOne(arguments, match, layout)
            }
        } catch {
            throw named(error)
        }
    }

    /// - Returns: nil where the gateway has to decide.
    private func updateInStatement(
        _ arguments: UpdateArguments,
        _ layout: CollectionLayout,
        many: Bool
    ) async throws(ServiceError) -> UpdateResult? {
        var way = SortingWay.byIndex
        while let statement = compiler(layout).update(arguments, many: many, now: now, sorting: way) {
            note(.exact)
            if let direct = statement.direct, try await run(direct, isPoint: true).affectedRows > 0 {
                return UpdateResult(matched: 1, modified: 1)
            }
            let rows: ResultSet
            if statement.sorting == .inGateway {
                rows = try await run(statement.statement, isPoint: statement.isPointWrite)
            } else {
                do throws(ServiceError) {
                    rows = try await part(statement.statement)
                } catch {
                    guard error.postgresFailure?.sqlState == .cannotSort, let next = statement.sorting.next
                    else { throw error }
                    way = next
                    continue
                }
            }
            let isDenied = (rows.int(0, 2) ?? 0) > 0
            if isDenied, arguments.sort == nil {
                throw await denied(.update, arguments.filter, layout, many: many) {
                    found throws(ServiceError) in
                    try updated(found, arguments)
                }
            }
            guard !isDenied, rows.int(0, 1) ?? 0 == 0 else { return nil }
            return UpdateResult(matched: rows.int(0, 0) ?? 0, modified: rows.int(0, 3) ?? 0)
        }
        return nil
    }

    /// A statement that may fail without harm to the transaction that it is a part of.
    private func part(_ statement: SQLFragment) async throws(ServiceError) -> ResultSet {
        guard enclosing != nil else { return try await run(statement, isPoint: false) }
        return try await transaction { (transaction) async throws(ServiceError) in
            try await transaction.run(statement)
        }
    }

    private func insertUpsert(_ arguments: UpdateArguments) async throws(ServiceError) -> BSONValue {
        try await upserted(arguments)["_id"] ?? .null
    }

    /// Inserts the document of an upsert that found none, and returns it.
    func upserted(_ arguments: UpdateArguments) async throws(ServiceError) -> BSONDocument {
        let document = try arguments.update.upsertDocument(
            filter: arguments.filter,
            evaluation(),
            newID: { newID() }
        )
        let (prepared, id) = prepared(document)
        if let denial = try await denial(of: .insert, before: nil, after: prepared) { throw error(denial) }
        try await undoable { call async throws(ServiceError) in try await call.insert(prepared, id) }
        return prepared
    }

    /// Reads, computes, and writes if the document is still as it was.
    private func updateOne(
        _ arguments: UpdateArguments,
        _ match: WriteMatch,
        _ layout: CollectionLayout
    ) async throws(ServiceError) -> UpdateResult {
        for _ in 0..<WriteCandidates.attempts {
            let candidate =
                try await arguments.sort == nil
                ? candidate(match, layout) : first(match, arguments.sort, layout)
            guard let found = candidate else { return UpdateResult(matched: 0, modified: 0) }
            let after = try await changed(found, arguments)
            // A replacement counts as a change also where it changes nothing.
            if after == found.document {
                return UpdateResult(matched: 1, modified: arguments.update.isReplacement ? 1 : 0)
            }
            let shape = try await ShapeSuccession(call: self, layout: layout).shape(
                of: after,
                from: found,
                by: arguments.update
            )
            let row = NewRow(key: found.key, document: try Self.stored(after), shape: shape)
            let swap = compiler(layout).swap(
                key: found.key,
                document: found.stored,
                shape: found.shape,
                for: row,
                isReplacement: arguments.update.isReplacement
            )
            if try await run(swap, isPoint: true).affectedRows > 0 {
                return UpdateResult(matched: 1, modified: 1)
            }
        }
        throw WriteCandidates.conflict
    }

    /// All in one transaction, so that one denial undoes everything.
    private func updateMany(
        _ arguments: UpdateArguments,
        _ match: WriteMatch,
        _ layout: CollectionLayout
    ) async throws(ServiceError) -> UpdateResult {
        // An order of keys is recorded outside of the transaction, which then begins anew. What was recorded is kept
        // here: there may be more orders than the registry has at hand, or more than a collection has.
        let orders = RecordedOrders()
        for _ in 0..<WriteCandidates.attempts {
            let (result, unknown) = try await updateManyOnce(arguments, match, layout, orders)
            if let result { return result }
            try await orders.record(unknown, self)
        }
        throw WriteCandidates.conflict
    }

    /// So many documents' orders are recorded between two attempts.
    private static let mostUnknown = 2000

    private func updateManyOnce(
        _ arguments: UpdateArguments,
        _ match: WriteMatch,
        _ layout: CollectionLayout,
        _ orders: RecordedOrders
    ) async throws(ServiceError) -> (UpdateResult?, [EnclosingTransaction.Unknown]) {
        let compiler = compiler(layout)
        var unknown: [EnclosingTransaction.Unknown] = []
        do {
            let result = try await transaction { (transaction) async throws(ServiceError) -> UpdateResult in
                var result = UpdateResult(matched: 0, modified: 0)
                var last: String?
                unknown = []
                if arguments.update.isReplacement {
                    _ = try await transaction.run(QueryCompiler.markReplacements(true), plan: .generic)
                }
                while true {
                    let page = try await candidates(match, layout, after: last, in: transaction)
                    var rows: [NewRow] = []
                    for found in page.matching {
                        let after = try await changed(found, arguments)
                        result.matched += 1
                        if after == found.document {
                            if arguments.update.isReplacement { result.modified += 1 }
                            continue
                        }
                        result.modified += 1
                        let succession = ShapeSuccession(call: self, layout: layout)
                        let shape: Int32
                        if let known = succession.knownShape(of: after, from: found)
                            ?? orders.id(of: after, collection: layout.id)
                        {
                            shape = known
                        } else if enclosing != nil {
                            // The enclosing transaction records it, and begins anew if it must.
                            shape = try await succession.shape(of: after, from: found, by: arguments.update)
                        } else {
                            if unknown.count < Self.mostUnknown {
                                unknown.append(succession.unknown(after, from: found, by: arguments.update))
                            }
                            continue
                        }
                        rows.append(NewRow(key: found.key, document: try Self.stored(after), shape: shape))
                    }
                    if !unknown.isEmpty { throw ShapeSuccession.interruption }
                    if !rows.isEmpty { _ = try await transaction.run(compiler.replace(rows)) }
                    guard let next = page.next else { break }
                    last = next
                }
                if arguments.update.isReplacement {
                    _ = try await transaction.run(QueryCompiler.markReplacements(false), plan: .generic)
                }
                return result
            }
            return (result, [])
        } catch  where !unknown.isEmpty {
            return (nil, unknown)
        }
    }

    /// The document after the update, which its caller may make.
    func changed(
        _ found: WriteCandidate,
        _ arguments: UpdateArguments
    ) async throws(ServiceError) -> BSONDocument {
        try await deciding { () throws(ServiceError) in
            let after = try updated(found, arguments)
            if let denial = plan.denial(of: .update, before: found.document, after: after) {
                throw error(denial)
            }
            return after
        }
    }

    /// The document after the update.
    private func updated(_ found: WriteCandidate, _ arguments: UpdateArguments) throws(ServiceError)
        -> BSONDocument
    {
        if plan.updatesVisibleForm { return try changedVisibly(found.document, arguments) }
        return try arguments.update.apply(
            to: found.document,
            filter: arguments.filter,
            isUpsertInsert: false,
            evaluation()
        )
    }
}
