import Accounts
import Crypto
import Synchronization

/// A user within an app.
struct UserKey: Hashable, Sendable {
    let appID: String
    let userID: String
}

/// What is remembered of users, of checked access tokens and of signing keys.
///
/// Entries are dropped when the database says that they changed. Nothing is remembered before the first
/// word from the listener, since a change could then be missed; and a value that was read before a change
/// was heard is not stored after it (``generation()``).
final class PrincipalCache: Sendable {
    /// Even without a word from the database nothing is believed longer than this, in milliseconds.
    static let lifetime: Int64 = 60_000

    private struct State: Sendable {
        var users: ExpiringCache<UserKey, User>
        var tokens: ExpiringCache<SHA256Digest, AccessToken>
        var keys: ExpiringCache<String, SigningKeySet>
        var isListening = false
        var generation: UInt64 = 0
    }

    private let state: Mutex<State>

    init(capacity: Int) {
        state = Mutex(
            State(
                users: ExpiringCache(capacity: capacity),
                tokens: ExpiringCache(capacity: capacity),
                keys: ExpiringCache(capacity: 1000)
            )
        )
    }

    /// A number that grows with every change; read it before the database is asked.
    func generation() -> UInt64 {
        state.withLock { $0.generation }
    }

    /// Whether changes in the database are heard.
    var isListening: Bool { state.withLock { $0.isListening } }

    func user(_ key: UserKey, now: Int64) -> User? {
        state.withLock { $0.users.value(key, now: now) }
    }

    func store(_ user: User, read generation: UInt64, now: Int64) {
        let key = UserKey(appID: user.appID, userID: user.profile.id)
        state.withLock { state in
            guard state.isListening, state.generation == generation else { return }
            state.users.store(user, for: key, expiresAt: now &+ Self.lifetime)
        }
    }

    /// The claims of a token that was checked before; the caller checks its end anew.
    func token(_ digest: SHA256Digest, now: Int64) -> AccessToken? {
        state.withLock { $0.tokens.value(digest, now: now) }
    }

    func store(_ token: AccessToken, digest: SHA256Digest, read generation: UInt64) {
        state.withLock { state in
            guard state.isListening, state.generation == generation else { return }
            state.tokens.store(token, for: digest, expiresAt: token.expiresAt &* 1000)
        }
    }

    func signingKeys(appID: String, now: Int64) -> SigningKeySet? {
        state.withLock { $0.keys.value(appID, now: now) }
    }

    func store(_ keys: SigningKeySet, read generation: UInt64, now: Int64) {
        state.withLock { state in
            guard state.isListening, state.generation == generation else { return }
            state.keys.store(keys, for: keys.appID, expiresAt: now &+ Self.lifetime)
        }
    }

    func forget(_ key: UserKey) {
        state.withLock { state in
            state.generation &+= 1
            state.users.remove(key)
        }
    }

    /// An app's signing keys changed: its tokens are checked anew, and so are all others.
    func forgetKeys(appID: String) {
        state.withLock { state in
            state.generation &+= 1
            state.keys.remove(appID)
            state.tokens.removeAll()
        }
    }

    /// Listening begins, or begins again after a break in which anything may have been missed.
    func beginAnew(isListening: Bool) {
        state.withLock { state in
            state.generation &+= 1
            state.isListening = isListening
            state.users.removeAll()
            state.tokens.removeAll()
            state.keys.removeAll()
        }
    }
}
