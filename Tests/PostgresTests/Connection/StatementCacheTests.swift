import Testing

@testable import Postgres

@Suite("Statement cache")
struct StatementCacheTests {
    private func key(_ text: String, _ types: [UInt32] = []) -> StatementKey {
        StatementKey(template: Array(text.utf8), types: types)
    }

    @Test("prepares a text once")
    func preparesOnce() {
        var cache = StatementCache(capacity: 3)
        let first = cache.lookup(key("a"))
        #expect(first.isNew)
        #expect(cache.lookup(key("a")) == .init(name: first.name, isNew: false))
    }

    @Test("tells statements of equal text and other types apart")
    func tellsTypes() {
        var cache = StatementCache(capacity: 3)
        #expect(cache.lookup(key("a", [25])).name != cache.lookup(key("a", [20])).name)
    }

    @Test("drops the one that was not used for longest")
    func dropsOldest() {
        var cache = StatementCache(capacity: 2)
        let first = cache.lookup(key("a"))
        let second = cache.lookup(key("b"))
        _ = cache.lookup(key("a"))
        _ = cache.lookup(key("c"))
        #expect(cache.takeDropped() == [second.name])
        #expect(cache.takeDropped() == [])
        #expect(cache.lookup(key("a")).name == first.name)
        #expect(cache.lookup(key("b")).isNew)
        #expect(cache.count == 2)
    }

    @Test("gives an invalid statement a new name")
    func invalidates() {
        var cache = StatementCache(capacity: 2)
        let first = cache.lookup(key("a"))
        cache.invalidate(key("a"))
        #expect(cache.takeDropped() == [first.name])
        let second = cache.lookup(key("a"))
        #expect(second.isNew)
        #expect(second.name != first.name)
    }

    @Test("it keeps apart texts that only look the same")
    func bytes() {
        var cache = StatementCache(capacity: 4)
        let composed = StatementKey(template: Array("SELECT FROM \"caf\u{e9}\"".utf8), types: [])
        let decomposed = StatementKey(template: Array("SELECT FROM \"cafe\u{301}\"".utf8), types: [])
        #expect(composed.text == decomposed.text, "Swift calls them equal")
        let first = cache.lookup(composed)
        let second = cache.lookup(decomposed)
        #expect(second.isNew)
        #expect(second.name != first.name)
    }
}
