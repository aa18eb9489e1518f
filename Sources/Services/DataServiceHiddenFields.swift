import BSON
import Errors
import MQL
import Postgres
import QueryCompiler
import Rules
import SQL

/// A caller's filter on its way to a write: what SQL may ask, and what decides.
struct WriteMatch {
    /// What the caller asked.
    let filter: Filter
    /// What SQL may ask; the same where the stored form decides.
    let narrowing: Filter
    /// Whether what the caller sees of a document decides.
    let onVisible: Bool
}

// Where rules hide fields: what the caller sees of a document decides whether it matches, where it stands, and what
// becomes of it.
extension DataCall {
    /// How a write's filter has to be decided.
    func match(_ filter: Filter, sort: Sort? = nil) throws(ServiceError) -> WriteMatch {
        switch try plan.scope(of: filter, sort: sort) {
        case .stored: WriteMatch(filter: filter, narrowing: filter, onVisible: false)
        case .visible(let narrowing): WriteMatch(filter: filter, narrowing: narrowing, onVisible: true)
        }
    }

    /// What the caller sees of a document: by the roles, then by the rule filters' projection.
    func seen(_ document: BSONDocument, _ context: EvaluationContext) throws(ServiceError) -> BSONDocument? {
        try plan.seen(document, context)
    }

    /// `find` whose filter or order may look at something hidden.
    func findVisible(
        _ arguments: FindArguments,
        within narrowing: Filter,
        _ layout: CollectionLayout
    ) async throws(ServiceError) -> ResultDocuments {
        var asked = FindArguments(filter: narrowing)
        asked.readsTextScore = arguments.readsTextScore
        let read = compiler(layout).find(asked)
        note(.superset)
        let context = evaluation()
        let plan = plan
        let wanted = arguments.limit.map { $0.addingReportingOverflow(arguments.skip) }
            .map { $0.overflow ? Int.max : $0.partialValue }
        var order = arguments.sort
        if plan.ordersByHiddenID {
            order = Sort(
                keys: (order?.keys ?? []) + Self.visibleOrder.keys,
                collation: order?.collation
            )
        }
        var collected = CollectedDocuments(sort: order, wanted: wanted)
        try await stream(read.statement(), layout) { (document, bytes) throws(ServiceError) -> Bool in
            if !read.decidesMatch {
                guard try passesRules(document, context) else { return true }
            }
            guard var seen = try seen(document, context), try arguments.filter.matches(seen, context) else {
                return true
            }
            TextScore.carry(from: document, to: &seen)
            return try collected.add(seen, seen: seen, bytes: bytes)
        }
        let found = collected.result(skip: arguments.skip, limit: arguments.limit)
        guard arguments.projection != nil || arguments.readsTextScore else { return ResultDocuments(found) }
        var documents: [BSONDocument] = []
        for document in found {
            var shown =
                try arguments.projection?.apply(document, filter: arguments.filter, context) ?? document
            TextScore.remove(from: &shown)
            documents.append(shown)
        }
        return ResultDocuments(documents)
    }

    /// An order that tells nothing of hidden ids.
    static let visibleOrder = Sort(keys: [Sort.Key(path: "_id", ascending: true)])

    /// The document after an update that its caller may make, computed on what the caller sees.
    func changedVisibly(
        _ stored: BSONDocument,
        _ arguments: UpdateArguments
    ) throws(ServiceError) -> BSONDocument {
        let context = evaluation()
        guard let seen = try seen(stored, context) else { return stored }
        // A filter that matched by the stored form may not match what is seen; then `$` has no place.
        let after = try arguments.update.apply(
            to: seen,
            filter: arguments.filter,
            isUpsertInsert: false,
            context
        )
        switch plan.merging(arguments.update, stored: stored, seen: seen, after: after) {
        case .success(let document): return document
        case .failure(let denied): throw error(denied.denial)
        }
    }
}

extension AccessPlan {
    /// What the caller sees of a document: by the roles, then by the rule filters' projection.
    func seen(_ document: BSONDocument, _ context: EvaluationContext) throws(ServiceError) -> BSONDocument? {
        guard let visible = visible(document) else { return nil }
        return try queryProjection?.apply(visible, filter: nil, context.simplyCollated) ?? visible
    }
}
