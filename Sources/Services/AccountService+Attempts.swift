import Accounts
import Errors
import SQL

// What is counted by all gateways together: failed logins, and mails asked for from an address.
extension AccountService {
    /// Where gateways tell each other of buckets that are empty: `<key>:<microseconds until it is full>`.
    static let attemptsChannel = "tidegate_attempts"

    /// Counts a failure, here and with the other gateways.
    ///
    /// - Throws: `tooManyRequests` in the place of what the failure says, when by then all of them together had used
    ///   up what there was: so many guesses are answered and no more, however many gateways are asked at once.
    func failed(_ attempt: LoginThrottle.Attempt) async throws(ServiceError) {
        let charges = throttle.failed(attempt)
        guard let remaining = await charge(charges.map { ($0.key, $0.rate) }) else { return }
        for (charge, left) in zip(charges, remaining) {
            throttle.learn(charge.key, remaining: left)
            // As it was before this one.
            let wait = left - charge.rate.interval * charge.rate.burst
            if wait > 0, let refusal = charge.refusal { throw refusal(wait) }
        }
    }

    /// Counts a mail that an address asked for, here and with the other gateways.
    func mailQueued(from address: NetworkAddress?) async {
        guard let address, let mailsByAddress else { return }
        let key = Self.mailKey(address)
        mailsByAddress.charge(key, now: nanoseconds)
        guard let left = await charge([(key, mailsByAddress.rate)])?.first else { return }
        mailsByAddress.learn(key, remaining: left, now: nanoseconds)
    }

    /// Refuses another mail when an address has asked for as many as it may.
    func checkMails(from address: NetworkAddress?) throws(ServiceError) {
        guard let address, let mailsByAddress else { return }
        let wait = mailsByAddress.wait(Self.mailKey(address), now: nanoseconds)
        guard wait > 0 else { return }
        throw TokenBuckets.refusal(
            wait: wait,
            "mails asked for from this address",
            limit: "mails-per-hour-per-address"
        )
    }

    /// Another gateway found a bucket empty.
    func heardOfAttempts(_ payload: String) {
        guard let colon = payload.firstIndex(of: ":"), let key = RateKey(text: payload[..<colon]),
            let microseconds = Int64(payload[payload.index(after: colon)...]),
            (0...Self.longestWait).contains(microseconds)
        else { return }
        throttle.learn(key, remaining: microseconds * 1000)
        mailsByAddress?.learn(key, remaining: microseconds * 1000, now: nanoseconds)
    }

    /// A day in microseconds: more no bucket holds.
    private static let longestWait: Int64 = 86_400 * 1_000_000

    private static func mailKey(_ address: NetworkAddress) -> RateKey {
        RateKey(shared: "mails", address: address)
    }

    private var nanoseconds: Int64 { now() &* 1_000_000 }

    /// Takes a token of each bucket in the database.
    ///
    /// - Returns: In how many nanoseconds each will be full; nil when the database does not answer, since each
    ///   gateway's own count holds without it.
    private func charge(_ buckets: [(key: RateKey, rate: TokenBuckets.Rate)]) async -> [Int64]? {
        guard !buckets.isEmpty else { return nil }
        let rows = try? await query(
            AttemptStatements.charge(
                keys: buckets.map(\.key.text),
                steps: buckets.map { max(1, $0.rate.interval / 1000) },
                bursts: buckets.map { Int32(clamping: $0.rate.burst) }
            )
        )
        guard let rows, rows.rowCount == buckets.count else { return nil }
        var remaining = [Int64](repeating: 0, count: buckets.count)
        for row in 0..<rows.rowCount {
            guard let place = rows.int(row, 0), remaining.indices.contains(place) else { return nil }
            remaining[place] = min(Int64(rows.int(row, 1) ?? 0), Self.longestWait) * 1000
        }
        return remaining
    }
}
