import BSON
import Sync
import SyncModel
import Testing

/// The rows of `realm-sync-protocol.md` §8.2 about classes, columns and objects.
@Suite("Definitions and objects that meet")
struct SchemaRuleTests {
    static let rows: [MergeRow] = [
        MergeRow("one class twice", .addClass(), meets: .addClass(), gives: [], and: []),
        MergeRow(
            "one embedded class twice",
            .addTable(ByteText("E"), .embedded),
            meets: .addTable(ByteText("E"), .embedded),
            gives: [],
            and: []
        ),
        MergeRow(
            "two classes",
            .addClass("T"),
            meets: .addClass("U"),
            gives: [.addClass("T")],
            and: [.addClass("U")]
        ),
        MergeRow("a class that goes", .eraseClass(), meets: .addClass(), gives: [.eraseClass()], and: []),
        MergeRow("a class that goes twice", .eraseClass(), meets: .eraseClass(), gives: [], and: []),
        MergeRow(
            "a link to a class that goes",
            .eraseClass("X"),
            .create(1),
            meets: .addField("f", .link, to: "X"),
            Place("f").set(.link(Place.object(9, of: "X"))),
            gives: [.eraseField("f"), .eraseClass("X"), .create(1)],
            and: []
        ),
        MergeRow(
            "two links to a class that goes",
            .eraseClass("X"),
            meets: .addField("f", .link, to: "X"),
            .addField("g", .link, .list, to: "X"),
            gives: [.eraseField("f"), .eraseField("g"), .eraseClass("X")],
            and: []
        ),
        MergeRow("one field twice", .addField("f"), meets: .addField("f"), gives: [], and: []),
        MergeRow(
            "fields of two names",
            .addField("f"),
            meets: .addField("g", .string),
            gives: [.addField("f")],
            and: [.addField("g", .string)]
        ),
        MergeRow(
            "a field that goes",
            .eraseField("f"),
            meets: .addField("f"),
            gives: [.eraseField("f")],
            and: []
        ),
        MergeRow("a field that goes twice", .eraseField("f"), meets: .eraseField("f"), gives: [], and: []),
        MergeRow(
            "an update of a field that goes",
            .eraseField("f"),
            meets: Place("f").set(.int(1)),
            Place("f", 0).insert(.int(1), of: 0),
            Place("f").add(1),
            Place("g").set(.int(1)),
            Place("f", table: "U").set(.int(1)),
            gives: [.eraseField("f")],
            and: [Place("g").set(.int(1)), Place("f", table: "U").set(.int(1))]
        ),
        MergeRow("an object made twice", .create(), meets: .create(), gives: [.create()], and: [.create()]),
        MergeRow("an object that goes", .erase(), meets: .create(), gives: [.erase()], and: []),
        MergeRow(
            "an object that goes and another that comes",
            .erase(1),
            meets: .create(2),
            gives: [.erase(1)],
            and: [.create(2)]
        ),
        MergeRow(
            "an object that goes twice",
            .firstLater,
            .erase(),
            meets: .erase(),
            gives: [.erase()],
            and: []
        ),
        MergeRow(
            "an object that goes twice",
            .secondLater,
            .erase(),
            meets: .erase(),
            gives: [],
            and: [.erase()]
        ),
        MergeRow(
            "an object that goes twice and comes again",
            .firstLater,
            .erase(),
            .create(),
            Place("i").set(.int(1)),
            meets: .erase(),
            .create(),
            Place("i").set(.int(2)),
            gives: [.erase(), .create(), Place("i").set(.int(1))],
            and: []
        ),
    ]

    @Test("merges", arguments: rows)
    func merge(row: MergeRow) throws { try row.check() }

    static let diverged = [
        DivergedRow("keys of two names", .addClass(), meets: .addClass(key: "id")),
        DivergedRow("keys of two types", .addClass(), meets: .addClass("T", key: "_id", .objectID)),
        DivergedRow("a key that is required once", .addClass(), meets: .addClass(isNullable: true)),
        DivergedRow("a class that is asymmetric once", .addClass(), meets: .addClass(isAsymmetric: true)),
        DivergedRow("a class that is embedded once", .addClass(), meets: .addTable(ByteText("T"), .embedded)),
        DivergedRow("a field of two types", .addField("f"), meets: .addField("f", .double)),
        DivergedRow("a field that is required once", .addField("f"), meets: .addField("f", isNullable: true)),
        DivergedRow("a field that is a list once", .addField("f"), meets: .addField("f", .int, .list)),
        DivergedRow(
            "a link to two classes",
            .addField("f", .link, to: "X"),
            meets: .addField("f", .link, to: "Y")
        ),
    ]

    @Test("refuses", arguments: diverged)
    func refuse(row: DivergedRow) { row.check() }
}
