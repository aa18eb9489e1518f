/// How PostgreSQL plans a statement: for the values at hand, or once.
public enum PlanMode: Sendable, Hashable {
    /// Plans anew for the values of each run. The default: a plan made for unknown values can be twenty times
    /// worse (`reference/peers.md` §4.3).
    case custom
    /// Keeps one plan for all values. For statements that have only one sensible plan: a point read or write by
    /// `_id`, an insert, a page of a user's own documents. Saves the planning: a sixth of a point read, two thirds
    /// of such a page.
    case generic
}
