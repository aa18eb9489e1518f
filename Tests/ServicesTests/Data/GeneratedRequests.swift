import BSON
import TestSupport

/// Documents and requests over few keys and few values, so that they meet often: all types, arrays in arrays,
/// missing fields, null, NaN, -0.0, decimals, dates before 1970, and the same keys in other orders.
struct GeneratedRequests {
    var random: SeededRandom

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
    }

    private mutating func pick<T>(_ choices: [T]) -> T { choices[random.below(choices.count)] }

    private mutating func some<T>(_ range: ClosedRange<Int>, _ make: (inout GeneratedRequests) -> T) -> [T] {
        let count = range.lowerBound + random.below(range.upperBound - range.lowerBound + 1)
        return (0..<count).map { _ in make(&self) }
    }

    private static let decimals = ["2", "0.1", "2.00", "NaN", "Infinity", "-1", "1E+600", "-0"]
        .compactMap { Decimal128($0) }
    private static let ids = ["6553f1d4d49974000000002a", "000000000000000000000000"]
        .compactMap { ObjectID(hex: $0) }

    mutating func scalar() -> BSONValue {
        switch random.below(22) {
        case 0...3: .int32(Int32(random.below(5)) - 1)
        case 4: pick([.int64(2), .int64(5_000_000_000), .int64(.max), .int64(0)])
        case 5, 6: pick([.double(2), .double(0.1), .double(-1.5), .double(1e300), .double(2.5)])
        case 7: pick([.double(.nan), .double(.infinity), .double(-.infinity), .double(-0.0)])
        case 8: .decimal128(pick(Self.decimals))
        case 9...13: .string(pick(["a", "b", "ab", "", "é", "A", "a10", "a9", "\"\\\n", "$oid", "Z"]))
        case 14: .objectID(pick(Self.ids))
        case 15: .date(pick([0, 1_700_000_000_123, -5, -62_135_596_800_000]))
        case 16: .bool(random.oneIn(2))
        case 17, 18: .null
        case 19: .binary(BSONBinary(subtype: pick([0, 4]), bytes: Array(0..<16)))
        case 20: pick([.minKey, .maxKey, .symbol("a"), .regex(BSONRegularExpression(pattern: "^a"))])
        default: .timestamp(BSONTimestamp(seconds: 1, increment: UInt32(random.below(2))))
        }
    }

    mutating func value(_ depth: Int) -> BSONValue {
        guard depth > 0, random.oneIn(3) else { return scalar() }
        return random.oneIn(2)
            ? .array(some(0...3) { $0.value(depth - 1) }) : .document(document(depth - 1))
    }

    mutating func document(_ depth: Int) -> BSONDocument {
        var document = BSONDocument()
        for _ in 0..<random.below(4) { document[pick(["a", "b", "c", "0", "é"])] = value(depth) }
        return document
    }

    /// Documents of a collection, each with an `_id` of its own.
    mutating func collection(_ count: Int) -> [BSONDocument] {
        var seen: Set<BSONKey> = []
        var documents: [BSONDocument] = []
        while documents.count < count {
            var id = random.oneIn(3) ? scalar() : .int32(Int32(random.below(100_000)))
            if case .regex = id { id = .null }
            guard seen.insert(BSONKey(id)).inserted else { continue }
            var document: BSONDocument = ["_id": id]
            for field in self.document(3).fields { document[field.key] = field.value }
            documents.append(document)
        }
        return documents
    }

    mutating func path() -> String {
        pick([
            "a", "a", "a", "b", "b", "c", "a.b", "a.a", "b.c", "a.b.c", "a.0", "a.0.b", "0", "_id", "é",
            "b.1",
        ])
    }

    // Filters

    private mutating func test(_ depth: Int) -> BSONDocument {
        let types: [BSONValue] = ["string", "number", "int", "array", "object", "null", ["bool", "date"], 9]
        switch random.below(20) {
        case 0: return ["$eq": value(1)]
        case 1: return ["$ne": value(1)]
        case 2...6: return BSONDocument([.init(key: pick(["$gt", "$gte", "$lt", "$lte"]), value: value(1))])
        case 7: return ["$in": .array(some(0...4) { $0.value(1) })]
        case 8: return ["$nin": .array(some(0...3) { $0.value(1) })]
        case 9: return ["$exists": .bool(random.oneIn(2))]
        case 10: return ["$type": pick(types)]
        case 11:
            return [
                "$regex": .string(pick(["^a", "a", "b$", "^(a|b)", "A"])),
                "$options": .string(pick(["", "i"])),
            ]
        case 12: return ["$all": .array(some(0...2) { $0.value(1) })]
        case 13: return ["$size": .int32(Int32(random.below(3)))]
        case 14: return ["$mod": [2, 0]]
        case 15 where depth > 0: return ["$elemMatch": .document(test(depth - 1))]
        case 16 where depth > 0: return ["$elemMatch": .document(filter(depth - 1))]
        case 17 where depth > 0: return ["$not": .document(test(depth - 1))]
        case 18: return ["$gte": scalar(), "$lt": scalar()]
        default: return ["$eq": scalar()]
        }
    }

    mutating func filter(_ depth: Int = 2) -> BSONDocument {
        switch depth > 0 ? random.below(12) : 11 {
        case 0: return ["$and": .array(some(1...3) { .document($0.filter(depth - 1)) })]
        case 1: return ["$or": .array(some(1...3) { .document($0.filter(depth - 1)) })]
        case 2: return ["$nor": .array(some(1...2) { .document($0.filter(depth - 1)) })]
        case 3: return [path(): value(1)]
        case 4 where depth == 2: return ["$expr": .document(condition())]
        case 5 where depth == 2: return [path(): .document(test(1)), "_id": .document(test(1))]
        default: return [path(): .document(test(depth))]
        }
    }

    // Expressions

    private mutating func condition() -> BSONDocument {
        BSONDocument([
            .init(key: pick(["$eq", "$ne", "$gt", "$gte", "$lt"]), value: [expression(1), expression(1)])
        ])
    }

    mutating func expression(_ depth: Int = 2) -> BSONValue {
        guard depth > 0 else { return random.oneIn(3) ? ["$literal": scalar()] : .string("$" + path()) }
        let unary = [
            "$type", "$isArray", "$isNumber", "$toString", "$not", "$ifNull", "$sum", "$max", "$min",
        ]
        switch random.below(10) {
        case 0, 1, 2: return .string("$" + path())
        case 3: return ["$literal": value(1)]
        case 4: return ["$cond": [.document(condition()), expression(depth - 1), expression(depth - 1)]]
        case 5: return ["$ifNull": [expression(depth - 1), expression(0)]]
        case 6: return .document([pick(unary): ["$ifNull": [expression(depth - 1), 0]]])
        case 7: return ["$cmp": [expression(depth - 1), expression(depth - 1)]]
        case 8: return .document(["x": expression(depth - 1), "a": expression(0)])
        default: return [expression(depth - 1), expression(0)]
        }
    }

    // Orders and projections

    mutating func sort() -> BSONDocument {
        var sort = BSONDocument()
        for _ in 0...random.below(2) { sort[path()] = random.oneIn(2) ? 1 : -1 }
        return sort
    }

    mutating func projection() -> BSONDocument {
        var projection = BSONDocument()
        let flag: BSONValue = random.oneIn(2) ? 1 : 0
        for _ in 0...random.below(2) { projection[pick(["a", "b", "c", "a.b", "b.c", "é"])] = flag }
        if random.oneIn(4) { projection["_id"] = 0 }
        if random.oneIn(5) { projection["d"] = ["$slice": 1] }
        if random.oneIn(6), flag == 1 { projection["x"] = expression(1) }
        return projection
    }

    mutating func collation() -> BSONDocument {
        [
            "locale": .string(pick(["en", "de", "sv"])), "strength": .int32(Int32(1 + random.below(3))),
            "numericOrdering": .bool(random.oneIn(2)),
        ]
    }

    // Pipelines

    /// Stages, and whether what comes out has no order of its own.
    mutating func pipeline() -> (stages: [BSONValue], isUnordered: Bool) {
        var stages: [BSONValue] = some(0...3) { .document($0.stage()) }
        guard random.oneIn(3) else { return (stages.isEmpty ? [.document(stage())] : stages, false) }
        switch random.below(4) {
        case 0: stages.append(["$count": "n"])
        case 1: stages.append(["$sortByCount": .string("$" + path())])
        default:
            var group: BSONDocument = [
                "_id": random.oneIn(4) ? .null : .string("$" + path()), "n": ["$sum": 1],
            ]
            if random.oneIn(2) {
                group["x"] = .document([
                    pick(["$sum", "$min", "$max", "$first", "$last", "$push", "$avg"]): .string("$" + path())
                ])
            }
            stages.append(.document(["$group": .document(group)]))
        }
        return (stages, true)
    }

    private mutating func stage() -> BSONDocument {
        switch random.below(14) {
        case 0...3: ["$match": .document(filter())]
        case 4...6: ["$sort": .document(sort())]
        case 7: ["$skip": .int32(Int32(random.below(6)))]
        case 8: ["$limit": .int32(Int32(1 + random.below(20)))]
        case 9: ["$project": .document(projection())]
        case 10: ["$set": .document([pick(["a", "b", "x", "a.b"]): expression()])]
        case 11:
            [
                "$unwind": [
                    "path": .string("$" + pick(["a", "b", "a.b"])),
                    "preserveNullAndEmptyArrays": .bool(random.oneIn(2)), "includeArrayIndex": "i",
                ]
            ]
        case 12: ["$unset": .string(pick(["a", "b", "a.b"]))]
        default: ["$replaceWith": .document(["_id": "$_id", "r": expression()])]
        }
    }

    // Updates

    /// An update and its `arrayFilters`.
    mutating func update() -> (update: BSONValue, arrayFilters: [BSONValue]) {
        if random.oneIn(6) {
            return (
                .array(some(1...2) { ["$set": .document([$0.pick(["a", "b", "n"]): $0.expression()])] }), []
            )
        }
        var update = BSONDocument()
        var arrayFilters: [BSONValue] = []
        for path in ["a", "b", "c", "d.x", "e"] where random.oneIn(3) {
            var target = path
            if random.oneIn(10) { target += ".$[]" }
            if random.oneIn(12), arrayFilters.isEmpty {
                target += ".$[e]"
                arrayFilters = [["e": .document(test(1))]]
            }
            let (name, operand) = change()
            var members = update[name]?.document ?? BSONDocument()
            members[target] = operand
            update[name] = .document(members)
        }
        if update.isEmpty { update = ["$set": ["a": value(2)]] }
        return (.document(update), arrayFilters)
    }

    private mutating func change() -> (String, BSONValue) {
        switch random.below(17) {
        case 0...2: ("$set", value(2))
        case 3: ("$unset", "")
        case 4, 5:
            (
                "$inc",
                pick([1, .int64(2), .double(0.5), .int32(.max), .int64(.max), .decimal128(Self.decimals[1])])
            )
        case 6: ("$mul", pick([3, .int64(2), .double(0.5)]))
        case 7: ("$min", scalar())
        case 8: ("$max", scalar())
        case 9: ("$push", scalar())
        case 10:
            (
                "$push",
                [
                    "$each": .array(some(0...2) { $0.scalar() }),
                    "$position": .int32(Int32(random.below(3)) - 1),
                    "$slice": .int32(Int32(random.below(5)) - 2), "$sort": random.oneIn(2) ? 1 : -1,
                ]
            )
        case 11: ("$addToSet", value(1))
        case 12: ("$addToSet", ["$each": .array(some(0...2) { $0.scalar() })])
        case 13: ("$pop", random.oneIn(2) ? 1 : -1)
        case 14: ("$pull", random.oneIn(2) ? scalar() : .document(test(1)))
        case 15: ("$pullAll", .array(some(0...2) { $0.scalar() }))
        default: random.oneIn(2) ? ("$rename", .string(pick(["r", "s.t"]))) : ("$bit", ["or": 5])
        }
    }
}
