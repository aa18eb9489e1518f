import Errors
import Services
import Testing

@Suite("Token buckets")
struct TokenBucketTests {
    private static let second: Int64 = 1_000_000_000
    private let key = RateKey("ann")

    @Test("let a burst through, then the rate, and say how long to wait")
    func burst() {
        let buckets = TokenBuckets(.perSecond(2, burst: 3))
        for _ in 0..<3 { #expect(buckets.take(key, now: 0) == 0) }
        #expect(buckets.take(key, now: 0) == Self.second / 2)
        #expect(buckets.wait(key, now: Self.second / 4) == Self.second / 4)
        #expect(buckets.take(key, now: Self.second / 2) == 0)
        #expect(buckets.take(key, now: Self.second / 2) > 0)
        #expect(buckets.take(RateKey("bob"), now: 0) == 0)
        // A long rest saves up no more than a burst.
        for _ in 0..<3 { #expect(buckets.take(key, now: 1000 * Self.second) == 0) }
        #expect(buckets.take(key, now: 1000 * Self.second) > 0)
    }

    @Test("remember debts, up to a bound")
    func debts() {
        let buckets = TokenBuckets(.perSecond(1, burst: 2), debtLimit: 10 * Self.second)
        buckets.charge(key, 5, now: 0)
        #expect(buckets.wait(key, now: 0) == 4 * Self.second)
        buckets.charge(key, .max, now: 0)
        #expect(buckets.wait(key, now: 0) == 11 * Self.second)
        #expect(buckets.take(key, now: 11 * Self.second) == 0)
    }

    @Test("lock nobody out when the clock is set back")
    func clock() {
        let buckets = TokenBuckets(.perSecond(1, burst: 1))
        #expect(buckets.take(key, now: 1_000_000 * Self.second) == 0)
        #expect(buckets.wait(key, now: 0) <= 61 * Self.second)
    }

    @Test("keep a bounded number of keys, whatever comes")
    func bounded() {
        let buckets = TokenBuckets(.perSecond(1, burst: 1), capacity: 1600)
        for index in 0..<100_000 { _ = buckets.take(RateKey("\(index)"), now: 0) }
        #expect(buckets.count <= 3200)
        #expect(buckets.count > 800)
    }

    @Test("say how many whole seconds to wait")
    func refusal() {
        let refusal = TokenBuckets.refusal(wait: 1_200_000_000, "more than 1", limit: "some-limit")
        #expect(refusal.code == .tooManyRequests)
        #expect(refusal.details["retryAfter"] == "2")
        #expect(TokenBuckets.refusal(wait: 1, "", limit: "").details["retryAfter"] == "1")
    }
}

@Suite("Network addresses")
struct NetworkAddressTests {
    @Test(
        "are read as sockets and proxies write them",
        arguments: [
            ("192.0.2.1", "192.0.2.1"), (" 192.0.2.1:8080 ", "192.0.2.1"), ("::ffff:192.0.2.1", "192.0.2.1"),
            ("[2001:db8::1]:443", "2001:db8::1"), ("fe80::1%eth0", "fe80::1"),
            ("2001:DB8:0:0:0:0:0:1", "2001:db8::1"),
        ]
    )
    func forms(text: String, same: String) {
        #expect(NetworkAddress(text) != nil)
        #expect(NetworkAddress(text) == NetworkAddress(same))
    }

    @Test(
        "are nothing else",
        arguments: ["", "x", "unknown", "1.2.3", "1.2.3.4.5", "::g", "1.2.3.4/8", "999.1.1.1"]
    )
    func others(text: String) {
        #expect(NetworkAddress(text) == nil)
    }

    @Test("count as one client within an IPv6 /64, and alone in IPv4")
    func clients() throws {
        func key(_ text: String) throws -> RateKey { RateKey(try #require(NetworkAddress(text))) }
        #expect(try key("2001:db8:1:2::1") == key("2001:db8:1:2:ffff::9"))
        #expect(try key("2001:db8:1:2::1") != key("2001:db8:1:3::1"))
        #expect(try key("192.0.2.1") != key("192.0.2.2"))
        #expect(try key("192.0.2.1") == key("::ffff:192.0.2.1"))
    }

    @Test(
        "lie in ranges",
        arguments: [
            ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false),
            ("10.0.0.0/8", "::ffff:10.0.0.1", true), ("192.0.2.7", "192.0.2.7", true),
            ("192.0.2.7", "192.0.2.8", false), ("0.0.0.0/0", "203.0.113.9", true),
            ("0.0.0.0/0", "::1", false),
            ("2001:db8::/32", "2001:db8:ffff::1", true), ("2001:db8::/32", "2001:db9::1", false),
            ("::/0", "10.0.0.1", true), ("2001:db8::1/128", "2001:db8::1", true),
        ]
    )
    func ranges(range: String, address: String, isInside: Bool) throws {
        let range = try #require(NetworkRange(range))
        #expect(range.contains(try #require(NetworkAddress(address))) == isInside)
    }

    @Test(
        "are no ranges with bits beyond the prefix",
        arguments: ["10.0.0.1/8", "10.0.0.0/33", "::1/0", "10.0.0.0/x", "x/8", "10.0.0.0/-1"]
    )
    func badRanges(text: String) {
        #expect(NetworkRange(text) == nil)
    }
}
