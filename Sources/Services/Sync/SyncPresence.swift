import Sync
import Synchronization

/// Why a socket is closed from outside; the raw value is the code of the closure.
///
/// Source: `sync-semantics.md` §9.4.
public enum SyncClosure: Int, Sendable {
    /// The device is to get itself a new access token; where it gets none, its user is logged out.
    case renewToken = 4001
    /// The device is to log its user out.
    case logOut = 4002
}

/// A connection of a device, as the service knows it, whoever serves its messages.
public final class SyncPresence: Sendable {
    private struct State {
        var closure: SyncClosure?
        var heardAt = ContinuousClock.now
    }

    let id: UInt64
    /// Whose it is.
    public let caller: SyncCaller
    private let tell: @Sendable () -> Void
    private let state = Mutex(State())

    /// A device sends a sign of life each minute; without one for longer it is gone, though its socket be open.
    static let silence = Duration.seconds(75)

    init(id: UInt64, caller: SyncCaller, tell: @escaping @Sendable () -> Void) {
        self.id = id
        self.caller = caller
        self.tell = tell
    }

    /// Takes note of a sign of life.
    public func heard() { state.withLock { $0.heardAt = .now } }

    /// Why the socket is to be closed, before anything else that it brings is served.
    public var closure: SyncClosure? { state.withLock { $0.closure } }

    var isSilent: Bool { state.withLock { $0.heardAt + Self.silence < .now } }

    func end(_ closure: SyncClosure) {
        state.withLock { state in if state.closure == nil { state.closure = closure } }
        tell()
    }
}

/// A session of a device, as others than its own task may reach it.
final class SyncLease: Sendable {
    /// What is to be looked at anew.
    enum Recheck {
        case nothing
        /// The app.
        case rules
        /// The app, and what roles may know of the user.
        case user
    }

    private struct State {
        var interruption: SyncFault?
        var recheck = Recheck.nothing
        var reminder: ContinuousClock.Instant?

        var isDue: Bool { reminder.map { $0 <= .now } ?? false }
    }

    let id: UInt64
    let presence: SyncPresence
    private let tell: @Sendable () -> Void
    private let state = Mutex(State())

    init(id: UInt64, presence: SyncPresence, tell: @escaping @Sendable () -> Void) {
        self.id = id
        self.presence = presence
        self.tell = tell
    }

    /// The history has grown.
    func wake() { tell() }

    /// Has the session woken once a time has come, and again until it takes the reminder.
    func remind(at time: ContinuousClock.Instant) { state.withLock { $0.reminder = time } }

    /// Whether the time has come.
    var isDue: Bool { state.withLock { $0.isDue } }

    /// Whether the time has come, for the last time.
    func takeReminder() -> Bool {
        state.withLock { state in
            guard state.isDue else { return false }
            state.reminder = nil
            return true
        }
    }

    /// Ends the session with an error.
    func interrupt(_ fault: SyncFault) {
        state.withLock { state in if state.interruption == nil { state.interruption = fault } }
        tell()
    }

    func recheck(_ what: Recheck) {
        state.withLock { state in if state.recheck != .user { state.recheck = what } }
        tell()
    }

    /// What has come from outside since the last time.
    ///
    /// - Throws: What ends the session.
    func takeNews() throws(SyncFault) -> Recheck {
        let news = state.withLock { state in
            defer { state.recheck = .nothing }
            return state
        }
        if let fault = news.interruption { throw fault }
        return news.recheck
    }
}
