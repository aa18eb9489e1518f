import SQL
import Sync
import Synchronization

/// The history of one app as it grows, read once for all devices of a gateway.
///
/// A device that joins is handed every later version that may concern it; what it missed before, it reads itself. So
/// a write costs as much as there are devices that it concerns, however many are connected.
final class SyncFeed: Sendable {
    /// What has come for one device.
    struct News {
        /// Of the epoch of the history.
        let salt: Int64
        /// How far the history is known.
        let head: Int64
        /// By rising version.
        let entries: [SyncHistoryEntry]
        /// Whether nothing is left out; else the device reads the history from where it stands.
        let isWhole: Bool
    }

    private struct Member {
        let file: Int64
        let interest: SyncInterest
        let tell: @Sendable () -> Void
        var entries: [SyncHistoryEntry] = []
        var isWhole = true
    }

    private struct State {
        var salt: Int64
        var head: Int64
        var members: [UInt64: Member] = [:]
        var interests = SyncInterests()
        /// A file has one conversation.
        var files: [Int64: UInt64] = [:]
        /// The newest version of the schemas that members know of.
        var schemaVersion: Int64 = 0
        var asked: UInt64 = 0
        var answered: UInt64 = 0
    }

    private let app: String
    private let state: Mutex<State>
    private let turns = Turns()

    /// While a device reads slowly, no more waits for it.
    private static let mostWaiting = 1000

    init(app: String, salt: Int64, head: Int64) {
        self.app = app
        state = Mutex(State(salt: salt, head: head))
    }

    // MARK: Members

    /// Hands a device what comes from now on, in place of what it was handed before.
    ///
    /// - Returns: How far the history is known.
    func join(
        _ id: UInt64,
        file: Int64,
        _ interest: SyncInterest,
        schemaVersion: Int64,
        _ tell: @escaping @Sendable () -> Void
    ) -> Int64 {
        state.withLock { state in
            Self.remove(id, &state)
            state.members[id] = Member(file: file, interest: interest, tell: tell)
            state.files[file] = id
            state.interests.insert(interest, of: id)
            state.schemaVersion = max(state.schemaVersion, schemaVersion)
            return state.head
        }
    }

    func leave(_ id: UInt64) { state.withLock { Self.remove(id, &$0) } }

    private static func remove(_ id: UInt64, _ state: inout State) {
        guard let member = state.members.removeValue(forKey: id) else { return }
        state.interests.remove(member.interest, of: id)
        if state.files[member.file] == id { state.files[member.file] = nil }
    }

    /// Takes what has come.
    func take(_ id: UInt64) -> News {
        state.withLock { state in
            let member = state.members[id]
            state.members[id]?.entries = []
            state.members[id]?.isWhole = true
            return News(
                salt: state.salt,
                head: state.head,
                entries: member?.entries ?? [],
                isWhole: member?.isWhole ?? false
            )
        }
    }

    // MARK: Reading

    /// Reads what the history has now, unless another who came later has done so meanwhile.
    func refresh(_ service: SyncService) async throws {
        let mine = state.withLock { state in
            state.asked += 1
            return state.asked
        }
        await turns.begin()
        defer { turns.end() }
        let (asked, isDone) = state.withLock { ($0.asked, $0.answered >= mine) }
        if isDone { return }
        try await read(service)
        state.withLock { $0.answered = asked }
    }

    private func read(_ service: SyncService) async throws {
        let rows = try await service.run(SyncStatements.version(app))
        let newest = rows.int(0, 0).map { Int64($0) } ?? 0
        // None after sync was terminated.
        let salt = rows.int(0, 1).map { Int64($0) } ?? 0
        state.withLock { state in
            if state.salt != salt { restart(&state, salt: salt, head: newest) }
        }
        while true {
            let known = state.withLock { state in
                if state.members.isEmpty { state.head = max(state.head, newest) }
                return state.head
            }
            guard known < newest else { return }
            let page = try await service.history(of: app, after: known, through: newest)
            hand(page, through: page.last?.version ?? newest)
        }
    }

    /// What everyone knew is of another epoch.
    private func restart(_ state: inout State, salt: Int64, head: Int64) {
        state.salt = salt
        state.head = head
        for id in state.members.keys {
            state.members[id]?.isWhole = false
            state.members[id]?.tell()
        }
    }

    private func hand(_ entries: [SyncHistoryEntry], through head: Int64) {
        state.withLock { state in
            for entry in entries where entry.version > state.head {
                var concerned: Set<UInt64> = []
                for file in [entry.originFile, entry.targetFile] {
                    if let id = file.flatMap({ state.files[$0] }) { concerned.insert(id) }
                }
                // What classes are called at a version that is not known yet concerns everybody.
                if entry.schemaVersion > state.schemaVersion { concerned.formUnion(state.members.keys) }
                if entry.targetFile == nil {
                    for object in entry.objects { state.interests.collect(object, into: &concerned) }
                }
                for id in concerned { give(entry, to: id, &state) }
            }
            state.head = max(state.head, head)
        }
    }

    private func give(_ entry: SyncHistoryEntry, to id: UInt64, _ state: inout State) {
        guard let place = state.members.index(forKey: id), state.members.values[place].isWhole else { return }
        if state.members.values[place].entries.count < Self.mostWaiting {
            state.members.values[place].entries.append(entry)
        } else {
            state.members.values[place].entries = []
            state.members.values[place].isWhole = false
        }
        state.members.values[place].tell()
    }
}
