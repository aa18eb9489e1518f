public import BSON

/// Arbitrary values and documents, with the awkward ones far more often than chance would bring them.
public struct GeneratedValues: Sendable {
    /// What the receiving format cannot or need not carry.
    public struct Options: Sendable {
        /// Strings with U+0000, which PostgreSQL cannot keep.
        public var allowsNUL = true
        /// Documents that look like Extended JSON wrappers, which Extended JSON itself cannot tell from them.
        public var allowsLookalikes = true
        /// The deepest nesting.
        public var depth = 4

        /// Allows everything that is not forbidden.
        public init(allowsNUL: Bool = true, allowsLookalikes: Bool = true, depth: Int = 4) {
            self.allowsNUL = allowsNUL
            self.allowsLookalikes = allowsLookalikes
            self.depth = depth
        }
    }

    /// Where chance comes from; callers may draw from it too.
    public var random: SeededRandom
    /// How many values were made so far, those inside documents and arrays included.
    public private(set) var count = 0
    private let options: Options

    /// Begins the sequence of a seed.
    public init(seed: UInt64, options: Options = Options()) {
        random = SeededRandom(seed: seed)
        self.options = options
    }

    /// A value of any type.
    public mutating func value() -> BSONValue { value(depth: options.depth) }

    /// A document as collections hold them, with an `_id` somewhere.
    public mutating func document() -> BSONDocument {
        var document = document(depth: options.depth)
        document["_id"] = nil
        let id = BSONDocument.Field(key: "_id", value: scalar())
        document.fields.insert(id, at: random.oneIn(4) ? random.below(document.count + 1) : 0)
        return document
    }

    private mutating func value(depth: Int) -> BSONValue {
        count += 1
        guard depth > 0, random.oneIn(3) else { return scalar() }
        switch random.below(5) {
        case 0, 1: return .document(document(depth: depth - 1))
        case 2: return .array((0..<random.below(5)).map { _ in value(depth: depth - 1) })
        case 3: return .array(similarDocuments(depth: depth - 1))
        default: return .codeWithScope(BSONCodeWithScope(code: text(), scope: document(depth: depth - 1)))
        }
    }

    private mutating func document(depth: Int) -> BSONDocument {
        if options.allowsLookalikes, random.oneIn(8) { return lookalike(depth: depth) }
        var document = BSONDocument()
        for _ in 0..<random.below(7) { document[key()] = value(depth: depth) }
        return document
    }

    /// Documents of about the same keys, in orders that agree or contradict each other.
    private mutating func similarDocuments(depth: Int) -> [BSONValue] {
        let keys = ["b", "a", "name", "é", "count"]
        let isShuffled = random.oneIn(3)
        return (0..<random.below(4) + 1).map { _ in
            var document = BSONDocument()
            for key in isShuffled ? keys.shuffled(using: &random) : keys where !random.oneIn(3) {
                document[key] = value(depth: depth)
            }
            return .document(document)
        }
    }

    private mutating func lookalike(depth: Int) -> BSONDocument {
        let keys = [
            "$oid", "$date", "$uuid", "$numberLong", "$numberDouble", "$numberInt", "$numberDecimal",
            "$binary",
            "$code", "$document", "$symbol", "$timestamp", "$regularExpression", "$minKey", "$undefined",
            "$scope",
        ]
        let key = keys[random.below(keys.count)]
        let operands: [BSONValue] = [
            "56e1fc72e0c917e9c4714161", 1, "NaN", "5", true, ["t": 1, "i": 2],
            value(depth: max(depth - 1, 0)),
            .document(BSONDocument([.init(key: "$oid", value: "56e1fc72e0c917e9c4714161")])),
            .document(BSONDocument([.init(key: "$document", value: ["z": 1, "a": 2])])),
        ]
        var document = BSONDocument()
        document[key] = operands[random.below(operands.count)]
        if key == "$code", random.oneIn(2) { document["$scope"] = ["z": 1, "a": 2] }
        if random.oneIn(4) { document["longer than a wrapper"] = 1 }
        if random.oneIn(4) { document["a"] = 1 }
        return document
    }

    private mutating func key() -> String {
        let keys = [
            "a", "b", "A", "name", "", "a.b", "$set", "_id", "quote\"d", "back\\slash", "é", "e\u{301}", "日本",
            "😀", "tab\t",
            "line\n", "\u{1}", "\u{7F}", "/", "a longer key that fits no small string", "0", "1", "10", "2",
        ]
        return random.oneIn(3) ? "k\(random.below(1000))" : keys[random.below(keys.count)]
    }

    private mutating func text() -> String {
        let texts = [
            "", "x", "hello", "56e1fc72e0c917e9c4714161", "é", "e\u{301}", "日本語", "😀👩‍👩‍👧", "\"quoted\"",
            "back\\slash", "\u{8}\u{C}\n\r\t",
            "\u{1}\u{1F}\u{7F}\u{80}", "/slash/<tag>&", "\u{2028}\u{FEFF}\u{FFFF}", "\\u0041", "$oid", "null",
            "1e5",
        ]
        if options.allowsNUL, random.oneIn(20) { return "a\u{0}b" }
        if random.oneIn(4) {
            return String(repeating: texts[random.below(texts.count)], count: random.below(40))
        }
        return texts[random.below(texts.count)]
    }

    private mutating func scalar() -> BSONValue {
        switch random.below(22) {
        case 0, 1: .string(text())
        case 2, 3, 4, 5: number()
        case 6: .int32(Int32(truncatingIfNeeded: random.next()))
        case 7: .int64(Int64(bitPattern: random.next()))
        case 8: .objectID(ObjectID(seconds: UInt32(truncatingIfNeeded: random.next()), unique: random.next()))
        case 9: .bool(random.oneIn(2))
        case 10:
            .date(
                random.oneIn(3)
                    ? Int64(bitPattern: random.next())
                    : Int64(random.below(4_000_000_000_000)) - 1_000_000_000_000
            )
        case 11: .null
        case 12:
            .binary(
                BSONBinary(
                    subtype: [0, 2, 4, 5, 9, 128][random.below(6)],
                    bytes: (0..<[0, 1, 2, 3, 16, 16, 40][random.below(7)]).map { _ in
                        UInt8(truncatingIfNeeded: random.next())
                    }
                )
            )
        case 13:
            .regex(
                BSONRegularExpression(
                    pattern: text().filter { $0 != "\u{0}" },
                    options: ["", "i", "imx"][random.below(3)]
                )
            )
        case 14:
            .timestamp(
                BSONTimestamp(
                    seconds: UInt32(truncatingIfNeeded: random.next()),
                    increment: UInt32(random.below(10))
                )
            )
        case 15: .code(text())
        case 16: .symbol(text())
        case 17: .dbPointer(BSONDBPointer(namespace: text(), id: ObjectID(seconds: 1, unique: random.next())))
        case 18: .undefined
        case 19: .minKey
        case 20: .maxKey
        default: number()
        }
    }

    /// A number of any type, often one that has an equal in another type.
    public mutating func number() -> BSONValue {
        let doubles: [Double] = [
            0, -0.0, 1, -1, 0.1, 0.5, 1.5, 1e300, -1e300, .leastNonzeroMagnitude, .greatestFiniteMagnitude,
            .leastNormalMagnitude, .infinity,
            -.infinity, .nan, 0x1p53, 0x1p53 + 2, 0x1p63, -0x1p63, 0x1p64, 1e21, 1e-7, 1e22, 1e23,
            123_456_789.125, 1e15, 1e16, 1e-5,
            0.001, 0.0001, 2_147_483_648, 100, 1000, 0.30000000000000004,
        ]
        let integers: [Int64] = [
            0, 1, -1, 5, 1000, 2_147_483_647, 2_147_483_648, -2_147_483_648, -2_147_483_649, 1 << 53,
            1 << 53 + 1, .max, .min,
        ]
        let decimals = [
            "0", "-0", "0E+3", "1", "1.0", "1.00", "-1", "0.1", "0.5", "1E+3", "1000",
            "9.999999999999999999999999999999999E+6144",
            "1E-6176", "-1E-6176", "NaN", "Infinity", "-Infinity", "9007199254740993", "9223372036854775808",
            "1E+300", "1E+309",
            "0.1000000000000000055511151231257827", "0.3000000000000000444089209850062616", "1.5", "100",
            "5E-324",
        ]
        switch random.below(8) {
        case 0, 1: return .double(doubles[random.below(doubles.count)])
        case 2: return .double(Double(bitPattern: canonicalNaN(random.next())))
        case 3: return .int64(integers[random.below(integers.count)])
        case 4: return .int32(Int32(truncatingIfNeeded: integers[random.below(integers.count)]))
        case 5, 6: return .decimal128(Decimal128(decimals[random.below(decimals.count)]) ?? Decimal128(0))
        default:
            // Few digits, so that the same value comes in several types.
            let small = Double(random.below(200) - 100) / [1, 2, 4, 10, 1000][random.below(5)]
            return random.oneIn(2) ? .double(small) : .decimal128(Decimal128(small))
        }
    }

    /// Text forms have one NaN only.
    private func canonicalNaN(_ bits: UInt64) -> UInt64 {
        Double(bitPattern: bits).isNaN ? Double.nan.bitPattern : bits
    }
}
