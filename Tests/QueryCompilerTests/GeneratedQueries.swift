import BSON
import MQL
import TestSupport

/// Documents and filters over few keys and few values, so that they meet often.
struct GeneratedQueries {
    var random: SeededRandom

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
    }

    private mutating func pick<T>(_ choices: [T]) -> T { choices[random.below(choices.count)] }

    static let hex = "6553f1d4d49974000000002a"
    static let objectIDs = [hex, "000000000000000000000000"].compactMap { ObjectID(hex: $0) }
    static let uuid = BSONBinary(subtype: 4, bytes: Array(0..<16))

    mutating func scalar() -> BSONValue {
        switch random.below(24) {
        case 0...3: return .int32(Int32(random.below(5)) - 1)
        case 4, 5:
            return pick([
                .int64(2), .int64(5_000_000_000), .int64(.max), .int64(0), .int64(9_007_199_254_740_993),
            ])
        case 6...8:
            return pick([
                .double(2), .double(0.1), .double(-1.5), .double(1e300), .double(9_007_199_254_740_992),
            ])
        case 9: return pick([.double(.nan), .double(.infinity), .double(-.infinity), .double(-0.0)])
        case 10:
            return .decimal128(
                pick([
                    "2", "0.1", "2.00", "NaN", "Infinity", "-1", "1E+6000",
                    "0.1000000000000000055511151231257827",
                ])
                .decimal
            )
        case 11...14: return .string(pick(["a", "b", "ab", "", "é", "e\u{301}", "\"\\\n", "$oid", "Z"]))
        case 15: return .symbol("a")
        case 16:
            return .objectID(pick(Self.objectIDs))
        case 17: return .date(pick([0, 1_700_000_000_123, -5, 400_000_000_000_000]))
        case 18: return .bool(random.oneIn(2))
        case 19, 20: return .null
        case 21: return .binary(pick([Self.uuid, BSONBinary(subtype: 0, bytes: [1, 2])]))
        case 22: return pick([.regex(BSONRegularExpression(pattern: "^a")), .minKey, .maxKey, .undefined])
        default: return .timestamp(BSONTimestamp(seconds: 1, increment: UInt32(random.below(2))))
        }
    }

    mutating func value(depth: Int) -> BSONValue {
        guard depth > 0, random.oneIn(3) else { return scalar() }
        return random.oneIn(2)
            ? .array((0..<random.below(4)).map { _ in value(depth: depth - 1) })
            : .document(document(depth: depth - 1))
    }

    mutating func document(depth: Int) -> BSONDocument {
        var document = BSONDocument()
        for _ in 0..<random.below(4) { document[pick(["a", "b", "c", "0", "é"])] = value(depth: depth) }
        return document
    }

    /// Documents of a collection, each with an `_id` of its own.
    mutating func collection(_ count: Int) -> [BSONDocument] {
        var seen: Set<BSONKey> = []
        var documents: [BSONDocument] = []
        while documents.count < count {
            var id = random.oneIn(3) ? scalar() : .int32(Int32(random.below(100_000)))
            if case .regex = id { id = .null }
            if case .undefined = id { id = .null }
            guard seen.insert(BSONKey(id)).inserted else { continue }
            var document: BSONDocument = ["_id": id]
            for field in self.document(depth: 3).fields { document[field.key] = field.value }
            documents.append(document)
        }
        return documents
    }

    mutating func path() -> FieldPath {
        pick([
            "a", "a", "b", "b", "c", "a.b", "a.a", "b.c", "a.b.c", "a.0", "a.0.b", "0", "_id", "é", "a.é",
            "_id.a", "b.1",
        ])
    }

    mutating func test(depth: Int = 2) -> FieldTest {
        switch random.below(22) {
        case 0...5: return .compare(.equal, value(depth: 1))
        case 6...9: return .compare(pick([.greater, .greaterOrEqual, .less, .lessOrEqual]), value(depth: 1))
        case 10: return .inside((0..<random.below(4)).map { _ in .value(value(depth: 1)) })
        case 11: return .inside([.value(.int32(2)), .value(.int64(3)), .value(.int32(0))])
        case 12: return .exists(random.oneIn(2))
        case 13:
            return .type(
                pick([
                    [.string], [.double, .int32, .int64, .decimal128], [.int32], [.array], [.document],
                    [.null], [.bool],
                    [.objectID, .date], [.binary], [.decimal128], [.double], [.undefined, .symbol],
                    [.timestamp, .minKey],
                ])
            )
        case 14:
            return .matches(
                RegexPattern(pattern: pick(["^a", "a", "b$", "^(a|b)", "ab"]), options: pick(["", "", "i"]))
            )
        case 15: return .all((0..<random.below(3)).map { _ in .value(value(depth: 1)) })
        case 16: return .size(random.below(3))
        case 17: return .modulo(divisor: 2, remainder: 0)
        case 18 where depth > 0:
            return .elementMatch(.value((0...random.below(2)).map { _ in test(depth: depth - 1) }))
        case 19 where depth > 0: return .elementMatch(.document(filter(depth: depth - 1)))
        case 20 where depth > 0: return .not((0...random.below(2)).map { _ in test(depth: depth - 1) })
        default: return .not([.compare(.equal, value(depth: 1))])
        }
    }

    mutating func filter(depth: Int = 2) -> Filter {
        switch depth > 0 ? random.below(10) : 9 {
        case 0, 1: return .and((0...random.below(3)).map { _ in filter(depth: depth - 1) })
        case 2, 3: return .or((0...random.below(3)).map { _ in filter(depth: depth - 1) })
        case 4: return .nor((0...random.below(2)).map { _ in filter(depth: depth - 1) })
        default: return .field(path(), test(depth: depth))
        }
    }

    mutating func sort() -> Sort {
        Sort(keys: (0...random.below(2)).map { _ in Sort.Key(path: path(), ascending: random.oneIn(2)) })
    }

    mutating func update() -> Update {
        var changes: [UpdateChange] = []
        for path in ["a", "b", "c", "d.x", "e"] where random.oneIn(3) {
            let action: UpdateAction =
                switch random.below(12) {
                case 0...2: .set(value(depth: 2))
                case 3: .unset
                case 4: .increment(pick([.int32(1), .int64(2), .double(0.5), .int32(.max), .int64(.max)]))
                case 5: .multiply(pick([.int32(3), .int64(2), .double(0.5)]))
                case 6: .minimum(scalar())
                case 7: .maximum(scalar())
                case 8: .push(PushArguments(elements: [scalar()]))
                case 9: .addToSet([scalar(), scalar()])
                case 10: .pop(random.oneIn(2) ? .first : .last)
                default: .currentDate(.date)
                }
            let names = path.split(separator: ".").map { UpdatePath.Component.name(String($0)) }
            changes.append(UpdateChange(path: UpdatePath(components: names), action: action))
        }
        return .operators(changes, arrayFilters: [:])
    }

    /// Documents for updates: plain enough that SQL often decides.
    mutating func target() -> BSONDocument {
        var document: BSONDocument = ["_id": "target"]
        for key in ["c", "a", "d", "b", "f"] where !random.oneIn(4) {
            document[key] =
                switch random.below(6) {
                case 0, 1:
                    pick([.int32(5), .int32(.max), .int64(5), .double(2.5), .double(0.1), .int64(.max)])
                case 2: .array((0..<random.below(3)).map { _ in scalar() })
                case 3: .document(["y": scalar(), "x": scalar(), "w": 1])
                case 4: .string("a")
                default: value(depth: 2)
                }
        }
        return document
    }
}

extension String {
    fileprivate var decimal: Decimal128 {
        guard let value = Decimal128(self) else { preconditionFailure("not a decimal: \(self)") }
        return value
    }
}
