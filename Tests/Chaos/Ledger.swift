import Synchronization

/// What the load has been told, and what has turned out wrong: the memory against which the database is held.
final class Ledger: Sendable {
    /// What is known of a document that one worker alone writes.
    enum Fate {
        case present
        case absent
        /// Its last write got no answer: it took effect as a whole, or not at all.
        case unknown
    }

    /// What is known of a document that everybody changes: each change leaves its own mark in it.
    struct Marks {
        var acknowledged: Set<String> = []
        var unknown: Set<String> = []
    }

    private struct State {
        var documents: [String: Fate] = [:]
        /// Names that one `insertMany` brought.
        var groups: [[String]] = []
        var shared: [String: Marks] = [:]
        var violations: [String] = []
        var answers = 0
        var unanswered = 0
        var refused = 0
    }

    private let state = Mutex(State())

    func record(_ name: String, _ fate: Fate) {
        state.withLock { $0.documents[name] = fate }
    }

    func recordGroup(_ names: [String], _ fate: Fate) {
        state.withLock { state in
            state.groups.append(names)
            for name in names { state.documents[name] = fate }
        }
    }

    /// A change of a shared document that left this mark, or may have.
    func mark(_ document: String, _ mark: String, acknowledged: Bool) {
        let kind = acknowledged ? \Marks.acknowledged : \Marks.unknown
        state.withLock { state in
            _ = state.shared[document, default: Marks()][keyPath: kind].insert(mark)
        }
    }

    /// A shared document that has been made.
    func share(_ document: String) {
        state.withLock { $0.shared[document] = Marks() }
    }

    func violated(_ what: String) {
        state.withLock { (state: inout State) in state.violations.append(what) }
    }

    func count(answered: Bool) {
        state.withLock { state in
            if answered { state.answers += 1 } else { state.unanswered += 1 }
        }
    }

    func countRefused() {
        state.withLock { $0.refused += 1 }
    }

    var violations: [String] { state.withLock { $0.violations } }
    var documents: [String: Fate] { state.withLock { $0.documents } }
    var groups: [[String]] { state.withLock { $0.groups } }
    var shared: [String: Marks] { state.withLock { $0.shared } }

    var summary: String {
        state.withLock { state in
            "\(state.answers) answered, \(state.unanswered) without an answer or failed, "
                + "\(state.refused) not sent"
        }
    }
}
