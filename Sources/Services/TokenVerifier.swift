public import Accounts
public import Errors
import Synchronization

/// Checks the signatures of tokens that somebody else issued, and keeps the keys they are checked with.
///
/// A JWK set is fetched when it is first needed, again when it is ten minutes old, and when a token names
/// a key that it lacks; never more often than the back-off allows, so that made-up key names cannot be
/// used to flood the issuer. While an issuer is down, its last keys go on counting.
public final class TokenVerifier: Sendable {
    /// Fetches the bytes behind an address.
    public typealias Fetch = @Sendable (_ address: String) async throws -> [UInt8]

    /// Milliseconds for which a set is taken as it is.
    static let freshness: Int64 = 600_000
    /// Milliseconds between two attempts that a missing key or a failure leads to.
    static let backOff: Int64 = 30_000

    private struct KeySet: Sendable {
        var keys: [ForeignKey]?
        var fetchedAt = Int64.min
        var attemptedAt: Int64?
        var running: Task<[ForeignKey]?, Never>?
    }

    private let sets = Mutex<[String: KeySet]>([:])
    private let fetch: Fetch
    private let now: @Sendable () -> Int64

    /// A verifier without keys yet.
    ///
    /// - Parameters:
    ///   - fetch: Fetches a JWK set.
    ///   - now: Milliseconds since 1970.
    public init(fetch: @escaping Fetch, now: @escaping @Sendable () -> Int64) {
        self.fetch = fetch
        self.now = now
    }

    /// Takes a token apart and checks its signature; the claims are not looked at.
    ///
    /// - Parameters:
    ///   - text: The token.
    ///   - settings: What the provider is told.
    ///   - secrets: Secret values by name.
    /// - Returns: The token's parts.
    /// - Throws: ``ServiceError`` `authError` for a token that is not good, `internalServerError` when the
    ///   issuer's keys cannot be had at all.
    public func verify(
        _ text: String,
        settings: CustomTokenSettings,
        secrets: [String: String]
    ) async throws(ServiceError) -> JSONWebToken {
        guard let token = JSONWebToken(text, maximumCharacters: CustomTokenProvider.maximumTokenCharacters)
        else { throw AccountFailure.notAccepted("not a JWT") }
        // Before any key is looked for: the algorithm is ours to choose, not the token's.
        guard token.algorithm == settings.algorithm.rawValue else {
            throw AccountFailure.notAccepted("the token's algorithm is not the provider's")
        }
        let keys =
            switch settings.keys {
            case .secrets(let names): Self.keys(names, secrets, settings.algorithm)
            case .jwkURI(let address): try await keys(at: address, keyID: token.keyID)
            }
        guard keys.contains(where: { $0.verifies(token) }) else {
            throw AccountFailure.notAccepted(keys.isEmpty ? "no key fits the token" : "bad signature")
        }
        return token
    }

    /// Takes a token apart and checks its signature with the key that it names in a JWK set.
    ///
    /// - Parameters:
    ///   - text: The token.
    ///   - algorithms: What it may be signed with; a key has one algorithm of its own.
    ///   - keySetAddress: Where the issuer's keys are.
    /// - Returns: The token's parts.
    /// - Throws: As ``verify(_:settings:secrets:)``.
    public func verify(
        _ text: String,
        algorithms: [String],
        keySetAddress: String
    ) async throws(ServiceError) -> JSONWebToken {
        guard let token = JSONWebToken(text, maximumCharacters: CustomTokenProvider.maximumTokenCharacters)
        else { throw AccountFailure.notAccepted("not a JWT") }
        guard let algorithm = token.algorithm, algorithms.contains(algorithm) else {
            throw AccountFailure.notAccepted("the token's algorithm is not the provider's")
        }
        let keys = try await keys(at: keySetAddress, keyID: token.keyID)
        guard keys.contains(where: { $0.verifies(token) }) else {
            throw AccountFailure.notAccepted(keys.isEmpty ? "no key fits the token" : "bad signature")
        }
        return token
    }

    private static func keys(
        _ names: [String],
        _ secrets: [String: String],
        _ algorithm: CustomTokenSettings.Algorithm
    ) -> [ForeignKey] {
        names.compactMap { name in
            guard let secret = secrets[name] else { return nil }
            return switch algorithm {
            case .hs256: ForeignKey(hs256Secret: secret)
            case .rs256: ForeignKey(rs256PEM: secret)
            }
        }
    }

    /// The keys of a set that a token may be signed with: those of its `kid`; without one, a set's only key.
    private func keys(at address: String, keyID: String?) async throws(ServiceError) -> [ForeignKey] {
        guard KeySetAddress.isAllowed(address) else {
            throw AccountFailure.notAccepted("the JWK address is not allowed")
        }
        var all = sets.withLock { $0[address]?.keys }
        var chosen = Self.choose(all, keyID)
        if let refresh = refreshIfDue(address, missing: chosen.isEmpty) {
            // A set that is merely old still answers; it is renewed beside the request.
            if chosen.isEmpty {
                all = await refresh.value
                chosen = Self.choose(all, keyID)
            }
        }
        guard all != nil else {
            throw ServiceError(.internalServerError, "the provider's keys cannot be fetched")
        }
        return chosen
    }

    private static func choose(_ keys: [ForeignKey]?, _ keyID: String?) -> [ForeignKey] {
        guard let keys else { return [] }
        guard let keyID else { return keys.count == 1 ? keys : [] }
        return keys.filter { $0.id == keyID }
    }

    /// The attempt that runs or must be made, nil when the keys are fresh or an attempt was just made.
    ///
    /// The task is unstructured because several requests wait for it and none may cancel it; the fetch has
    /// a time limit of its own.
    private func refreshIfDue(_ address: String, missing: Bool) -> Task<[ForeignKey]?, Never>? {
        let now = now()
        return sets.withLock { sets in
            var set = sets[address] ?? KeySet()
            if let running = set.running { return running }
            guard missing || now &- max(set.fetchedAt, 0) >= Self.freshness else { return nil }
            if let attempted = set.attemptedAt, now &- attempted < Self.backOff { return nil }
            let task = Task { await self.refresh(address) }
            set.running = task
            set.attemptedAt = now
            sets[address] = set
            return task
        }
    }

    private func refresh(_ address: String) async -> [ForeignKey]? {
        let keys = (try? await fetch(address)).flatMap(ForeignKey.keySet)
        let now = now()
        return sets.withLock { sets in
            var set = sets[address] ?? KeySet()
            set.running = nil
            if let keys {
                set.keys = keys
                set.fetchedAt = now
            }
            sets[address] = set
            return set.keys
        }
    }
}
