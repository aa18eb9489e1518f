import Accounts
import MQL
import Rules
import Synchronization

/// The access plans that an app's rules gave, by collection and user.
///
/// Part of a snapshot, so that a plan never outlives the rules that it came from. A plan that depends on the
/// request is not kept; one whose user has changed since is made anew.
final class AccessPlanCache: Sendable {
    private struct Key: Hashable {
        let namespace: Namespace
        let userID: String
    }

    private struct Entry {
        let profile: UserProfile
        let plan: PreparedPlan
    }

    /// Plans beyond this many begin a new generation: all are forgotten.
    private static let capacity = 10_000
    private let entries = Mutex<[Key: Entry]>([:])

    func plan(for profile: UserProfile, in namespace: Namespace) -> PreparedPlan? {
        let key = Key(namespace: namespace, userID: profile.id)
        guard let entry = entries.withLock({ $0[key] }), entry.profile == profile else { return nil }
        return entry.plan
    }

    func store(_ plan: PreparedPlan, for profile: UserProfile, in namespace: Namespace) {
        guard !plan.plan.dependsOnRequest else { return }
        let key = Key(namespace: namespace, userID: profile.id)
        entries.withLock { entries in
            if entries.count >= Self.capacity { entries.removeAll() }
            entries[key] = Entry(profile: profile, plan: plan)
        }
    }
}
