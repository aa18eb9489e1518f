import Sync
import SyncModel
import Testing

/// What a server keeps for one device while the device does not hear of it.
@Suite("The history that a device meets")
struct ReciprocalHistoryTests {
    static func entry(_ version: UInt64, file: UInt64, at time: Int64, _ instructions: Instruction...)
        -> MergeEntry
    {
        MergeEntry(changeset: Changeset(instructions), timestamp: time, file: file, version: version)
    }

    static func insert(_ index: UInt32, _ value: Int64, of size: UInt32) -> Instruction {
        Place("li", Step.index(index)).insert(.int(value), of: size)
    }

    static let served = [
        entry(4, file: 1, at: 10, insert(0, 1, of: 0)),
        entry(5, file: 3, at: 11, Place("s").set(.text("x"))),
        entry(6, file: 1, at: 12, insert(1, 2, of: 1)),
    ]

    @Test("meets each change in the form that the last one left")
    func successive() throws {
        var history = ReciprocalHistory(Self.served)
        let first = try history.integrate([
            .init(Self.entry(1, file: 2, at: 20, Self.insert(0, 7, of: 0)), base: 3)
        ])
        #expect(first.map(\.changeset.instructions) == [[Self.insert(2, 7, of: 2)]])
        #expect(history.entries.filter(\.isRewritten).map(\.version) == [4, 6])
        let second = try history.integrate([
            .init(Self.entry(2, file: 2, at: 21, Self.insert(1, 8, of: 1)), base: 3)
        ])
        #expect(second.map(\.changeset.instructions) == [[Self.insert(3, 8, of: 3)]])
    }

    @Test("leaves out what a change was made with")
    func bases() throws {
        var history = ReciprocalHistory(Self.served)
        let result = try history.integrate([
            .init(Self.entry(1, file: 2, at: 20, Self.insert(0, 7, of: 0)), base: 3),
            .init(Self.entry(2, file: 2, at: 21, Self.insert(0, 8, of: 2)), base: 5),
        ])
        #expect(
            result.map(\.changeset.instructions) == [[Self.insert(2, 7, of: 2)], [Self.insert(0, 8, of: 3)]]
        )
        #expect(result.map(\.version) == [1, 2])
        history.acknowledge(5)
        #expect(history.entries.map(\.version) == [6])
    }

    @Test("takes what knows of everything as it is")
    func current() throws {
        var history = ReciprocalHistory(Self.served)
        let change = Self.entry(1, file: 2, at: 1, Self.insert(0, 7, of: 2))
        #expect(try history.integrate([.init(change, base: 6)]) == [change])
        #expect(history.entries == Self.served)
    }

    @Test("is what it was after a fault")
    func fault() throws {
        var history = ReciprocalHistory(Self.served)
        let good = ReciprocalHistory.Incoming(
            Self.entry(1, file: 2, at: 20, Self.insert(0, 7, of: 0)),
            base: 3
        )
        let bad = ReciprocalHistory.Incoming(
            Self.entry(2, file: 2, at: 20, Self.insert(0, 7, of: 9)),
            base: 5
        )
        let fault = #expect(throws: SyncFault.self) { try history.integrate([good, bad]) }
        #expect(fault?.code == .badChangeset)
        #expect(history.entries == Self.served)
    }

    @Test("gives up past the limit, and counts nothing for other objects")
    func limit() throws {
        func changes(_ keys: Range<Int64>, file: UInt64) -> MergeEntry {
            let all = keys.map { Place("i", key: $0).set(.int(1)) }
            return MergeEntry(changeset: Changeset(all), timestamp: 1, file: file, version: 1)
        }
        var history = ReciprocalHistory([changes(0..<1000, file: 1)])
        _ = try history.integrate([.init(changes(1000..<2000, file: 2), base: 0)], limit: 0)
        _ = try history.integrate([.init(changes(990..<1000, file: 2), base: 0)], limit: 10)
        let fault = #expect(throws: SyncFault.self) {
            try history.integrate([.init(changes(0..<11, file: 2), base: 0)], limit: 10)
        }
        #expect(fault?.code == .badChangeset)
    }
}
