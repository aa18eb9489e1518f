import Sync
import SyncModel
import Testing

/// The rows of `realm-sync-protocol.md` §8.2 about single values, counters, sets and whole collections.
@Suite("Changes of one value that meet")
struct ValueRuleTests {
    static let place = Place("f")

    static func later(_ name: String, _ one: Instruction, _ other: Instruction) -> [MergeRow] {
        [
            MergeRow(name, .firstLater, one, meets: other, gives: [one], and: []),
            MergeRow(name, .secondLater, one, meets: other, gives: [], and: [other]),
        ]
    }

    static func always(_ name: String, _ winner: Instruction, over loser: Instruction) -> MergeRow {
        MergeRow(name, winner, meets: loser, gives: [winner], and: [])
    }

    static func both(_ name: String, _ one: Instruction, _ other: Instruction) -> MergeRow {
        MergeRow(name, one, meets: other, gives: [one], and: [other])
    }

    static let updates: [MergeRow] =
        later("two values", place.set(.int(1)), place.set(.int(2)))
        + later("two equal values", place.set(.int(1)), place.set(.int(1)))
        + later("a value and null", place.set(.null), place.set(.text("x")))
        + later("two defaults", place.set(.int(1), isDefault: true), place.set(.int(2), isDefault: true))
        + later("a list and a dictionary", place.set(.list), place.set(.dictionary))
        + later("a list and a value", place.set(.list), place.set(.int(1)))
        + later("one embedded object made twice", place.set(.objectValue), place.set(.objectValue))
        + later("a key set and removed", Place("d", "k").set(.int(1)), Place("d", "k").set(.erased))
        + later(
            "one element twice",
            Place("li", 1).setElement(.int(1), of: 2),
            Place("li", 1).setElement(.int(2), of: 2)
        )
        + [
            always("a default and a value", place.set(.int(1)), over: place.set(.int(2), isDefault: true)),
            always("null and an embedded object", place.set(.null), over: place.set(.objectValue)),
            always("a removed key and an embedded object", place.set(.erased), over: place.set(.objectValue)),
            always(
                "a default null and an embedded object",
                place.set(.null, isDefault: true),
                over: place.set(.objectValue)
            ),
            both("two lists", place.set(.list), place.set(.list)),
            both("two dictionaries", place.set(.dictionary, isDefault: true), place.set(.dictionary)),
            both("two fields", place.set(.int(1)), Place("g").set(.int(1))),
            both("two objects", place.set(.int(1)), Place("f", key: 2).set(.int(1))),
            both("two classes", place.set(.int(1)), Place("f", table: "U").set(.int(1))),
            both("two keys", Place("d", "k").set(.int(1)), Place("d", "l").set(.int(1))),
            both(
                "two elements",
                Place("li", 0).setElement(.int(1), of: 2),
                Place("li", 1).setElement(.int(2), of: 2)
            ),
        ]

    @Test("updates", arguments: updates)
    func update(row: MergeRow) throws { try row.check() }

    static let additions: [MergeRow] = [
        both("two additions", place.add(1), place.add(2)),
        MergeRow(
            "an addition after a set",
            .firstLater,
            place.add(3),
            meets: place.set(.int(4)),
            gives: [place.add(3)],
            and: [place.set(.int(7))]
        ),
        MergeRow(
            "an addition before a set",
            .secondLater,
            place.add(3),
            meets: place.set(.int(4)),
            gives: [],
            and: [place.set(.int(4))]
        ),
        MergeRow(
            "an addition and a default",
            place.add(3),
            meets: place.set(.int(4), isDefault: true),
            gives: [place.add(3)],
            and: [place.set(.int(7), isDefault: true)]
        ),
        MergeRow(
            "an addition after null",
            .firstLater,
            place.add(3),
            meets: place.set(.null),
            gives: [place.add(3)],
            and: [place.set(.null)]
        ),
        MergeRow(
            "an addition before null",
            .secondLater,
            place.add(3),
            meets: place.set(.null),
            gives: [],
            and: [place.set(.null)]
        ),
        MergeRow(
            "an addition after a text",
            .firstLater,
            place.add(3),
            meets: place.set(.text("x")),
            gives: [],
            and: [place.set(.text("x"))]
        ),
        MergeRow(
            "an addition after a list",
            .firstLater,
            place.add(3),
            meets: place.set(.list),
            gives: [],
            and: [place.set(.list)]
        ),
        MergeRow(
            "an addition after sets of null and of a number",
            .firstLater,
            place.add(3),
            meets: place.set(.null),
            place.set(.int(1)),
            gives: [place.add(3)],
            and: [place.set(.null), place.set(.int(4))]
        ),
        MergeRow(
            "an addition past the largest number",
            .firstLater,
            place.add(.max),
            meets: place.set(.int(.max)),
            gives: [place.add(.max)],
            and: [place.set(.int(-2))]
        ),
        always("a clearing and an addition", place.clear(), over: place.add(1)),
    ]

    @Test("additions", arguments: additions)
    func add(row: MergeRow) throws { try row.check() }

    static let clearings: [MergeRow] =
        later("a clearing and a value", place.clear(), place.set(.int(1)))
        + later("a list cleared and a dictionary", place.clear(.list), place.set(.dictionary))
        + later("a dictionary cleared and a list", place.clear(.dictionary), place.set(.list))
        + later("two clearings", place.clear(), place.clear())
        + later("clearings of two kinds", place.clear(.list), place.clear(.dictionary))
        + [
            both("a list cleared and a list", place.clear(.list), place.set(.list)),
            both("a dictionary cleared and a dictionary", place.clear(.dictionary), place.set(.dictionary)),
            both("clearings of two fields", place.clear(), Place("g").clear()),
            always("a set cleared and filled", place.clear(.set), over: place.insertIntoSet(.int(1))),
            always("a set cleared and taken from", place.clear(.set), over: place.eraseFromSet(.int(1))),
            both("two sets", place.clear(.set), Place("g").insertIntoSet(.int(1))),
            MergeRow(
                "two clearings and what came after each",
                .firstLater,
                place.clear(),
                Place("f", 0).insert(.int(1), of: 0),
                meets: place.clear(),
                Place("f", 0).insert(.int(2), of: 0),
                gives: [place.clear(), Place("f", 0).insert(.int(1), of: 0)],
                and: []
            ),
        ]

    @Test("clearings", arguments: clearings)
    func clear(row: MergeRow) throws { try row.check() }

    static let sets: [MergeRow] =
        later("one value put in twice", place.insertIntoSet(.int(1)), place.insertIntoSet(.int(1)))
        + later(
            "one value put in and taken out",
            place.insertIntoSet(.text("x")),
            place.eraseFromSet(.text("x"))
        )
        + later("one value taken out twice", place.eraseFromSet(.text("x")), place.eraseFromSet(.text("x")))
        + [
            both("two values put in", place.insertIntoSet(.int(1)), place.insertIntoSet(.int(2))),
            both("two values, one in and one out", place.insertIntoSet(.int(1)), place.eraseFromSet(.int(2))),
            both("two values taken out", place.eraseFromSet(.int(1)), place.eraseFromSet(.int(2))),
            both(
                "one number of two types",
                place.insertIntoSet(.int(1)),
                place.eraseFromSet(.double((1.0).bitPattern))
            ),
        ]

    @Test("sets", arguments: sets)
    func set(row: MergeRow) throws { try row.check() }

    @Test("decides equal times by the file")
    func equalTimes() throws {
        var left = [
            MergeEntry(changeset: Changeset([Self.place.set(.int(1))]), timestamp: 5, file: 7, version: 1)
        ]
        var right = [
            MergeEntry(changeset: Changeset([Self.place.set(.int(2))]), timestamp: 5, file: 3, version: 1)
        ]
        try Merge.transform(&left, &right)
        #expect(left[0].changeset.instructions == [Self.place.set(.int(1))])
        #expect(right[0].changeset.isEmpty)
    }

    static let diverged = [
        DivergedRow(
            "one element of lists of two sizes",
            Place("li", 0).setElement(.int(1), of: 2),
            meets: Place("li", 0).setElement(.int(1), of: 3)
        ),
        DivergedRow(
            "an element and a value",
            Place("li", 0).setElement(.int(1), of: 2),
            meets: Place("li", 0).set(.int(1))
        ),
    ]

    @Test("refuses", arguments: diverged)
    func refuse(row: DivergedRow) { row.check() }
}
