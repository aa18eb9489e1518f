/// What a file is subscribed to, version by version, as realm-core keeps it.
///
/// Source: `sync-semantics.md` §2.2.
package struct SubscriptionSets: Sendable {
    package enum State: Sendable, Equatable {
        case pending
        case bootstrapping
        case awaitingMark
        case complete
        case failed(String)
        case superseded
    }

    package struct Set: Sendable {
        package let version: Int64
        /// Queries by class; several of one class are joined as the core joins them.
        package let queries: [String: String]
        package var state: State
        /// The file's version when it was made: what was changed before is uploaded first.
        package let snapshot: Int64

        /// The text on the wire: classes in order, no white space.
        package var body: String {
            let members = queries.sorted { $0.key < $1.key }.map { name, query in
                let text = query.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
                return "\"\(name)\":\"\(text)\""
            }
            return "{\(members.joined(separator: ","))}"
        }
    }

    package private(set) var sets = [Set(version: 0, queries: [:], state: .complete, snapshot: 0)]
    /// The version that each MARK on its way waits for.
    private var marks: [Int64: Int64] = [:]

    /// The newest one whose objects are there.
    package var active: Set { sets.last { $0.state == .complete || $0.state == .awaitingMark } ?? sets[0] }

    package var newest: Set { sets[sets.count - 1] }

    /// Those that the server has to be told of, after a connection was lost.
    package var waiting: [Set] {
        sets.filter { $0.version > active.version && ($0.state == .pending || $0.state == .bootstrapping) }
    }

    package func state(of version: Int64) -> State? { sets.first { $0.version == version }?.state }

    func isKnown(_ version: Int64) -> Bool {
        switch state(of: version) {
        case .pending, .bootstrapping, .awaitingMark, .complete: true
        case .failed, .superseded, nil: false
        }
    }

    /// Commits a new set.
    package mutating func commit(_ queries: [String: String], snapshot: Int64) -> Set {
        let set = Set(version: newest.version + 1, queries: queries, state: .pending, snapshot: snapshot)
        sets.append(set)
        return set
    }

    package mutating func bootstrapBegins(_ version: Int64) {
        change(version) { if $0 == .pending { $0 = .bootstrapping } }
    }

    package mutating func bootstrapEnded(_ version: Int64) {
        // A set that is complete stays so through a bootstrap of its own.
        change(version) { if $0 != .complete { $0 = .awaitingMark } }
        for index in sets.indices where sets[index].version < version {
            if case .failed = sets[index].state { continue }
            sets[index].state = .superseded
        }
    }

    package mutating func failed(_ version: Int64, _ text: String) throws {
        guard state(of: version) == .pending else {
            throw BrokenRule("the query \(version) was refused, which is not pending")
        }
        change(version) { $0 = .failed(text) }
    }

    package mutating func markSent(_ request: Int64) { marks[request] = newest.version }

    package mutating func markAnswered(_ request: Int64) {
        guard let version = marks.removeValue(forKey: request) else { return }
        change(version) { if $0 == .awaitingMark { $0 = .complete } }
    }

    private mutating func change(_ version: Int64, _ body: (inout State) -> Void) {
        guard let index = sets.firstIndex(where: { $0.version == version }) else { return }
        body(&sets[index].state)
    }

    /// Several queries of one class, as one text.
    package static func joined(_ queries: [String]) -> String {
        Swift.Set(queries).sorted().map { "(\($0))" }.joined(separator: " OR ")
    }
}
