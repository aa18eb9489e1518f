import Testing

@testable import Scripting

/// Decisions of the pool, without processes.
@Suite("The state of the pool")
struct WorkerPoolStateTests {
    private typealias State = WorkerPoolState<String>
    private static let now = ContinuousClock.now

    private static func state(_ workers: Int, extra: Int = 0, waiting: Int = 10, perApp: Int = 10) -> State {
        State(
            limits: ScriptLimits(
                workers: workers,
                extraWorkers: extra,
                waiting: waiting,
                waitingPerApp: perApp,
                idle: .seconds(60)
            )
        )
    }

    private static func text(_ next: State.Next) -> String {
        switch next {
        case .keep: "keep"
        case .serve(let waiter): "serve \(waiter)"
        case .replace(let waiter, let number): "replace \(waiter) \(number)"
        case .end: "end"
        }
    }

    @Test("starts workers up to the maximum, then queues, then refuses")
    func growth() {
        var state = Self.state(2, waiting: 1)
        #expect(state.lease("1", app: "a", isNested: false) == .start(1, ending: nil))
        #expect(state.lease("2", app: "a", isNested: false) == .start(2, ending: nil))
        #expect(state.lease("3", app: "a", isNested: false) == .wait)
        #expect(state.lease("4", app: "a", isNested: false) == .refuse)
        #expect(Self.text(state.returned(1, at: Self.now)) == "serve 3")
        #expect(Self.text(state.returned(1, at: Self.now)) == "keep")
        #expect(state.lease("5", app: "a", isNested: false) == .run(on: 1))
    }

    @Test("forgets one who leaves the queue, wherever they stand, and serves the others in order")
    func leaving() {
        var state = Self.state(1, waiting: 1000, perApp: 1000)
        _ = state.lease("first", app: "a", isNested: false)
        var serials: [Int] = []
        for number in 0..<500 {
            #expect(state.lease("\(number)", app: "a", isNested: false) == .wait)
            serials.append(state.lastSerial)
        }
        for number in 0..<500 where number % 100 != 7 {
            #expect(state.withdraw(serial: serials[number]) == "\(number)")
            #expect(state.withdraw(serial: serials[number]) == nil)
        }
        #expect(state.waitingCount == 5)
        #expect(state.lease("last", app: "a", isNested: false) == .wait)
        for expected in ["7", "107", "207", "307", "407", "last"] {
            #expect(Self.text(state.returned(1, at: Self.now)) == "serve \(expected)")
        }
        #expect(Self.text(state.returned(1, at: Self.now)) == "keep")
        #expect(state.waitingCount == 0)
    }

    @Test("sets those apart whose time is up, to be told a few at a time, and serves the others in order")
    func overdue() {
        var state = Self.state(1, waiting: 300, perApp: 300)
        _ = state.lease("first", app: "a", isNested: false)
        for number in 0..<300 {
            let (app, patience) = (number < 290 ? "a" : "b", number % 10 == 5 ? 1 : number == 280 ? 3 : 9)
            let deadline = Self.now + .seconds(patience)
            #expect(state.lease("\(number)", app: app, isNested: false, until: deadline) == .wait)
        }
        state.expire(at: Self.now)
        #expect(state.waitingCount == 300)
        state.expire(at: Self.now + .seconds(2))
        #expect(state.waitingCount == 270)
        // They count as long as they have no answer.
        #expect(state.lease("one more", app: "a", isNested: false) == .refuse)
        #expect(state.takeExpired(atMost: 16).elementsEqual((0..<16).map { "\($0 * 10 + 5)" }))
        #expect(state.expiredCount == 14)
        #expect(state.lease("one more", app: "b", isNested: false) == .wait)
        #expect(state.takeExpired(atMost: 16).count == 14)
        #expect(state.takeExpired(atMost: 16).isEmpty)
        for expected in (0..<300).map(String.init).filter({ !$0.hasSuffix("5") }).prefix(200) {
            #expect(Self.text(state.returned(1, at: Self.now)) == "serve \(expected)")
        }
        state.expire(at: Self.now + .seconds(3))
        #expect(state.expiredCount == 1)
        #expect(state.drain().count == 71)
        #expect(state.waitingCount == 0 && state.expiredCount == 0)
    }

    @Test("prefers the worker that was busy last")
    func warm() {
        var state = Self.state(2)
        _ = state.lease("1", app: "a", isNested: false)
        _ = state.lease("2", app: "a", isNested: false)
        _ = state.returned(2, at: Self.now)
        _ = state.returned(1, at: Self.now + .seconds(1))
        #expect(state.lease("3", app: "a", isNested: false) == .run(on: 1))
    }

    @Test("prefers the worker that is read where the caller is, though another was busy last")
    func nearness() {
        final class Place {}
        let (left, right) = (Place(), Place())
        var state = Self.state(2)
        for (number, home) in [(1, left), (2, right)] {
            _ = state.lease("\(number)", app: "a", isNested: false)
            state.settle(number, at: ObjectIdentifier(home))
        }
        _ = state.returned(1, at: Self.now)
        _ = state.returned(2, at: Self.now + .seconds(1))
        #expect(state.leaseIdle(app: "a", isNested: false, here: ObjectIdentifier(left)) == 1)
        #expect(state.leaseIdle(app: "a", isNested: false, here: ObjectIdentifier(left)) == 2)
    }

    @Test("takes the place of an idle worker of another app")
    func givesWay() {
        var state = Self.state(1)
        _ = state.lease("1", app: "a", isNested: false)
        _ = state.returned(1, at: Self.now)
        #expect(state.lease("2", app: "b", isNested: false) == .start(2, ending: 1))
        #expect(Self.text(state.returned(1, at: Self.now)) == "end")
        #expect(state.lease("3", app: "a", isNested: false) == .wait)
        #expect(Self.text(state.returned(2, at: Self.now)) == "replace 3 3")
    }

    @Test("lets the app with the fewest workers at work go first")
    func fairness() {
        var state = Self.state(2)
        _ = state.lease("1", app: "a", isNested: false)
        _ = state.lease("2", app: "a", isNested: false)
        _ = state.lease("3", app: "a", isNested: false)
        _ = state.lease("4", app: "b", isNested: false)
        #expect(Self.text(state.returned(1, at: Self.now)) == "replace 4 3")
        #expect(Self.text(state.returned(2, at: Self.now)) == "serve 3")
    }

    @Test("bounds what one app may have waiting")
    func perApp() {
        var state = Self.state(1, perApp: 1)
        _ = state.lease("1", app: "a", isNested: false)
        #expect(state.lease("2", app: "a", isNested: false) == .wait)
        #expect(state.lease("3", app: "a", isNested: false) == .refuse)
        #expect(state.lease("4", app: "b", isNested: false) == .wait)
    }

    @Test("gives nested calls an allowance, and never lets them wait")
    func nested() {
        var state = Self.state(1, extra: 1)
        _ = state.lease("1", app: "a", isNested: false)
        _ = state.lease("2", app: "a", isNested: false)
        #expect(state.lease("3", app: "a", isNested: true) == .start(2, ending: nil))
        #expect(state.lease("4", app: "a", isNested: true) == .refuse)
        // Beyond the maximum, a worker is not kept.
        #expect(Self.text(state.returned(2, at: Self.now)) == "end")
        #expect(Self.text(state.returned(1, at: Self.now)) == "serve 2")
    }

    @Test("replaces a worker that ended for those who wait")
    func lost() {
        var state = Self.state(1)
        _ = state.lease("1", app: "a", isNested: false)
        _ = state.lease("2", app: "a", isNested: false)
        #expect(Self.text(state.lost(1)) == "replace 2 2")
        #expect(Self.text(state.lost(1)) == "keep")
        #expect(Self.text(state.lost(2)) == "keep")
        #expect(state.isEmpty)
    }

    @Test("retires what is idle for long, and drains")
    func retirement() {
        var state = Self.state(2)
        _ = state.lease("1", app: "a", isNested: false)
        _ = state.lease("2", app: "a", isNested: false)
        _ = state.returned(1, at: Self.now)
        #expect(state.elapsed(Self.now + .seconds(59)) == [])
        #expect(state.elapsed(Self.now + .seconds(60)) == [1])
        _ = state.lease("3", app: "a", isNested: false)
        _ = state.lease("4", app: "a", isNested: false)
        #expect(state.drain() == ["4"])
        #expect(state.lease("5", app: "a", isNested: false) == .refuse)
        #expect(Self.text(state.returned(2, at: Self.now)) == "end")
    }

    @Test("gives timers out by time, equal ones by order, cleared ones never")
    func timers() {
        var queue = TimerQueue()
        for id in 1...50 { queue.set(Int32(id), due: Self.now + .milliseconds(50 - id / 2)) }
        queue.clear(50)
        queue.set(49, due: Self.now)
        #expect(queue.take(at: Self.now - .seconds(1)) == nil)
        var seen: [Int32] = []
        while let id = queue.take(at: Self.now + .seconds(1)) { seen.append(id) }
        #expect(seen.count == 49)
        #expect(seen.prefix(4) == [49, 48, 46, 47])
        #expect(queue.isEmpty)
    }
}

extension WorkerPoolState {
    /// Of somebody who has all the time in the world.
    fileprivate mutating func lease(_ waiter: Waiter, app: String, isNested: Bool) -> Lease {
        lease(waiter, app: app, isNested: isNested, until: .now + .seconds(3600))
    }
}
