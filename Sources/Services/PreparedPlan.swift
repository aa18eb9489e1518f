import QueryCompiler
import Rules
import Synchronization

/// A caller's plan with what was compiled from it, kept for the caller's next requests.
final class PreparedPlan: Sendable {
    let plan: AccessPlan
    private let newest = Mutex<QueryCompiler?>(nil)

    init(_ plan: AccessPlan) {
        self.plan = plan
    }

    static let system = PreparedPlan(.system)

    /// The compiler for the plan's collection as it lies now; its part of the SQL is made once.
    func compiler(_ layout: CollectionLayout) -> QueryCompiler {
        // The system's plan serves all collections: theirs would only push each other out.
        if plan.isSystem { return QueryCompiler(layout: layout, plan: plan) }
        return newest.withLock { newest in
            if let newest, newest.layout == layout { return newest }
            let made = QueryCompiler(layout: layout, plan: plan)
            newest = made
            return made
        }
    }
}
