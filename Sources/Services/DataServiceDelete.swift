import BSON
import Errors
import MQL
import Postgres
import QueryCompiler
import Rules
import SQL

extension DataCall {
    /// `deleteOne`, `deleteMany`: one statement where SQL can judge, else each document here.
    func delete(_ filter: Filter, many: Bool) async throws(ServiceError) -> Int {
        let match = try match(filter)
        guard let layout = try await layout() else { return 0 }
        if !match.onVisible, let statement = compiler(layout).delete(filter, many: many) {
            note(.exact)
            if let direct = statement.direct, try await run(direct, isPoint: true).affectedRows > 0 {
                return 1
            }
            let rows = try await run(statement.statement, isPoint: statement.isPointWrite)
            if (rows.int(0, 1) ?? 0) > 0 {
                throw await denied(.delete, filter, layout, many: many) { _ in nil }
            }
            return rows.int(0, 2) ?? 0
        }
        note(match.onVisible ? .superset : compiler(layout).writeGrade(filter))
        return try await many ? deleteMany(match, layout) : deleteOne(match, layout)
    }

    private func deleteOne(_ match: WriteMatch, _ layout: CollectionLayout) async throws(ServiceError) -> Int
    {
        for _ in 0..<WriteCandidates.attempts {
            guard let found = try await candidate(match, layout) else { return 0 }
            if let denial = try await denial(of: .delete, before: found.document, after: nil) {
                throw error(denial)
            }
            let done = try await run(
                compiler(layout).delete(key: found.key, document: found.stored),
                isPoint: true
            )
            if done.affectedRows > 0 { return 1 }
        }
        throw WriteCandidates.conflict
    }

    private func deleteMany(_ match: WriteMatch, _ layout: CollectionLayout) async throws(ServiceError) -> Int
    {
        let compiler = compiler(layout)
        return try await transaction { (transaction) async throws(ServiceError) -> Int in
            var deleted = 0
            var last: String?
            while true {
                let page = try await candidates(match, layout, after: last, in: transaction)
                var keys: [String] = []
                for found in page.matching {
                    if let denial = try await denial(of: .delete, before: found.document, after: nil) {
                        throw error(denial)
                    }
                    keys.append(found.key)
                }
                if !keys.isEmpty {
                    deleted += try await transaction.run(compiler.delete(keys: keys)).affectedRows
                }
                guard let next = page.next else { return deleted }
                last = next
            }
        }
    }
}
