import TestSupport
import Testing

@testable import Scripting

@Suite("Those who wait for a worker")
struct WaitingLineTests {
    /// The same, said plainly: everybody in one list, which each step looks through.
    private struct PlainLine {
        struct Place {
            let serial: Int
            let app: String
            let deadline: ContinuousClock.Instant
        }

        var places: [Place] = []
        var expired: [Int] = []

        func first(of app: String) -> Int? { places.first { $0.app == app }?.serial }

        mutating func withdraw(_ serial: Int) -> Int? {
            places.firstIndex { $0.serial == serial }.map { places.remove(at: $0).serial }
        }

        mutating func expire(at now: ContinuousClock.Instant) {
            let late = places.filter { $0.deadline <= now }.sorted {
                ($0.deadline, $0.serial) < ($1.deadline, $1.serial)
            }
            expired += late.map(\.serial)
            places.removeAll { $0.deadline <= now }
        }
    }

    @Test(
        "come, leave, are served and run out of time as if each step looked at all of them",
        arguments: 1...20
    )
    func model(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var line = WaitingLine<Int>()
        var plain = PlainLine()
        var now = ContinuousClock.now
        // Some rounds mostly fill, others mostly empty it; in some, times run out in the order of coming.
        for round in 0..<40 {
            let (fills, isEven) = (Int.random(in: 1...9, using: &random), round.isMultiple(of: 3))
            for _ in 0..<120 {
                let app = ["a", "b", "c"][Int.random(in: 0..<3, using: &random)]
                switch Int.random(in: 0..<14, using: &random) {
                case 0..<fills:
                    let patience = isEven ? 50 : Int.random(in: 1...100, using: &random)
                    let deadline = now + .milliseconds(patience)
                    line.append(line.lastSerial + 1, app: app, until: deadline)
                    plain.places.append(.init(serial: line.lastSerial, app: app, deadline: deadline))
                case fills..<11:
                    let first = plain.first(of: app)
                    #expect(line.takeFirst(of: app) == first)
                    if let first { _ = plain.withdraw(first) }
                case 11:
                    let serial = Int.random(in: 0...line.lastSerial + 1, using: &random)
                    #expect(line.withdraw(serial: serial) == plain.withdraw(serial))
                case 12:
                    now += .milliseconds(Int.random(in: 0...5, using: &random))
                    line.expire(at: now)
                    plain.expire(at: now)
                default:
                    #expect(Array(line.takeExpired(atMost: 3)) == Array(plain.expired.prefix(3)))
                    plain.expired.removeFirst(min(3, plain.expired.count))
                }
                #expect(line.count == plain.places.count && line.expiredCount == plain.expired.count)
            }
            for app in ["a", "b", "c"] {
                #expect(line.count(of: app) == plain.places.count { $0.app == app })
            }
            #expect(line.appCount == Set(plain.places.map(\.app)).count)
            #expect(line.first { _ in 0 } == plain.places.first?.app)
        }
        #expect(line.takeAll() == plain.expired + plain.places.map(\.serial))
        #expect(line.count == 0 && line.expiredCount == 0 && line.appCount == 0)
    }
}
