import Accounts
import Errors
import Glibc
import MQL
import Services
import Synchronization

/// Lets requests in, or turns them away before they cost anything.
///
/// One per gateway; nothing is shared between gateways. What is let in is counted out again, so that a
/// gateway recovers by itself.
final class RequestGate: Sendable {
    /// What may wait passes through them on its way.
    let turnstiles = Turnstiles()
    private let limits: AdmissionLimits
    private let proxies: TrustedProxies
    private let underWay = Atomic<Int>(0)
    private let bodyBytes = Atomic<Int>(0)
    private let addresses: TokenBuckets?
    private let users: TokenBuckets?
    private let shares: UserShares?

    init(_ limits: AdmissionLimits, proxies: TrustedProxies) {
        self.limits = limits
        self.proxies = proxies
        addresses =
            limits.requestsPerSecondPerAddress > 0
            ? TokenBuckets(
                .perSecond(limits.requestsPerSecondPerAddress, burst: limits.requestBurstPerAddress)
            ) : nil
        users =
            limits.requestsPerSecondPerUser > 0
            ? TokenBuckets(.perSecond(limits.requestsPerSecondPerUser, burst: limits.requestBurstPerUser))
            : nil
        shares =
            limits.concurrentRequestsPerUser > 0 ? UserShares(most: limits.concurrentRequestsPerUser) : nil
    }

    /// Requests under way at this moment.
    var count: Int { underWay.load(ordering: .relaxed) }

    // MARK: All requests

    /// Lets a request in; ``leave(_:isKnown:)`` lets it out.
    ///
    /// - Returns: The address to be counted, where addresses are counted.
    /// - Throws: `MaintenanceInProgress` when too many are under way, `TooManyRequests` for an address that
    ///   sent too many.
    func enter(_ request: RequestHead) throws(ServiceError) -> RateKey? {
        if let addresses, let address = proxies.client(of: request), !Self.isHealth(request) {
            let key = RateKey(address)
            let wait = addresses.wait(key, now: Self.now)
            if wait > 0 {
                throw TokenBuckets.refusal(
                    wait: wait,
                    "more than \(limits.requestsPerSecondPerAddress) a second from one address",
                    limit: "requests-per-second-per-address"
                )
            }
            try count(request)
            return key
        }
        try count(request)
        return nil
    }

    private func count(_ request: RequestHead) throws(ServiceError) {
        let before = underWay.add(1, ordering: .relaxed).oldValue
        let most = limits.concurrentRequests
        guard most > 0, before >= most, !Self.isHealth(request) else { return }
        underWay.subtract(1, ordering: .relaxed)
        throw ServiceError(
            .maintenanceInProgress,
            "the gateway is busy: more than \(most) requests at once (limit max-concurrent-requests)",
            details: ["limit": "max-concurrent-requests"]
        )
    }

    /// Lets a request out; one without a known user counts for its address.
    func leave(_ address: RateKey?, isKnown: Bool) {
        underWay.subtract(1, ordering: .relaxed)
        if let address, !isKnown { addresses?.charge(address, now: Self.now) }
    }

    /// Whether a load balancer asks how we are: answered also when nobody else is.
    private static func isHealth(_ request: RequestHead) -> Bool {
        request.path == "/health" || request.path == "/ready"
    }

    // MARK: Users

    /// A user's place among the requests under way.
    struct Place {
        fileprivate let user: RateKey
    }

    /// Counts a request of a known user; ``release(_:)`` gives its place back.
    ///
    /// - Throws: `TooManyRequests` for a user with too many, at once or in time.
    func admit(_ principal: Principal) throws(ServiceError) -> Place? {
        guard users != nil || shares != nil, case .user(let profile) = principal else { return nil }
        let user = RateKey(profile.id)
        if let wait = users?.take(user, now: Self.now), wait > 0 {
            throw TokenBuckets.refusal(
                wait: wait,
                "more than \(limits.requestsPerSecondPerUser) a second of one user",
                limit: "requests-per-second-per-user"
            )
        }
        if let shares, !shares.take(user) {
            throw TokenBuckets.refusal(
                wait: 0,
                "more than \(limits.concurrentRequestsPerUser) of one user at once",
                limit: "max-concurrent-requests-per-user"
            )
        }
        return Place(user: user)
    }

    /// Counts what an operation holds beside itself: every 100 documents of an `insertMany`, and every 100 operations
    /// of a `bulkWrite`, are one request.
    func count(_ action: DataAction, of place: Place?) {
        guard let place, let users else { return }
        let held =
            switch action {
            case .insertMany(let arguments): arguments.documents.count
            case .bulkWrite(let arguments): arguments.operations.count
            default: 1
            }
        let extra = (held - 1) / 100
        if extra > 0 { users.charge(place.user, extra, now: Self.now) }
    }

    /// Gives a user's place back.
    func release(_ place: Place?) {
        if let place { shares?.release(place.user) }
    }

    // MARK: Bodies

    /// Room for a large body or answer, given back when the last reference goes.
    final class Room: Sendable {
        private let gate: RequestGate
        private let bytes: Int

        fileprivate init(_ gate: RequestGate, _ bytes: Int) {
            self.gate = gate
            self.bytes = bytes
        }

        deinit {
            gate.bodyBytes.subtract(bytes, ordering: .relaxed)
        }
    }

    /// Bodies up to this many bytes are not counted.
    static let smallBody = 65_536

    /// Takes room for a body.
    ///
    /// - Throws: `MaintenanceInProgress` when the bodies of other requests leave none.
    func room(_ bytes: Int) throws(ServiceError) -> Room {
        let before = bodyBytes.add(bytes, ordering: .relaxed).oldValue
        let room = Room(self, bytes)
        guard limits.bufferedBodyBytes > 0, before > 0, before + bytes > limits.bufferedBodyBytes else {
            return room
        }
        throw ServiceError(
            .maintenanceInProgress,
            "the gateway is busy: too many large requests at once (limit max-buffered-body-bytes)",
            details: ["limit": "max-buffered-body-bytes"]
        )
    }

    /// Counts what has to be kept in any case, such as an answer that a client reads slowly.
    func hold(_ bytes: Int) -> Room {
        bodyBytes.add(bytes, ordering: .relaxed)
        return Room(self, bytes)
    }

    /// Nanoseconds on a clock that only grows; to a few milliseconds, for the price of a memory read.
    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

/// How many requests of each user are under way; users without any are not remembered.
private final class UserShares: Sendable {
    private let most: Int
    private let counts = Mutex<[RateKey: Int]>([:])

    init(most: Int) {
        self.most = most
    }

    func take(_ user: RateKey) -> Bool {
        counts.withLock { counts in
            let count = counts[user] ?? 0
            guard count < most else { return false }
            counts[user] = count + 1
            return true
        }
    }

    func release(_ user: RateKey) {
        counts.withLock { counts in
            guard let count = counts[user] else { return }
            counts[user] = count > 1 ? count - 1 : nil
        }
    }
}
