import Sync
import SyncModel
import Testing

/// The rows of `realm-sync-protocol.md` §8.1.
@Suite("What an outer instruction does to an inner one")
struct NestedRuleTests {
    static let deep = Place("m", 2, "x").set(.int(1))

    static let discarded: [MergeRow] = [
        MergeRow(
            "a class that goes takes its objects along",
            .eraseClass(),
            meets: .create(),
            deep,
            .erase(2),
            .addField("f"),
            .create(1, of: "U"),
            gives: [.eraseClass()],
            and: [.create(1, of: "U")]
        ),
        MergeRow(
            "an object that goes takes its values along, also when they are later",
            .erase(),
            meets: deep,
            Place("li", 0).insert(.int(1), of: 0),
            Place("s", key: 2).set(.null),
            gives: [.erase()],
            and: [Place("s", key: 2).set(.null)]
        ),
        MergeRow(
            "a value that is set takes what was below it along",
            Place("m").set(.int(5)),
            meets: deep,
            gives: [Place("m").set(.int(5))],
            and: []
        ),
        MergeRow(
            "an addition takes what was below along",
            Place("m").add(5),
            meets: deep,
            gives: [Place("m").add(5)],
            and: []
        ),
        MergeRow(
            "what is cleared takes its elements along",
            Place("li").clear(),
            meets: Place("li", 0).insert(.int(1), of: 0),
            Place("li", 0).setElement(.int(1), of: 1),
            Place("li", 0).move(to: 1, of: 2),
            Place("li", 0).erase(of: 1),
            gives: [Place("li").clear()],
            and: []
        ),
        MergeRow(
            "an element that goes takes what is in it along",
            Place("m", 2).erase(of: 4),
            meets: deep,
            gives: [Place("m", 2).erase(of: 4)],
            and: []
        ),
        MergeRow(
            "a list takes what was in a dictionary along",
            Place("m").set(.list),
            meets: Place("m", "k").set(.int(1)),
            gives: [Place("m").set(.list)],
            and: []
        ),
        MergeRow(
            "a dictionary takes what was in a list along",
            Place("m").set(.dictionary),
            meets: Place("m", 0).insert(.int(1), of: 0),
            gives: [Place("m").set(.dictionary)],
            and: []
        ),
    ]

    @Test("discards", arguments: discarded)
    func discard(row: MergeRow) throws { try row.check() }

    static func untouched(_ name: String, _ outer: Instruction, _ inner: Instruction) -> MergeRow {
        MergeRow(name, outer, meets: inner, gives: [outer], and: [inner])
    }

    static let kept: [MergeRow] = [
        untouched(
            "an embedded object that is made",
            Place("e").set(.objectValue),
            Place("e", "x").set(.int(1))
        ),
        untouched("a list that is made", Place("m").set(.list), Place("m", 0).insert(.int(1), of: 0)),
        untouched("a dictionary that is made", Place("m").set(.dictionary), Place("m", "k").set(.int(1))),
        untouched("a class that is made", .addClass(), deep),
        untouched("a field that is made", .addField("m", .null, isNullable: true), deep),
        untouched("another field that goes", .eraseField("n"), deep),
        untouched("an object that is made", .create(), deep),
        untouched("an object of another key that goes", .erase(2), deep),
        untouched("another class that goes", .eraseClass("U"), deep),
        untouched("a value that is put into a set", Place("m").insertIntoSet(.int(1)), deep),
        untouched("a value that is taken out of a set", Place("m").eraseFromSet(.int(1)), deep),
        untouched("another field that is set", Place("n").set(.int(1)), deep),
        untouched("another element that is set", Place("m", 3).setElement(.int(1), of: 4), deep),
        untouched("an element inserted behind", Place("m", 3).insert(.int(1), of: 4), deep),
        untouched("an element erased behind", Place("m", 3).erase(of: 4), deep),
        untouched("elements moved behind", Place("m", 3).move(to: 4, of: 5), deep),
        untouched("a list elsewhere", Place("n", 0).insert(.int(1), of: 4), deep),
    ]

    @Test("leaves alone", arguments: kept)
    func keep(row: MergeRow) throws { try row.check() }

    static func shifted(_ name: String, _ outer: Instruction, to index: UInt32) -> MergeRow {
        var inner = Place("m", 2, "x")
        inner.address.path[0] = .index(index)
        return MergeRow(name, outer, meets: deep, gives: [outer], and: [inner.set(.int(1))])
    }

    static let moved: [MergeRow] = [
        shifted("an insert before", Place("m", 0).insert(.int(1), of: 4), to: 3),
        shifted("an insert at the place", Place("m", 2).insert(.int(1), of: 4), to: 3),
        shifted("an erasure before", Place("m", 1).erase(of: 4), to: 1),
        shifted("a move of the element to the front", Place("m", 2).move(to: 0, of: 4), to: 0),
        shifted("a move of the element to the end", Place("m", 2).move(to: 3, of: 4), to: 3),
        shifted("a move from before to behind", Place("m", 0).move(to: 3, of: 4), to: 1),
        shifted("a move from behind to before", Place("m", 3).move(to: 1, of: 4), to: 3),
    ]

    @Test("moves along", arguments: moved)
    func move(row: MergeRow) throws { try row.check() }

    static let diverged = [
        DivergedRow(
            "an index where the other side has a key",
            Place("m", 0).insert(.int(1), of: 1),
            meets: Place("m", "k", "x").set(.int(1))
        ),
        DivergedRow(
            "an index past the largest one",
            Place("m", 0).insert(.int(1), of: 1),
            meets: Place("m", 4_294_967_295, "x").set(.int(1))
        ),
    ]

    @Test("refuses", arguments: diverged)
    func refuse(row: DivergedRow) { row.check() }
}
