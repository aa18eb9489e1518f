import Observability
import TestSupport
import Testing

@testable import Services

/// Which requests get a row, and which rows are kept: no database needed.
@Suite("Request log")
struct RequestLogTests {
    @Test(
        "takes the share of successful reads that the settings ask for",
        arguments: [(0, 0...0), (1, 2000...2000), (0.25, 400...600)]
    )
    func samples(share: Double, expected: ClosedRange<Int>) {
        let fixture = RequestLogFixture(.init(sampledShare: share))
        for number in 0..<2000 { fixture.log.take(fixture.record(number, status: 200)) }
        #expect(expected.contains(fixture.log.waiting), "\(fixture.log.waiting)")
    }

    @Test("takes successful writes unless the settings say otherwise", arguments: [true, false])
    func writes(includesWrites: Bool) {
        let fixture = RequestLogFixture(.init(sampledShare: 1, includesWrites: includesWrites))
        fixture.log.take(fixture.record(status: 201) { $0.mayWrite = true })
        #expect(fixture.log.waiting == (includesWrites ? 1 : 0))
    }

    @Test("takes every failure of an app", arguments: [400, 401, 403, 404, 413, 500, 504])
    func failures(status: Int) {
        let fixture = RequestLogFixture(.init(sampledShare: 0, includesWrites: false))
        for number in 0..<3000 { fixture.log.take(fixture.record(number, status: status)) }
        #expect(fixture.log.waiting == 3000)
    }

    @Test("takes no note of requests that succeed and belong to no app")
    func noApp() {
        let fixture = RequestLogFixture(.init(sampledShare: 1))
        fixture.log.take(
            fixture.record(status: 200, method: "GET", route: "/health") { $0.clientAppID = nil }
        )
        fixture.log.take(fixture.record(status: 204, route: "none") { $0.clientAppID = nil })
        #expect(fixture.log.waiting == 0)
    }

    @Test("takes few of a flood that names no app or is turned away, and counts the others")
    func floods() async {
        let fixture = RequestLogFixture()
        for number in 0..<3000 {
            fixture.log.take(fixture.record(number, status: 404) { $0.clientAppID = nil })
            fixture.log.take(fixture.record(number, status: 429))
        }
        #expect(fixture.log.waiting >= 600)
        #expect(fixture.log.waiting < 6000)
        let kept = fixture.log.waiting
        await fixture.log.flush(to: .nowhere, within: .zero)
        #expect(fixture.lost == [.limit: 6000 - kept, .full: kept])
        #expect(fixture.news == 2)
    }

    @Test("knows how far it is behind: by the oldest row, none when all are written")
    func lag() async {
        let fixture = RequestLogFixture()
        #expect(fixture.log.lag() == .zero)
        let first = fixture.record(1)
        fixture.log.take(first)
        fixture.log.take(fixture.record(2))
        let end = first.start + first.duration
        #expect(fixture.log.lag(at: end + .seconds(7)) == .seconds(7))
        // The end of the process drops what it cannot write.
        await fixture.log.flush(to: .nowhere, within: .zero)
        #expect(fixture.log.lag(at: end + .seconds(9)) == .zero)
    }

    @Test("drops the oldest rows beyond its capacity, and says so once")
    func bound() async {
        let fixture = RequestLogFixture(capacity: 10)
        for _ in 0..<2 {
            for number in 0..<25 { fixture.log.take(fixture.record(number)) }
            #expect(fixture.log.waiting == 10)
            await fixture.log.flush(to: .nowhere, within: .zero)
        }
        #expect(fixture.lost == [.full: 50])
        #expect(fixture.news == 1)
    }

    @Test("forgets the oldest first, also when rows are put back")
    func queue() {
        var queue = BoundedQueue<Int>(capacity: 4)
        let dropped = (1...5).map { queue.append($0) }
        #expect(dropped == [false, false, false, false, true])
        let taken = queue.take(2)
        #expect(taken == [2, 3])
        _ = queue.append(6)
        let lost = queue.putBack(taken)
        #expect(lost == 1)
        let rest = queue.take(10)
        #expect(rest == [3, 4, 5, 6])
        for number in 0..<10_000 { _ = queue.append(number) }
        #expect(queue.count == 4)
        let newest = queue.take(4)
        #expect(newest == [9996, 9997, 9998, 9999])
        #expect(queue.count == 0)
    }

    @Test("grants so many at once, and so many a second from then on")
    func allowance() {
        var allowance = LogAllowance(perSecond: 2, atOnce: 3)
        let start = ContinuousClock.now
        // A request that began before others is no reason to take anything back.
        let granted = [0, 0, 0, 0, 1, 1, 1, 0, 60, 60, 60, 60].map { second in
            allowance.take(at: start + .seconds(second))
        }
        #expect(
            granted == [true, true, true, false, true, true, false, false, true, true, true, false]
        )
    }
}
