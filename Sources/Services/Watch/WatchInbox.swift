import Accounts
import Errors
import Synchronization

/// A collection of the database, whatever data sources call it theirs.
struct CollectionName {
    let database: String
    let collection: String
}

/// What became of a watched collection.
struct CollectionEnd {
    /// The last change that a watch of it shows.
    let place: Int64
    /// Its other name; nil for one that was dropped.
    let newName: CollectionName?
}

/// What a watch is told from outside: that there is something to read, that it must end.
///
/// Nothing is queued here: signals of one kind are one, however many come.
final class WatchInbox: Sendable {
    /// What has come since the watch looked last.
    struct Signals {
        /// The client has left.
        var hasLeft = false
        /// Why the watch must end.
        var ending: ServiceError?
        /// The collection is gone, or has another name, and with it every change behind a place.
        var end: CollectionEnd?
        /// Time for a sign of life.
        var isHeartbeatDue = false
    }

    private struct State {
        var signals = Signals()
        var collection: Int32?
        var isClosed = false
    }

    let id: UInt64
    let database: String
    let collectionName: String
    let token: AccessToken
    private let state: Mutex<State>
    /// An element for every time that somebody should look at the signals.
    let wakes: AsyncStream<Void>
    private let waker: AsyncStream<Void>.Continuation

    init(id: UInt64, database: String, collection: String, token: AccessToken) {
        self.id = id
        self.database = database
        collectionName = collection
        self.token = token
        state = Mutex(State())
        (wakes, waker) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// The collection's id, once there is one.
    var collection: Int32? { state.withLock { $0.collection } }

    /// Whether these are the names that are watched, byte for byte.
    func isOf(_ name: CollectionName) -> Bool {
        database.utf8.elementsEqual(name.database.utf8)
            && collectionName.utf8.elementsEqual(name.collection.utf8)
    }

    /// The collection is there, so that its changes can be followed.
    func found(_ collection: Int32, _ feed: ChangeFeed) {
        state.withLock { state in
            guard state.collection == nil, !state.isClosed else { return }
            state.collection = collection
            feed.follow(collection)
        }
        wake()
    }

    /// Nobody watches any more.
    func close(_ feed: ChangeFeed) {
        state.withLock { state in
            if let collection = state.collection, !state.isClosed { feed.leave(collection) }
            state.isClosed = true
        }
    }

    func wake() { waker.yield() }

    func leave() { signal { $0.hasLeft = true } }

    func end(_ error: ServiceError) { signal { if $0.ending == nil { $0.ending = error } } }

    func lose(_ end: CollectionEnd) { signal { if $0.end == nil { $0.end = end } } }

    /// Whether the collection is gone, or has another name.
    var isLost: Bool { state.withLock { $0.signals.end != nil } }

    func beat() { signal { $0.isHeartbeatDue = true } }

    private func signal(_ change: (inout Signals) -> Void) {
        state.withLock { change(&$0.signals) }
        wake()
    }

    /// What has come; a heartbeat is due once.
    func take() -> Signals {
        state.withLock { state in
            defer { state.signals.isHeartbeatDue = false }
            return state.signals
        }
    }
}
