import QueryCompiler
import Rules
import Synchronization

/// A caller's plan with what was compiled from it, kept for the caller's next requests.
final class PreparedPlan: Sendable {
    let plan: AccessPlan
    /// By whether it trusts columns.
    private let newest = Mutex<(trusting: QueryCompiler?, plain: QueryCompiler?)>((nil, nil))

    init(_ plan: AccessPlan) {
        self.plan = plan
    }

    static let system = PreparedPlan(.system)

    /// The compiler for the plan's collection as it lies now; its part of the SQL is made once.
    func compiler(_ layout: CollectionLayout, trustsColumns: Bool) -> QueryCompiler {
        // The system's plan serves all collections: theirs would only push each other out.
        if plan.isSystem { return QueryCompiler(layout: layout, plan: plan, trustsColumns: trustsColumns) }
        return newest.withLock { newest in
            let known = trustsColumns ? newest.trusting : newest.plain
            if let known, known.layout == layout { return known }
            let made = QueryCompiler(layout: layout, plan: plan, trustsColumns: trustsColumns)
            if trustsColumns { newest.trusting = made } else { newest.plain = made }
            return made
        }
    }
}
