import Accounts
import BSON
import Errors
import Foundation
import Synchronization
import Testing

@testable import Services

@Suite("What accounts remember")
struct AccountCacheTests {
    @Test("it keeps no more than it may, the newest first to stay")
    func capacity() {
        var cache = ExpiringCache<Int, Int>(capacity: 10)
        for key in 0..<1000 { cache.store(key, for: key, expiresAt: 100) }
        #expect(cache.count == 10)
        #expect((990..<1000).allSatisfy { cache.value($0, now: 0) == $0 })
        for _ in 0..<1000 {
            cache.remove(999)
            cache.store(1, for: 999, expiresAt: 100)
        }
        #expect(cache.count <= 10)
        #expect(cache.value(999, now: 0) == 1)
        #expect(cache.value(999, now: 100) == nil)
    }

    @Test("it stores nothing that was read before a change was heard")
    func generations() {
        let cache = PrincipalCache(capacity: 10)
        let user = User(
            appID: "a",
            profile: UserProfile(id: "u", kind: .normal, data: [:], customData: nil, identities: []),
            disabled: false,
            tokensValidFrom: 0
        )
        let key = UserKey(appID: "a", userID: "u")
        cache.store(user, read: cache.generation(), now: 0)
        #expect(cache.user(key, now: 0) == nil, "nothing is remembered before changes are heard")
        cache.beginAnew(isListening: true)
        let generation = cache.generation()
        cache.forget(key)
        cache.store(user, read: generation, now: 0)
        #expect(cache.user(key, now: 0) == nil)
        cache.store(user, read: cache.generation(), now: 0)
        #expect(cache.user(key, now: 0) != nil)
        #expect(cache.user(key, now: PrincipalCache.lifetime) == nil)
        cache.beginAnew(isListening: true)
        #expect(cache.user(key, now: 0) == nil)
    }

    @Test("it voids credentials whose check began before a change of their user")
    func moments() {
        let cache = CredentialCache(capacity: 3)
        let (one, two) = (UserKey(appID: "a", userID: "1"), UserKey(appID: "a", userID: "2"))
        let began = cache.moment()
        cache.store(one, digest: [1], began: began, expiresAt: 100)
        cache.store(two, digest: [2], began: began, expiresAt: 100)
        cache.forget(one)
        cache.store(one, digest: [3], began: began, expiresAt: 100)
        #expect(cache.user([1], now: 0) == nil)
        #expect(cache.user([3], now: 0) == nil)
        #expect(cache.user([2], now: 0) == two)
        cache.store(one, digest: [4], began: cache.moment(), expiresAt: 100)
        #expect(cache.user([4], now: 0) == one)
        // More changes than there is room for: everything goes, and nothing older comes back.
        for index in 0..<5 { cache.forget(UserKey(appID: "b", userID: "\(index)")) }
        #expect(cache.user([2], now: 0) == nil)
        cache.store(two, digest: [5], began: began, expiresAt: 100)
        #expect(cache.user([5], now: 0) == nil)
    }

    @Test("it tells credentials apart whose parts join to the same text")
    func digests() {
        let cache = CredentialCache(capacity: 3)
        let settings = AccountFixture.settings(appID: "5f0000000000000000000001")
        let one = cache.digest(.emailPassword(username: "ab", password: "c"), settings)
        #expect(one == cache.digest(.emailPassword(username: "ab", password: "c"), settings))
        #expect(one != cache.digest(.emailPassword(username: "a", password: "bc"), settings))
        #expect(
            one
                != cache.digest(
                    .emailPassword(username: "ab", password: "c"),
                    AccountFixture.settings(appID: "5f0000000000000000000002")
                )
        )
        #expect(cache.digest(.apiKey("x"), settings) != cache.digest(.customToken("x"), settings))
        #expect(
            one
                != CredentialCache(capacity: 3).digest(
                    .emailPassword(username: "ab", password: "c"),
                    settings
                )
        )
    }

    @Test("it gives up its turn when the caller leaves")
    func cancellation() async throws {
        let queue = PasswordQueue(width: 1, capacity: 10)
        let gate = DispatchSemaphore(value: 0)
        let first = Task { try await queue.run { _ = gate.wait(timeout: .now() + 10) } }
        while queue.running == 0 { try await Task.sleep(for: .milliseconds(1)) }
        let second = Task { try await queue.run { 2 } }
        while queue.waiting == 0 { try await Task.sleep(for: .milliseconds(1)) }
        second.cancel()
        await #expect(throws: ServiceError.self) { try await second.value }
        #expect(queue.waiting == 0)
        gate.signal()
        try await first.value
        #expect(try await queue.run { 3 } == 3)
    }
}
