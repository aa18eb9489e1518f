import BSON
import Errors
import MQL
import QueryCompiler
import Rules

extension DataCall {
    /// How many documents are looked at for the reason of a denial.
    private static let lookedAt = 20

    /// The error of a write that SQL refused, with the role and the reason that the evaluator finds.
    ///
    /// The statement only says that there is a document which may not be changed so. One more read, of few
    /// documents, says by what, which is worth its price to whoever reads the log. Where another writer has
    /// changed the document since, the reason stays general; the refusal stands in any case.
    func denied(
        _ kind: WriteKind,
        _ filter: Filter,
        _ layout: CollectionLayout,
        many: Bool,
        change: (WriteCandidate) throws(ServiceError) -> BSONDocument?
    ) async -> ServiceError {
        let (statement, decidesMatch) = compiler(layout).candidates(
            filter,
            after: nil,
            limit: many ? Self.lookedAt : 1,
            locks: false
        )
        // Only a filter that looks at nothing hidden becomes one statement.
        let match = WriteMatch(filter: filter, narrowing: filter, onVisible: false)
        do throws(ServiceError) {
            let rows = try await run(statement, isPoint: false)
            for found in try await read(rows, match, layout, decidesMatch: decidesMatch) {
                let after = try change(found)
                if let denial = plan.denial(of: kind, before: found.document, after: after) {
                    return error(denial)
                }
            }
        } catch {
            // The caller is told of the denial, not of what kept us from explaining it.
        }
        return error(Denial(kind: kind, role: plan.soleRole, reason: "denied by the rules in the statement"))
    }
}
