import Accounts
import BSON
import Crypto
import Errors
import Synchronization

/// Remembers for a minute that the credentials of a Data API request were good.
///
/// A key is an HMAC, with a secret of this process, of the app, its version and the credentials; the
/// credentials themselves are not kept. Callers with the same credentials at the same time share one
/// check, so that the end of the minute does not cost one password hash per waiting request.
/// Source: `shared/design.md` §8.
final class CredentialCache: Sendable {
    /// Milliseconds for which a success is remembered.
    static let lifetime: Int64 = 60_000

    /// Whom the credentials belong to, and until when they are good in themselves.
    struct Success: Sendable {
        let user: User
        /// Milliseconds since 1970; later than any lifetime for credentials that do not end.
        let goodUntil: Int64
        /// What was known of changes when the check began, for storing its outcome.
        let moment: UInt64
        let generation: UInt64
    }

    private struct Entry: Sendable {
        let user: UserKey
        /// When the check began; a change that was heard later voids the entry.
        let moment: UInt64
    }

    private struct State: Sendable {
        var entries: ExpiringCache<[UInt8], Entry>
        /// Counts the changes that were heard.
        var moment: UInt64 = 0
        /// Entries of these users count only when their check began later.
        var changedAt: [UserKey: UInt64] = [:]
        /// When all entries were dropped.
        var forgottenAt: UInt64 = 0
        var checks: [[UInt8]: Task<Result<Success, ServiceError>, Never>] = [:]

        mutating func forgetAll() {
            entries.removeAll()
            changedAt = [:]
            forgottenAt = moment
        }
    }

    private let secret = SymmetricKey(size: .bits256)
    private let state: Mutex<State>
    private let capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
        state = Mutex(State(entries: ExpiringCache(capacity: capacity)))
    }

    /// The key for credentials within one version of one app.
    func digest(_ credentials: Credentials, _ settings: AccountSettings) -> [UInt8] {
        let parts: [String] =
            switch credentials {
            case .anonymous: ["anonymous"]
            case .emailPassword(let username, let password): ["password", username, password]
            case .apiKey(let key): ["key", key]
            case .customToken(let token): ["token", token]
            case .idToken(let kind, let token): ["id token", kind.rawValue, token]
            case .customFunction(let payload): ["function", ExtendedJSON.canonical(.document(payload))]
            }
        var code = HMAC<SHA256>(key: secret)
        for part in [settings.appID, String(settings.revision)] + parts {
            // Lengths in front keep "ab" + "c" apart from "a" + "bc".
            code.update(data: Array("\(part.utf8.count):".utf8))
            code.update(data: Array(part.utf8))
        }
        return Array(code.finalize())
    }

    func user(_ digest: [UInt8], now: Int64) -> UserKey? {
        state.withLock { state in
            guard let entry = state.entries.value(digest, now: now),
                entry.moment >= state.changedAt[entry.user] ?? 0
            else { return nil }
            return entry.user
        }
    }

    /// The moment to remember before a check asks the database.
    func moment() -> UInt64 {
        state.withLock { $0.moment }
    }

    func store(_ user: UserKey, digest: [UInt8], began moment: UInt64, expiresAt: Int64) {
        state.withLock { state in
            guard moment >= state.changedAt[user] ?? state.forgottenAt else { return }
            state.entries.store(Entry(user: user, moment: moment), for: digest, expiresAt: expiresAt)
        }
    }

    func forget(_ user: UserKey) {
        state.withLock { state in
            state.moment &+= 1
            state.changedAt[user] = state.moment
            // More changes than entries: cheaper to begin anew than to keep account of them.
            if state.changedAt.count > capacity { state.forgetAll() }
        }
    }

    func forgetAll() {
        state.withLock { state in
            state.moment &+= 1
            state.forgetAll()
        }
    }

    /// Runs a check, or joins the one that runs for the same credentials.
    ///
    /// The task is unstructured on purpose: its callers come and go, and none of them may cancel what the
    /// others wait for. It ends by itself within the time limits of the statements it makes.
    func check(
        _ digest: [UInt8],
        _ body: @escaping @Sendable () async throws(ServiceError) -> Success
    ) async throws(ServiceError) -> Success {
        let task = state.withLock { state in
            if let running = state.checks[digest] { return running }
            let task = Task<Result<Success, ServiceError>, Never> { [weak self] in
                let result: Result<Success, ServiceError>
                do throws(ServiceError) {
                    result = .success(try await body())
                } catch {
                    result = .failure(error)
                }
                self?.finished(digest)
                return result
            }
            state.checks[digest] = task
            return task
        }
        return try await task.value.get()
    }

    private func finished(_ digest: [UInt8]) {
        state.withLock { $0.checks[digest] = nil }
    }
}
