import Crypto
public import Errors
import Synchronization

/// What a rate limit counts by: an address, a user, an account.
public struct RateKey: Sendable, Hashable {
    private let high: UInt64
    private let low: UInt64

    /// A client's address; the addresses of one IPv6 /64 are one.
    public init(_ address: NetworkAddress) {
        high = address.client.high
        low = address.client.low
    }

    /// A name of any length, by two independent hashes with secrets of this process.
    public init(_ parts: String...) {
        var first = Hasher()
        var second = Hasher()
        second.combine(1)
        for part in parts {
            first.combine(part)
            second.combine(part)
        }
        high = UInt64(bitPattern: Int64(first.finalize()))
        low = UInt64(bitPattern: Int64(second.finalize()))
    }

    /// What all gateways call the same: a digest of the parts.
    init(shared parts: String..., address: NetworkAddress? = nil) {
        var hash = SHA256()
        for part in parts {
            withUnsafeBytes(of: UInt64(part.utf8.count).bigEndian) { hash.update(bufferPointer: $0) }
            hash.update(data: Array(part.utf8))
        }
        if let client = address?.client {
            for half in [client.high, client.low] {
                withUnsafeBytes(of: half.bigEndian) { hash.update(bufferPointer: $0) }
            }
        }
        (high, low) = hash.finalize().withUnsafeBytes { digest in
            (
                digest.loadUnaligned(fromByteOffset: 0, as: UInt64.self),
                digest.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
            )
        }
    }

    /// A key as ``text`` shows it; nil for other texts.
    init?(text: some StringProtocol) {
        guard text.utf8.count == 32, let high = UInt64(text.prefix(16), radix: 16),
            let low = UInt64(text.suffix(16), radix: 16)
        else { return nil }
        self.high = high
        self.low = low
    }

    /// 32 hexadecimal digits.
    var text: String {
        [high, low].map { half in
            let digits = String(half, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    /// Which of so many shards it belongs to; a power of two.
    fileprivate func shard(of count: Int) -> Int {
        // IPv4 differs in the lowest bits, a /64 in the upper half.
        let mixed = (high ^ low) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: mixed >> 56) & (count - 1)
    }
}

/// A token bucket for each of many keys: so many at once, then so many per time.
///
/// Kept as one number per key, the time at which the bucket will be full again (the generic cell rate
/// algorithm). The table is bounded: two generations in each shard, of which the older one is forgotten
/// when the younger one is full. Forgetting fills a bucket, so that a flood of keys lets others through and
/// locks nobody out. Times are nanoseconds on any clock that grows.
public final class TokenBuckets: Sendable {
    /// So many tokens in so much time, and how many may be saved up.
    public struct Rate: Sendable, Hashable {
        /// Nanoseconds for one token.
        let interval: Int64
        /// How many tokens a full bucket holds.
        let burst: Int64

        /// `tokens` in every `nanoseconds`, saved up to `burst`.
        public init(tokens: Int, per nanoseconds: Int64, burst: Int) {
            interval = max(1, nanoseconds / Int64(max(1, tokens)))
            self.burst = Int64(max(1, burst))
        }

        /// Tokens per second.
        public static func perSecond(_ tokens: Int, burst: Int) -> Rate {
            Rate(tokens: tokens, per: 1_000_000_000, burst: burst)
        }

        /// Tokens per minute, saved up for one minute.
        public static func perMinute(_ tokens: Int) -> Rate {
            Rate(tokens: tokens, per: 60_000_000_000, burst: tokens)
        }
    }

    private struct Shard: ~Copyable {
        var young: [RateKey: Int64] = [:]
        var old: [RateKey: Int64] = [:]

        func fullAt(_ key: RateKey) -> Int64? { young[key] ?? old[key] }

        mutating func store(_ time: Int64, for key: RateKey, capacity: Int) {
            if young.count >= capacity, young[key] == nil {
                old = young
                young = [:]
                young.reserveCapacity(capacity)
            }
            young[key] = time
        }
    }

    private final class LockedShard: Sendable {
        let state = Mutex(Shard())
    }

    private static let shardCount = 16
    private let shards: [LockedShard]
    private let shardCapacity: Int
    let rate: Rate
    /// How far ahead the time of a full bucket can lie.
    private let most: Int64

    /// - Parameters:
    ///   - rate: The same for every key.
    ///   - capacity: About how many keys are known at once; up to twice as many are kept.
    ///   - debtLimit: The longest that ``charge(_:_:now:)`` can make a key wait, in nanoseconds.
    public init(_ rate: Rate, capacity: Int = 65_536, debtLimit: Int64 = 60_000_000_000) {
        self.rate = rate
        most = rate.burst * rate.interval + debtLimit
        shardCapacity = max(1, capacity / Self.shardCount)
        shards = (0..<Self.shardCount).map { _ in LockedShard() }
    }

    /// How many keys are known.
    public var count: Int {
        shards.reduce(0) { $0 + $1.state.withLock { $0.young.count + $0.old.count } }
    }

    /// Takes one token.
    ///
    /// - Returns: 0, or how many nanoseconds the key has to wait, with nothing taken.
    public func take(_ key: RateKey, now: Int64) -> Int64 {
        let slack = (rate.burst - 1) &* rate.interval
        return shards[key.shard(of: Self.shardCount)].state.withLock { shard in
            let fullAt = max(known(key, in: shard, now), now)
            if fullAt - now > slack { return fullAt - now - slack }
            shard.store(fullAt + rate.interval, for: key, capacity: shardCapacity)
            return 0
        }
    }

    /// How many nanoseconds the key has to wait for a token; 0 when there is one.
    public func wait(_ key: RateKey, now: Int64) -> Int64 {
        let slack = (rate.burst - 1) &* rate.interval
        return shards[key.shard(of: Self.shardCount)].state.withLock { shard in
            max(known(key, in: shard, now) - now - slack, 0)
        }
    }

    /// Takes tokens whether they are there or not; what is owed has to be waited for.
    public func charge(_ key: RateKey, _ count: Int = 1, now: Int64) {
        let (cost, overflow) = rate.interval.multipliedReportingOverflow(by: Int64(count))
        shards[key.shard(of: Self.shardCount)].state.withLock { shard in
            let owed = max(known(key, in: shard, now), now) - now
            let total = overflow ? most : min(owed + min(cost, most), most)
            shard.store(now + total, for: key, capacity: shardCapacity)
        }
    }

    /// Takes over what others know of a bucket: in so many nanoseconds it will be full, if not later.
    func learn(_ key: RateKey, remaining: Int64, now: Int64) {
        shards[key.shard(of: Self.shardCount)].state.withLock { shard in
            let fullAt = now + min(max(remaining, 0), most)
            guard fullAt > known(key, in: shard, now) else { return }
            shard.store(fullAt, for: key, capacity: shardCapacity)
        }
    }

    /// No later than anything could have made it: a clock that was set back locks nobody out.
    private func known(_ key: RateKey, in shard: borrowing Shard, _ now: Int64) -> Int64 {
        min(shard.fullAt(key) ?? now, now + most)
    }

    /// The refusal of a key that has to wait.
    ///
    /// - Parameters:
    ///   - wait: Nanoseconds.
    ///   - what: What there were too many of.
    ///   - limit: The setting's name.
    /// - Returns: `TooManyRequests` with whole seconds after which a token is there.
    public static func refusal(wait: Int64, _ what: String, limit: String) -> ServiceError {
        let seconds = max(1, (wait + 999_999_999) / 1_000_000_000)
        return ServiceError(
            .tooManyRequests,
            "too many requests: \(what) (limit \(limit)); try again in \(seconds) s",
            details: ["retryAfter": String(seconds), "limit": limit]
        )
    }
}
