import Accounts
import Errors
import Synchronization
import Testing

@testable import Services

@Suite("The throttle of logins")
struct LoginThrottleTests {
    private final class Clock: Sendable {
        let now = Mutex<Int64>(1_000_000_000)
        func pass(seconds: Int64) { now.withLock { $0 += seconds * 1_000_000_000 } }
    }

    private let clock = Clock()
    private let throttle: LoginThrottle
    private let home = NetworkAddress("192.0.2.1")
    private let attacker = NetworkAddress("203.0.113.9")

    init() {
        let clock = clock
        throttle = LoginThrottle(perAddress: 10, perAccount: 3, now: { clock.now.withLock { $0 } })
    }

    private func login(_ name: String) -> Credentials { .emailPassword(username: name, password: "x") }

    /// - Returns: The refusal; nil when the try was let through.
    private func fail(_ name: String, from address: NetworkAddress?) -> ServiceError? {
        do throws(ServiceError) {
            throttle.failed(try throttle.begin(login(name), appID: "app", from: address))
            return nil
        } catch {
            return error
        }
    }

    private func succeed(_ name: String, from address: NetworkAddress?) throws(ServiceError) {
        throttle.succeeded(try throttle.begin(login(name), appID: "app", from: address))
    }

    @Test("slows guesses at one account from one address")
    func account() {
        for _ in 0..<3 { #expect(fail("ann", from: attacker) == nil) }
        let refusal = fail("ann", from: attacker)
        #expect(refusal?.code == .tooManyRequests)
        #expect(refusal?.details["limit"] == "failed-logins-per-minute-per-account")
        #expect(refusal?.details["retryAfter"] == "20")
        #expect(fail("bob", from: attacker) == nil)
        clock.pass(seconds: 20)
        #expect(fail("ann", from: attacker) == nil)
        #expect(fail("ann", from: attacker) != nil)
    }

    @Test("slows guesses at many accounts from one address, an IPv6 /64 being one")
    func address() {
        for index in 0..<10 {
            #expect(fail("user\(index)", from: NetworkAddress("2001:db8::\(index + 1)")) == nil)
        }
        let refusal = fail("another", from: NetworkAddress("2001:db8::ffff"))
        #expect(refusal?.details["limit"] == "failed-logins-per-minute-per-address")
        #expect(fail("another", from: home) == nil)
    }

    @Test("does not let an attacker lock a user out")
    func victim() throws {
        try succeed("ann", from: home)
        // From as many addresses as it takes, for as long as it takes.
        for index in 0..<100 { _ = fail("ann", from: NetworkAddress("198.51.100.\(index)")) }
        #expect(fail("ann", from: NetworkAddress("198.51.100.200")) != nil, "strangers have to wait")
        try succeed("ann", from: home)
        clock.pass(seconds: 60)
        try succeed("ann", from: NetworkAddress("192.0.2.77"))
    }

    @Test("counts no success")
    func success() throws {
        for _ in 0..<100 { try succeed("ann", from: home) }
    }
}
