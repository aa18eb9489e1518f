import Sync
import SyncModel
import Testing

/// The rows of `realm-sync-protocol.md` §8.2 about lists, each held against what really happens to a list.
@Suite("Changes of one list that meet")
struct ListRuleTests {
    static func at(_ index: UInt32) -> Place { Place("li", Step.index(index)) }
    static func set(_ index: UInt32, of size: UInt32 = 4) -> Instruction {
        at(index).setElement(.int(9), of: size)
    }
    static func insert(_ index: UInt32, _ value: Int64 = 9, of size: UInt32 = 4) -> Instruction {
        at(index).insert(.int(value), of: size)
    }
    static func move(_ index: UInt32, _ target: UInt32, of size: UInt32 = 4) -> Instruction {
        at(index).move(to: target, of: size)
    }
    static func erase(_ index: UInt32, of size: UInt32 = 4) -> Instruction { at(index).erase(of: size) }

    static let rows: [MergeRow] = [
        MergeRow("insert before a set", insert(1), meets: set(2), gives: [insert(1)], and: [set(3, of: 5)]),
        MergeRow("insert at a set", insert(2), meets: set(2), gives: [insert(2)], and: [set(3, of: 5)]),
        MergeRow("insert behind a set", insert(3), meets: set(2), gives: [insert(3)], and: [set(2, of: 5)]),
        MergeRow("move of what is set", move(2, 0), meets: set(2), gives: [move(2, 0)], and: [set(0)]),
        MergeRow("move across what is set", move(0, 3), meets: set(2), gives: [move(0, 3)], and: [set(1)]),
        MergeRow(
            "move back across what is set",
            move(3, 1),
            meets: set(2),
            gives: [move(3, 1)],
            and: [set(3)]
        ),
        MergeRow("move beside what is set", move(3, 2), meets: set(1), gives: [move(3, 2)], and: [set(1)]),
        MergeRow("erase of what is set", erase(2), meets: set(2), gives: [erase(2)], and: []),
        MergeRow("erase before a set", erase(1), meets: set(2), gives: [erase(1)], and: [set(1, of: 3)]),
        MergeRow("erase behind a set", erase(3), meets: set(2), gives: [erase(3)], and: [set(2, of: 3)]),
        MergeRow(
            "inserts at two places",
            insert(1),
            meets: insert(3),
            gives: [insert(1, of: 5)],
            and: [insert(4, of: 5)]
        ),
        MergeRow(
            "inserts at one place",
            .firstLater,
            insert(1),
            meets: insert(1),
            gives: [insert(2, of: 5)],
            and: [insert(1, of: 5)]
        ),
        MergeRow(
            "inserts at one place",
            .secondLater,
            insert(1),
            meets: insert(1),
            gives: [insert(1, of: 5)],
            and: [insert(2, of: 5)]
        ),
        MergeRow(
            "move and insert before both",
            move(2, 3),
            meets: insert(1),
            gives: [move(3, 4, of: 5)],
            and: [insert(1)]
        ),
        MergeRow(
            "move and insert between",
            move(0, 3),
            meets: insert(2),
            gives: [move(0, 4, of: 5)],
            and: [insert(1)]
        ),
        MergeRow(
            "move back and insert between",
            move(3, 0),
            meets: insert(2),
            gives: [move(4, 0, of: 5)],
            and: [insert(3)]
        ),
        MergeRow(
            "move and insert behind both",
            move(0, 1),
            meets: insert(4),
            gives: [move(0, 1, of: 5)],
            and: [insert(4)]
        ),
        MergeRow(
            "a later move to where is inserted",
            .firstLater,
            move(3, 1),
            meets: insert(1),
            gives: [move(4, 1, of: 5)],
            and: [insert(2)]
        ),
        MergeRow(
            "an earlier move to where is inserted",
            .secondLater,
            move(3, 1),
            meets: insert(1),
            gives: [move(4, 2, of: 5)],
            and: [insert(1)]
        ),
        MergeRow(
            "erase before an insert",
            erase(1),
            meets: insert(2),
            gives: [erase(1, of: 5)],
            and: [insert(1, of: 3)]
        ),
        MergeRow(
            "erase at an insert",
            erase(2),
            meets: insert(2),
            gives: [erase(3, of: 5)],
            and: [insert(2, of: 3)]
        ),
        MergeRow(
            "erase behind an insert",
            erase(3),
            meets: insert(2),
            gives: [erase(4, of: 5)],
            and: [insert(2, of: 3)]
        ),
        MergeRow(
            "one element moved twice",
            .firstLater,
            move(1, 3),
            meets: move(1, 0),
            gives: [move(0, 3)],
            and: []
        ),
        MergeRow(
            "one element moved twice",
            .secondLater,
            move(1, 3),
            meets: move(1, 0),
            gives: [],
            and: [move(3, 0)]
        ),
        MergeRow("one element moved twice to one place", move(1, 3), meets: move(1, 3), gives: [], and: []),
        MergeRow(
            "two elements moved apart",
            move(0, 3),
            meets: move(2, 1),
            gives: [move(0, 3)],
            and: [move(1, 0)]
        ),
        MergeRow(
            "two elements moved to one place",
            .firstLater,
            move(0, 2),
            meets: move(3, 2),
            gives: [move(0, 3)],
            and: [move(3, 1)]
        ),
        MergeRow("erase of what is moved", erase(1), meets: move(1, 3), gives: [erase(3)], and: []),
        MergeRow(
            "erase before what is moved",
            erase(0),
            meets: move(1, 3),
            gives: [erase(0)],
            and: [move(0, 2, of: 3)]
        ),
        MergeRow("erase between", erase(2), meets: move(1, 3), gives: [erase(1)], and: [move(1, 2, of: 3)]),
        MergeRow(
            "erase that leaves nothing to move",
            erase(2),
            meets: move(1, 2),
            gives: [erase(1)],
            and: []
        ),
        MergeRow(
            "erase behind what is moved",
            erase(3),
            meets: move(1, 2),
            gives: [erase(3)],
            and: [move(1, 2, of: 3)]
        ),
        MergeRow("two erased", erase(1), meets: erase(3), gives: [erase(1, of: 3)], and: [erase(2, of: 3)]),
        MergeRow("one erased twice", erase(1), meets: erase(1), gives: [], and: []),
        MergeRow(
            "lists of two fields",
            insert(1),
            meets: Place("le", 0).erase(of: 1),
            gives: [insert(1)],
            and: [Place("le", 0).erase(of: 1)]
        ),
        MergeRow(
            "clearing of what is pushed back",
            insert(1),
            meets: at(2).clear(),
            gives: [insert(1)],
            and: [at(3).clear()]
        ),
        MergeRow(
            "clearing of what is moved",
            move(2, 0),
            meets: at(2).clear(.dictionary),
            gives: [move(2, 0)],
            and: [at(0).clear(.dictionary)]
        ),
        MergeRow("clearing of what is erased", erase(2), meets: at(2).clear(), gives: [erase(2)], and: []),
        MergeRow(
            "clearing behind what is erased",
            erase(1),
            meets: at(2).clear(),
            gives: [erase(1)],
            and: [at(1).clear()]
        ),
        MergeRow(
            "lists inside two elements",
            Place("m", 0, 1).insert(.int(1), of: 1),
            meets: Place("m", 1, 0).erase(of: 2),
            gives: [Place("m", 0, 1).insert(.int(1), of: 1)],
            and: [Place("m", 1, 0).erase(of: 2)]
        ),
    ]

    @Test("merges", arguments: rows)
    func merge(row: MergeRow) throws { try row.check() }

    static let diverged: [DivergedRow] = [
        DivergedRow("sizes of an insert and a set", insert(0, of: 4), meets: set(0, of: 5)),
        DivergedRow("sizes of inserts", insert(0, of: 4), meets: insert(0, of: 5)),
        DivergedRow("sizes of a move and an insert", move(0, 1, of: 4), meets: insert(0, of: 5)),
        DivergedRow("sizes of a move and a set", move(0, 1, of: 4), meets: set(0, of: 5)),
        DivergedRow("sizes of moves", move(0, 1, of: 4), meets: move(0, 1, of: 5)),
        DivergedRow("sizes of an erasure and an insert", erase(0, of: 4), meets: insert(0, of: 5)),
        DivergedRow("sizes of an erasure and a move", erase(0, of: 4), meets: move(0, 1, of: 5)),
        DivergedRow("sizes of erasures", erase(0, of: 4), meets: erase(0, of: 5)),
        DivergedRow("an insert past the end", insert(5), meets: set(0)),
        DivergedRow("a set past the end", insert(0), meets: set(4)),
        DivergedRow("a move past the end", move(4, 0), meets: set(0)),
        DivergedRow("a move to past the end", move(0, 4), meets: set(0)),
        DivergedRow("an erasure past the end", erase(4), meets: set(0)),
        DivergedRow(
            "a list without room",
            insert(0, of: 4_294_967_295),
            meets: insert(0, of: 4_294_967_295)
        ),
    ]

    @Test("refuses", arguments: diverged)
    func refuse(row: DivergedRow) { row.check() }
}
