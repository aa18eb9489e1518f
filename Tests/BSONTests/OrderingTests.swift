import BSON
import TestSupport
import Testing

@Suite("Order of values")
struct OrderingTests {
    /// One of each bracket, lowest first.
    static let ascending: [BSONValue] = [
        .minKey, .null, .double(.nan), .double(-.infinity), -1, 0,
        .decimal128(Decimal128("0.1") ?? Decimal128(0)), 0.1, 1, .double(.infinity),
        "", "a", "b", "é", "日", "😀", [:], ["a": 1], ["a": 2], ["a": 1.5, "b": 1], ["b": 0], ["a": "x"],
        .array([]), [1], [1, 2], [2],
        .binary(BSONBinary(subtype: 9, bytes: [])), .binary(BSONBinary(subtype: 0, bytes: [1])),
        .binary(BSONBinary(subtype: 4, bytes: [0])),
        .objectID(ObjectID(seconds: 1, unique: 2)), .objectID(ObjectID(seconds: 2, unique: 1)), false, true,
        .date(-1), .date(0),
        .timestamp(BSONTimestamp(seconds: 0, increment: 9)),
        .timestamp(BSONTimestamp(seconds: 1, increment: 0)),
        .regex(BSONRegularExpression(pattern: "a")),
        .regex(BSONRegularExpression(pattern: "a", options: "i")),
        .dbPointer(BSONDBPointer(namespace: "n", id: ObjectID(seconds: 0, unique: 0))), .code("x"),
        .codeWithScope(BSONCodeWithScope(code: "x", scope: [:])), .maxKey,
    ]

    @Test("puts the brackets and their contents in MongoDB's order")
    func total() {
        // ["a": 1.5, "b": 1] lies between ["a": 1] and ["a": 2] by its first field.
        let sorted = Self.ascending.sorted { BSONOrdering.compare($0, $1) < 0 }
        for (left, right) in zip(sorted, sorted.dropFirst()) {
            #expect(BSONOrdering.compare(left, right) == -1)
        }
        #expect(sorted.map(BSONOrdering.bracket) == Self.ascending.map(BSONOrdering.bracket))
        #expect(BSONOrdering.compare(["a": 1, "b": 1], ["a": 2]) == -1)
        #expect(
            BSONOrdering.compare(["b": 1], ["a": "x"]) == -1,
            "the bracket of the value comes before the name"
        )
    }

    @Test("calls equal what MongoDB calls equal")
    func equality() {
        let one: [BSONValue] = [1, .int64(1), 1.0, .decimal128(Decimal128("1.00") ?? Decimal128(0))]
        for left in one { for right in one { #expect(BSONOrdering.equal(left, right)) } }
        #expect(Set(one.map(BSONKey.init)).count == 1)
        #expect(BSONOrdering.equal(.null, .undefined))
        #expect(BSONOrdering.equal(.double(-0.0), 0))
        #expect(BSONOrdering.equal(.double(.nan), .decimal128(Decimal128("NaN") ?? Decimal128(0))))
        #expect(BSONOrdering.equal(.string("a"), .symbol("a")))
        #expect(!BSONOrdering.equal(["x": 1, "y": 2], ["y": 2, "x": 1]))
        #expect(!BSONOrdering.equal(.string("é"), .string("e\u{301}")))
        #expect(!BSONOrdering.equal(true, 1))
    }

    @Test("compares numbers exactly across types")
    func numbers() throws {
        let beyond = BSONValue.int64(1 << 53 + 1)
        #expect(BSONOrdering.compare(beyond, .double(0x1p53)) == 1)
        #expect(BSONOrdering.compare(.int64(.max), .double(0x1p63)) == -1)
        #expect(BSONOrdering.compare(.int64(.min), .double(-0x1p63)) == 0)
        let tenth = try #require(Decimal128("0.1"))
        #expect(BSONOrdering.compare(.decimal128(tenth), .double(0.1)) == -1)
        let huge = try #require(Decimal128("1E+400"))
        #expect(BSONOrdering.compare(.decimal128(huge), .double(.infinity)) == -1)
        #expect(BSONOrdering.compare(.decimal128(huge), .double(.greatestFiniteMagnitude)) == 1)
        let tiny = try #require(Decimal128("-1E-6176"))
        #expect(BSONOrdering.compare(.decimal128(tiny), .double(0)) == -1)
    }

    @Test("agrees with hashing and is antisymmetric", arguments: [UInt64(1), 2, 3])
    func laws(seed: UInt64) {
        var values = GeneratedValues(seed: seed, options: .init(depth: 2))
        let drawn = (0..<120).map { index in index % 2 == 0 ? values.number() : values.value() }
        for left in drawn {
            #expect(BSONOrdering.equal(left, left))
            for right in drawn {
                let order = BSONOrdering.compare(left, right)
                #expect(order == -BSONOrdering.compare(right, left))
                if order == 0 { #expect(BSONKey(left).hashValue == BSONKey(right).hashValue) }
            }
        }
    }

    @Test("knows truth, integers and aliases")
    func views() {
        #expect(
            [.double(0), 0, .null, false, .undefined].allSatisfy { (value: BSONValue) in !value.isTruthy }
        )
        #expect(
            [.double(.nan), "", .array([]), 1, .date(0)].allSatisfy { (value: BSONValue) in value.isTruthy }
        )
        #expect(BSONValue.double(5).exactInt64 == 5)
        #expect(BSONValue.double(5.5).exactInt64 == nil)
        #expect(BSONValue.double(0x1p63).exactInt64 == nil)
        #expect(BSONValue.decimal128(Decimal128("5E+2") ?? Decimal128(0)).exactInt64 == 500)
        #expect(BSONValue.decimal128(Decimal128("-9223372036854775808") ?? Decimal128(0)).exactInt64 == .min)
        #expect(BSONValue.decimal128(Decimal128("9223372036854775808") ?? Decimal128(0)).exactInt64 == nil)
        for type in BSONType.allCases { #expect(BSONType(alias: type.alias) == type) }
        #expect(BSONType(alias: "number") == nil)
        let document: BSONDocument = ["a": ["b": ["c": 1]], "l": [["x": 1]]]
        #expect(document.value(at: "a.b.c") == 1)
        #expect(document.value(at: "l.x") == nil)
        #expect(document.isDeeper(than: 2) && !document.isDeeper(than: 3))
    }
}
