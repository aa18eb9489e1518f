import Testing

@testable import Postgres

@Suite("Pool state machine")
struct PoolStateMachineTests {
    private typealias Machine = PoolStateMachine<String>

    private func machine(connections: Int = 2, waiting: Int = 3) -> Machine {
        Machine(limits: .init(maxConnections: connections, maxWaiting: waiting), tags: 2)
    }

    private func served(_ decision: Machine.Return) -> String? {
        if case .serve(let waiter) = decision { waiter } else { nil }
    }

    @Test("opens one connection for each who waits, up to its bound")
    func grows() {
        var pool = machine()
        #expect(pool.lease("a", expiry: 10) == .wait(opening: 0))
        #expect(pool.lease("b", expiry: 10) == .wait(opening: 1))
        #expect(pool.lease("c", expiry: 10) == .wait(opening: nil))
        #expect(served(pool.opened(0)) == "a")
        #expect(served(pool.opened(1)) == "b")
        #expect(served(pool.returned(0)) == "c")
        #expect(pool.leasedCount == 2)
    }

    @Test("lends the connection that was used last")
    func lendsWarm() {
        var pool = machine()
        _ = pool.lease("a", expiry: 10)
        _ = pool.lease("b", expiry: 10)
        _ = pool.opened(0)
        _ = pool.opened(1)
        _ = pool.returned(1)
        _ = pool.returned(0)
        #expect(pool.lease("c", expiry: 10) == .run(on: 0))
        #expect(pool.lease("d", expiry: 10) == .run(on: 1))
    }

    @Test("prefers an idle connection of the kind asked for, and takes another rather than none")
    func prefersKind() {
        var pool = machine()
        _ = pool.lease("a", expiry: 10)
        _ = pool.lease("b", expiry: 10)
        _ = pool.opened(0)
        _ = pool.opened(1)
        _ = pool.returned(0, tag: 1)
        _ = pool.returned(1, tag: 0)
        #expect(pool.lease("c", tag: 1, expiry: 10) == .run(on: 0))
        #expect(pool.lease("d", tag: 1, expiry: 10) == .run(on: 1))
    }

    @Test("serves a waiter of the free connection's kind first, but lets nobody starve")
    func servesKind() {
        var pool = Machine(limits: .init(maxConnections: 1, maxWaiting: 100), tags: 2)
        _ = pool.lease("first", expiry: 10)
        _ = pool.opened(0)
        _ = pool.lease("head", tag: 0, expiry: 10)
        var overtakers = 0
        for number in 0..<40 { _ = pool.lease("other \(number)", tag: 1, expiry: 10) }
        while let waiter = served(pool.returned(0, tag: 1)), waiter != "head" {
            #expect(waiter == "other \(overtakers)")
            overtakers += 1
        }
        #expect(overtakers == 16)
        #expect(served(pool.returned(0, tag: 1)) == "other 16")
    }

    @Test("refuses when the queue is full")
    func refuses() {
        var pool = machine(connections: 1, waiting: 2)
        _ = pool.lease("a", expiry: 10)
        _ = pool.lease("b", expiry: 10)
        #expect(pool.lease("c", expiry: 10) == .refuseFull)
        #expect(pool.waitingCount == 2)
    }

    @Test("gives up those who have waited too long, and nobody else")
    func expires() {
        var pool = machine(connections: 1)
        _ = pool.lease("a", expiry: 30)
        _ = pool.lease("b", expiry: 10)
        #expect(pool.nextTimer == 10)
        #expect(pool.elapsed(now: 9) == [])
        #expect(pool.elapsed(now: 10) == ["b"])
        #expect(pool.nextTimer == 30)
    }

    @Test("tries again at growing distances, one attempt at a time, while somebody waits")
    func backsOff() {
        var pool = machine()
        _ = pool.lease("a", expiry: .max)
        _ = pool.lease("b", expiry: .max)
        #expect(pool.failedToOpen(0, now: 0, jitter: 1) == 50_000_000)
        #expect(pool.failedToOpen(1, now: 0, jitter: 1) == 100_000_000)
        #expect(pool.grow() == nil)
        #expect(pool.elapsed(now: 100_000_000) == [])
        #expect(pool.grow() == 0)
        #expect(pool.grow() == nil)
        #expect(pool.failedToOpen(0, now: 0, jitter: 0) == 100_000_000)
        for _ in 0..<20 {
            _ = pool.elapsed(now: 1 << 60)
            _ = pool.grow()
            _ = pool.failedToOpen(0, now: 0, jitter: 1)
        }
        #expect(pool.nextTimer == 5_000_000_000)
        _ = pool.elapsed(now: 5_000_000_000)
        #expect(pool.grow() == 0)
        #expect(served(pool.opened(0)) == "a")
        #expect(pool.failureCount == 0)
        #expect(pool.grow() == 1)
    }

    @Test("does not try to connect when nobody needs it")
    func rests() {
        var pool = machine()
        _ = pool.lease("a", expiry: 5)
        _ = pool.elapsed(now: 5)
        #expect(pool.failedToOpen(0, now: 6, jitter: 0) == nil)
        #expect(pool.nextTimer == .max)
    }

    @Test("replaces a lost connection for those who wait")
    func replaces() {
        var pool = machine(connections: 1)
        _ = pool.lease("a", expiry: 10)
        _ = pool.opened(0)
        _ = pool.lease("b", expiry: 10)
        pool.lost(0)
        #expect(pool.grow() == 0)
        #expect(served(pool.opened(0)) == "b")
        _ = pool.returned(0)
        pool.lost(0)
        #expect(pool.idleCount == 0)
        #expect(pool.grow() == nil)
    }

    @Test("takes back a wish")
    func withdraws() {
        var pool = machine(connections: 1)
        _ = pool.lease("a", expiry: 10)
        #expect(pool.withdraw { $0 == "a" })
        #expect(!pool.withdraw { $0 == "a" })
        #expect(served(pool.opened(0)) == nil)
        #expect(pool.idleCount == 1)
    }

    @Test("drains: idle ones at once, leased ones as they come back, nobody new")
    func drains() {
        var pool = machine()
        _ = pool.lease("a", expiry: 10)
        _ = pool.lease("b", expiry: 10)
        _ = pool.opened(0)
        _ = pool.opened(1)
        _ = pool.returned(1)
        let (waiters, closing) = pool.drain()
        #expect(waiters.isEmpty)
        #expect(closing == [1])
        #expect(!pool.isDrained)
        #expect(pool.lease("c", expiry: 10) == .refuseClosed)
        if case .close = pool.returned(0) {} else { Issue.record("a returned connection stays open") }
        #expect(pool.isDrained)
    }
}
