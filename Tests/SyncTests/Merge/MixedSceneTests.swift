import Sync
import SyncModel
import Testing

/// Collections in mixed values that two devices change apart.
///
/// The cases are those of realm-core's `test_transform_collections_mixed.cpp`; each is played at every place where a
/// mixed value can be.
@Suite("Mixed values that meet")
struct MixedSceneTests {
    static let beginnings: [MixedRow] = [
        MixedRow(
            "a list begins twice",
            from: { [$0.set(.dictionary)] },
            { [$0.set(.list)] },
            .before,
            { [$0.set(.list), $0.add(.int(42), at: 0)] },
            gives: .ints(42)
        ),
        MixedRow(
            "a dictionary begins twice",
            from: { [$0.set(.list)] },
            { [$0.set(.dictionary)] },
            .after,
            { [$0.set(.dictionary), $0.put(.int(42), under: "key")] },
            gives: .keys(["key": .int(42)])
        ),
        MixedRow(
            "a list where the other side fills a dictionary",
            from: { [$0.set(.dictionary)] },
            { [$0.set(.list)] },
            .before,
            { [$0.put(.int(42), under: "key")] },
            gives: .list([])
        ),
        MixedRow(
            "a dictionary where the other side fills a list",
            from: { [$0.set(.list)] },
            { [$0.set(.dictionary)] },
            .before,
            { [$0.add(.int(42), at: 0)] },
            gives: .keys([:])
        ),
        MixedRow(
            "a text where the other side fills a list",
            from: { [$0.set(.list), $0.add(.int(1), at: 0), $0.add(.int(2), at: 1)] },
            { [$0.add(.int(3), at: 2)] },
            .after,
            { [$0.set(.text("value"))] },
            gives: .text("value")
        ),
        MixedRow(
            "a list before a number",
            { [$0.set(.list)] },
            .before,
            { [$0.set(.int(42))] },
            gives: .int(42)
        ),
        MixedRow(
            "a list after a number",
            { [$0.set(.list)] },
            .after,
            { [$0.set(.int(42))] },
            gives: .list([])
        ),
        MixedRow(
            "a dictionary before a number",
            { [$0.set(.dictionary)] },
            .before,
            { [$0.set(.int(42))] },
            gives: .int(42)
        ),
        MixedRow(
            "a dictionary after a number",
            { [$0.set(.dictionary)] },
            .after,
            { [$0.set(.int(42))] },
            gives: .keys([:])
        ),
        MixedRow(
            "two lists, the first one before",
            pair("a", "b"),
            .before,
            pair("c", "d"),
            gives: .texts("a", "b", "c", "d")
        ),
        MixedRow(
            "two lists, the first one after",
            pair("a", "b"),
            .after,
            pair("c", "d"),
            gives: .texts("c", "d", "a", "b")
        ),
        MixedRow(
            "two dictionaries",
            { [$0.set(.dictionary), $0.put(.text("a"), under: "key1"), $0.put(.text("b"), under: "key2")] },
            .before,
            { [$0.set(.dictionary), $0.put(.text("y"), under: "key2"), $0.put(.text("z"), under: "key3")] },
            gives: .keys(["key1": .text("a"), "key2": .text("y"), "key3": .text("z")])
        ),
        MixedRow(
            "a list after a dictionary",
            pair("a", "b"),
            .after,
            { [$0.set(.dictionary), $0.put(.text("a"), under: "key1")] },
            gives: .texts("a", "b")
        ),
        MixedRow(
            "a list before a dictionary",
            pair("a", "b"),
            .before,
            { [$0.set(.dictionary), $0.put(.text("a"), under: "key1")] },
            gives: .keys(["key1": .text("a")])
        ),
    ]

    static func pair(_ one: String, _ other: String) -> @Sendable (MixedSpot) -> [Instruction] {
        { [$0.set(.list), $0.add(.text(one), at: 0), $0.add(.text(other), at: 1)] }
    }

    static let clearings: [MixedRow] = [
        MixedRow(
            "a list cleared and filled before a text",
            from: { [$0.set(.list), $0.add(.int(1), at: 0)] },
            { [$0.clear(.list), $0.add(.int(3), at: 0)] },
            .before,
            { [$0.set(.text("value"))] },
            gives: .text("value")
        ),
        MixedRow(
            "a list cleared and filled where the other side fills one",
            from: { [$0.set(.dictionary), $0.put(.int(1), under: "key1")] },
            { [$0.set(.list), $0.add(.int(1), at: 0), $0.clear(.list), $0.add(.int(2), at: 0)] },
            .before,
            { [$0.set(.list), $0.add(.int(4), at: 0)] },
            gives: .ints(2)
        ),
        MixedRow(
            "a list cleared before a dictionary",
            from: { [$0.set(.list)] },
            { [$0.add(.int(1), at: 0), $0.clear(.list), $0.add(.int(3), at: 0)] },
            .before,
            { [$0.set(.dictionary), $0.put(.int(42), under: "key1")] },
            gives: .keys(["key1": .int(42)])
        ),
        MixedRow(
            "a dictionary cleared before a list",
            from: { [$0.set(.dictionary), $0.put(.int(1), under: "key1")] },
            { [$0.put(.int(3), under: "key3"), $0.clear(.dictionary), $0.put(.int(4), under: "key4")] },
            .before,
            { [$0.set(.list), $0.add(.int(1), at: 0)] },
            gives: .ints(1)
        ),
        MixedRow(
            "a dictionary cleared and filled where the other side fills one",
            from: { [$0.set(.list)] },
            {
                [
                    $0.set(.dictionary), $0.put(.int(1), under: "key1"), $0.clear(.dictionary),
                    $0.put(.int(2), under: "key2"),
                ]
            },
            .before,
            { [$0.set(.dictionary), $0.put(.int(3), under: "key3")] },
            gives: .keys(["key2": .int(2)])
        ),
        MixedRow(
            "a dictionary before an addition",
            isFieldOnly: true,
            from: { [$0.set(.int(42))] },
            { [$0.set(.dictionary), $0.put(.int(1), under: "key1"), $0.clear(.dictionary)] },
            .before,
            { [$0.place.add(1)] },
            gives: .keys([:])
        ),
        MixedRow(
            "a dictionary cleared before a number that is added to",
            isFieldOnly: true,
            from: { [$0.set(.dictionary), $0.put(.int(1), under: "key1")] },
            { [$0.clear(.dictionary), $0.put(.int(2), under: "key2")] },
            .before,
            { [$0.set(.int(42)), $0.place.add(1)] },
            gives: .int(43)
        ),
        MixedRow(
            "an addition before a text",
            isFieldOnly: true,
            from: { [$0.set(.int(0))] },
            { [$0.place.add(42)] },
            .before,
            { [$0.set(.text("test"))] },
            gives: .text("test")
        ),
        MixedRow(
            "an addition after a text",
            isFieldOnly: true,
            from: { [$0.set(.int(0))] },
            { [$0.place.add(42)] },
            .after,
            { [$0.set(.text("test"))] },
            gives: .text("test")
        ),
        MixedRow(
            "an addition after a list",
            isFieldOnly: true,
            from: { [$0.set(.int(0))] },
            { [$0.place.add(42)] },
            .after,
            { [$0.set(.list), $0.add(.int(1), at: 0)] },
            gives: .ints(1)
        ),
    ]

    @Test("beginnings", arguments: beginnings)
    func begin(row: MixedRow) throws {
        for spot in MixedSpot.all { try row.check(at: spot) }
    }

    @Test("clearings", arguments: clearings)
    func clear(row: MixedRow) throws {
        for spot in row.isFieldOnly ? [.field] : MixedSpot.all { try row.check(at: spot) }
    }

    typealias Steps = [@Sendable (MixedSpot) -> [Instruction]]

    /// Two changes of either side; they only have to agree, whatever the times.
    static let pairs: [(Steps, Steps)] = [
        (
            [{ [$0.set(.list), $0.add(.int(1), at: 0)] }, { [$0.clear(.list)] }],
            [{ [$0.set(.list), $0.add(.int(2), at: 0)] }, { [$0.clear(.list)] }]
        ),
        (
            [{ [$0.set(.list), $0.add(.int(42), at: 0)] }, { [$0.clear(.list)] }],
            [{ [$0.set(.dictionary), $0.put(.int(42), under: "key")] }, { [$0.clear(.dictionary)] }]
        ),
        (
            [
                { [$0.set(.dictionary), $0.put(.int(1), under: "key1")] },
                { [$0.clear(.dictionary), $0.put(.int(2), under: "key2")] },
            ],
            [{ [$0.set(.int(42))] }, { [$0.place.add(1)] }]
        ),
    ]

    @Test("agreement at all times", arguments: pairs)
    func agree(first: Steps, second: Steps) throws {
        for (one, other) in [(1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)] {
            let rest = [1, 2, 3, 4].filter { $0 != one && $0 != other }
            var scene = try MergeScene()
            for (step, time) in zip(first, [one, other]) {
                try scene.change(0, at: Int64(time), step(.field))
            }
            for (step, time) in zip(second, rest) { try scene.change(1, at: Int64(time), step(.field)) }
            try scene.meet()
            try scene.meet()
            scene.expectAgreement()
        }
    }
}
