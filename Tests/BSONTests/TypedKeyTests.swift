import BSON
import Errors
import TestSupport
import Testing

@Suite("Typed keys")
struct TypedKeyTests {
    @Test("sort as the values do and are equal when they are", arguments: [UInt64(1), 2, 3, 4])
    func order(seed: UInt64) throws {
        var values = GeneratedValues(seed: seed, options: .init(allowsNUL: false, depth: 2))
        var drawn: [(value: BSONValue, key: String)] = []
        while drawn.count < 250 {
            let value = drawn.count % 2 == 0 ? values.number() : values.value()
            switch value {
            case .array, .regex, .undefined: continue
            default: drawn.append((value, try TypedKey.text(value)))
            }
        }
        for left in drawn {
            for right in drawn where max(left.key.utf8.count, right.key.utf8.count) <= 2600 {
                let expected = BSONOrdering.compare(left.value, right.value)
                #expect(
                    TextOrder.compare(left.key, right.key) == expected,
                    "\(ExtendedJSON.canonical(left.value)) and \(ExtendedJSON.canonical(right.value))"
                )
            }
            let bounds = TypedKey.bounds(ofBracketOf: left.value)
            #expect(
                TextOrder.compare(bounds.lower, left.key) <= 0
                    && TextOrder.compare(left.key, bounds.upper) < 0
            )
        }
    }

    @Test("are readable in psql")
    func text() throws {
        #expect(try TypedKey.text("abc") == "sabc")
        #expect(try TypedKey.text(.null) == "d")
        #expect(try TypedKey.text(true) == "y1")
        #expect(try TypedKey.text(42) == "n41000242")
        #expect(try TypedKey.text(.double(42)) == "n41000242")
        let id = try #require(ObjectID(hex: "6553F1F0a1b2c3d4e5f60718"))
        #expect(try TypedKey.text(.objectID(id)) == "x6553f1f0a1b2c3d4e5f60718")
    }

    @Test(
        "refuse what cannot be an id",
        arguments: [.array([]), .regex(BSONRegularExpression(pattern: "a")), .undefined] as [BSONValue]
    )
    func refusals(value: BSONValue) {
        let error = #expect(throws: ServiceError.self) { try TypedKey.text(value) }
        #expect(error?.serverCode == .invalidIdField)
    }

    @Test("refuse a NUL character")
    func refusesNUL() {
        let error = #expect(throws: ServiceError.self) { try TypedKey.text("a\u{0}b") }
        #expect(error?.code == .invalidParameter)
        #expect(throws: ServiceError.self) { try TypedKey.text(["k": "\u{0}"]) }
    }

    @Test("stay unique and fit an index entry however long the id is")
    func long() throws {
        let stem = String(repeating: "é", count: 3000)
        let keys = try [stem, stem + "a", stem + "b", String(repeating: "x", count: 100_000)].map {
            try TypedKey.text(.string($0))
        }
        #expect(Set(keys).count == 4)
        for key in keys { #expect(key.utf8.count > 2600 && key.utf8.count < 2690) }
        // FIPS 180-4 digests, so that keys do not change between versions.
        #expect(keys[3].hasSuffix(String(keys[3].suffix(64))) && keys[3].hasPrefix("sxxx"))
        let whole = try TypedKey.text(.string(String(repeating: "x", count: 2599)))
        #expect(whole.utf8.count == 2600)
    }

    @Test("come with ids that the generator keeps apart")
    func generator() {
        let generator = ObjectIDGenerator(processUnique: 0xFF_0102_0304_05, counter: 0xFFFF_FFFF)
        let first = generator.next(seconds: 1)
        let second = generator.next(seconds: 1)
        #expect(first.hex == "00000001" + "0102030405" + "ffffff")
        #expect(second.hex == "00000001" + "0102030405" + "000000")
    }
}
