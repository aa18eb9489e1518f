import BSON
import Errors
import MQL
import Testing

/// One expression over one document, both as relaxed Extended JSON, and the expected value.
struct ExpressionCase: CustomTestStringConvertible, Sendable {
    let expression: String
    let document: String
    /// Nil for a missing value.
    let expected: String?

    init(_ expression: String, _ document: String = "{}", _ expected: String?) {
        self.expression = expression
        self.document = document
        self.expected = expected
    }

    var testDescription: String { "\(expression) on \(document)" }

    func evaluate() throws -> BSONValue? {
        let parsed = try ExpressionParser.parse(ExtendedJSON.readValue(Array(expression.utf8)))
        return try parsed.evaluate(ExtendedJSON.document(document), EvaluationContext(now: 1_000))
    }
}

@Suite("Aggregation expressions")
struct ExpressionEvaluatorTests {
    @Test("gives MongoDB's value and type", arguments: Self.cases)
    func value(_ example: ExpressionCase) throws {
        let value = try example.evaluate()
        let expected = try example.expected.map { try ExtendedJSON.readValue(Array($0.utf8)) }
        #expect(value.map { ExtendedJSON.canonical($0) } == expected.map { ExtendedJSON.canonical($0) })
    }

    @Test("refuses with MongoDB's code", arguments: Self.refusals)
    func refusal(_ expression: String, _ code: Int) throws {
        let error = #expect(throws: ServiceError.self) {
            try ExpressionCase(expression, "{\"s\": \"x\"}", nil).evaluate()
        }
        #expect(error?.serverCode?.number == code)
    }

    static let refusals: [(String, Int)] = [
        (#"{"$foo": 1}"#, 168), (#"{"$function": {}}"#, 238), (#"{"$gt": [1]}"#, 16020),
        (#"{"$add": ["$s", 1]}"#, 14), (#"{"$concat": ["a", 1]}"#, 16702), (#"{"$size": "$s"}"#, 17124),
        (#"{"$arrayElemAt": ["$s", 1]}"#, 28689), (#"{"$divide": [1, 0]}"#, 2), (#"{"$toInt": "x"}"#, 241),
        (#""$a..b""#, 15998), (#""$a.""#, 40353), (#""$""#, 16872), (#""$$nope""#, 17276),
        (#"{"$cond": {"if": 1, "then": 2}}"#, 17082), (#"{"$switch": {"branches": []}}"#, 40068),
        (#"{"$let": {"vars": {"A": 1}, "in": 1}}"#, 9), (#"{"a": 1, "$add": []}"#, 16410),
        (#"{"$add": [], "$subtract": []}"#, 15983), (#"{"$range": [0, 2147483647]}"#, 146),
        (#"{"$substrBytes": ["é", 1, 1]}"#, 28656),
        (#"{"$abs": {"$numberLong": "-9223372036854775808"}}"#, 28680),
        (
            #"{"$dateToString": {"date": {"$toDate": {"$numberLong": "0"}}, "timezone": "Nowhere/Town"}}"#,
            40485
        ),
    ]

    static let cases: [ExpressionCase] = arithmetic + logic + paths + text + arrays + objects + dates + types

    static let arithmetic = [
        ExpressionCase(#"{"$add": [1, 2]}"#, "3"),
        ExpressionCase(#"{"$add": [2147483647, 1]}"#, #"{"$numberLong": "2147483648"}"#),
        ExpressionCase(#"{"$add": [{"$numberLong": "9223372036854775807"}, 1]}"#, "9.223372036854776e18"),
        ExpressionCase(
            #"{"$add": [{"$numberDecimal": "0.1"}, {"$numberDecimal": "0.2"}]}"#,
            #"{"$numberDecimal": "0.3"}"#
        ),
        ExpressionCase(
            #"{"$add": ["$d", 5]}"#,
            #"{"d": {"$date": {"$numberLong": "10"}}}"#,
            #"{"$date": {"$numberLong": "15"}}"#
        ),
        ExpressionCase(#"{"$add": [1, null]}"#, "null"), ExpressionCase(#"{"$add": []}"#, "0"),
        ExpressionCase(#"{"$divide": [1, 2]}"#, "0.5"), ExpressionCase(#"{"$mod": [-7, 3]}"#, "-1"),
        ExpressionCase(
            #"{"$multiply": [{"$numberLong": "4611686018427387904"}, 4]}"#,
            "1.8446744073709552e19"
        ),
        ExpressionCase(#"{"$round": [2.5]}"#, "2.0"),
        ExpressionCase(#"{"$round": [1234.5678, 2]}"#, "1234.57"),
        ExpressionCase(#"{"$round": [1250, -2]}"#, "1200"), ExpressionCase(#"{"$trunc": [-1.7]}"#, "-1.0"),
        ExpressionCase(#"{"$pow": [2, 31]}"#, #"{"$numberLong": "2147483648"}"#),
        ExpressionCase(#"{"$sqrt": 16}"#, "4.0"),
        ExpressionCase(#"{"$sum": "$a"}"#, #"{"a": [1, 2, "x", 3]}"#, "6"),
        ExpressionCase(#"{"$avg": ["$a", 4]}"#, #"{"a": 2}"#, "3.0"),
        ExpressionCase(#"{"$max": [1, "a", null]}"#, #""a""#),
        ExpressionCase(#"{"$mod": [{"$numberLong": "-9223372036854775808"}, -1]}"#, #"{"$numberLong": "0"}"#),
    ]

    static let logic = [
        ExpressionCase(#"{"$eq": [1, {"$numberDecimal": "1.00"}]}"#, "true"),
        ExpressionCase(#"{"$lt": ["$missing", null]}"#, "true"),
        ExpressionCase(#"{"$gt": ["a", 5]}"#, "true"),
        ExpressionCase(#"{"$cmp": [1, 2]}"#, "-1"), ExpressionCase(#"{"$and": []}"#, "true"),
        ExpressionCase(#"{"$or": [0, ""]}"#, "true"), ExpressionCase(#"{"$not": [0]}"#, "true"),
        ExpressionCase(#"{"$cond": ["$a", 1, 2]}"#, "2"),
        ExpressionCase(#"{"$cond": {"if": true, "then": "$missing", "else": 2}}"#, nil),
        ExpressionCase(#"{"$ifNull": ["$a", null, 7]}"#, "7"),
        ExpressionCase(#"{"$switch": {"branches": [{"case": "$a", "then": 1}], "default": 9}}"#, "9"),
        ExpressionCase(#"{"$let": {"vars": {"x": 2}, "in": {"$multiply": ["$$x", "$$x"]}}}"#, "4"),
        ExpressionCase(#"{"$literal": "$a"}"#, #""$a""#),
    ]

    static let paths = [
        ExpressionCase(#""$a.b""#, #"{"a": [{"b": 1}, {"c": 2}, 5, [{"b": 3}]]}"#, "[1]"),
        ExpressionCase(#""$a.0""#, #"{"a": [7]}"#, "[]"), ExpressionCase(#""$a.b""#, #"{"a": 5}"#, nil),
        ExpressionCase(#""$$ROOT.a""#, #"{"a": 5}"#, "5"),
        ExpressionCase(#""$$NOW""#, #"{"$date": {"$numberLong": "1000"}}"#),
        ExpressionCase(#"{"x": "$a", "y": "$missing"}"#, #"{"a": 1}"#, #"{"x": 1}"#),
        ExpressionCase(#"["$a", "$missing"]"#, #"{"a": 1}"#, "[1, null]"),
        ExpressionCase(#""$$REMOVE""#, nil),
        ExpressionCase(#""$a.$id""#, #"{"a": {"$ref": "c", "$id": 7}}"#, "7"),
    ]

    static let text = [
        ExpressionCase(#"{"$concat": ["a", "$s"]}"#, #"{"s": "é"}"#, #""aé""#),
        ExpressionCase(#"{"$concat": ["a", null]}"#, "null"),
        ExpressionCase(#"{"$toUpper": "é-a"}"#, #""é-A""#),
        ExpressionCase(#"{"$toLower": null}"#, #""""#),
        ExpressionCase(#"{"$substrCP": ["héllo", 1, 3]}"#, #""éll""#),
        ExpressionCase(#"{"$substrBytes": ["hello", 9, 1]}"#, #""""#),
        ExpressionCase(#"{"$substr": ["hello", 1, {"$numberLong": "9223372036854775807"}]}"#, #""ello""#),
        ExpressionCase(#"{"$strLenCP": "é"}"#, "1"), ExpressionCase(#"{"$strLenBytes": "é"}"#, "2"),
        ExpressionCase(#"{"$trim": {"input": "  a b  "}}"#, #""a b""#),
        ExpressionCase(#"{"$ltrim": {"input": "xxa", "chars": "x"}}"#, #""a""#),
        ExpressionCase(#"{"$split": ["a,b,", ","]}"#, #"["a", "b", ""]"#),
        ExpressionCase(#"{"$indexOfCP": ["éab", "b"]}"#, "2"),
        ExpressionCase(#"{"$indexOfBytes": ["éab", "b"]}"#, "3"),
        ExpressionCase(#"{"$indexOfCP": ["aaab", "aab"]}"#, "1"),
        ExpressionCase(#"{"$replaceAll": {"input": "a.b.c", "find": ".", "replacement": "-"}}"#, #""a-b-c""#),
        ExpressionCase(#"{"$strcasecmp": ["A", "b"]}"#, "-1"),
        ExpressionCase(#"{"$regexMatch": {"input": "Hello", "regex": "^h", "options": "i"}}"#, "true"),
        ExpressionCase(
            #"{"$regexFind": {"input": "aéb12", "regex": "([a-z])(\\d+)(x)?"}}"#,
            #"{"match": "b12", "idx": 2, "captures": ["b", "12", null]}"#
        ),
        ExpressionCase(
            #"{"$regexFindAll": {"input": "é1é", "regex": "é"}}"#,
            #"[{"match": "é", "idx": 0, "captures": []}, {"match": "é", "idx": 2, "captures": []}]"#
        ),
    ]

    static let arrays = [
        ExpressionCase(#"{"$size": "$a"}"#, #"{"a": [1, 2]}"#, "2"),
        ExpressionCase(#"{"$arrayElemAt": ["$a", -1]}"#, #"{"a": [1, 2]}"#, "2"),
        ExpressionCase(#"{"$arrayElemAt": ["$a", 5]}"#, #"{"a": [1, 2]}"#, nil),
        ExpressionCase(#"{"$in": [1.0, "$a"]}"#, #"{"a": [1, 2]}"#, "true"),
        ExpressionCase(
            #"{"$filter": {"input": "$a", "cond": {"$gt": ["$$this", 1]}, "limit": 1}}"#,
            #"{"a": [1, 2, 3]}"#,
            "[2]"
        ),
        ExpressionCase(
            #"{"$map": {"input": "$a", "as": "x", "in": {"$add": ["$$x", 1]}}}"#,
            #"{"a": [1, 2]}"#,
            "[2, 3]"
        ),
        ExpressionCase(
            #"{"$reduce": {"input": "$a", "initialValue": 0, "in": {"$add": ["$$value", "$$this"]}}}"#,
            #"{"a": [1, 2]}"#,
            "3"
        ),
        ExpressionCase(#"{"$slice": ["$a", -2]}"#, #"{"a": [1, 2, 3]}"#, "[2, 3]"),
        ExpressionCase(#"{"$slice": ["$a", 1, 1]}"#, #"{"a": [1, 2, 3]}"#, "[2]"),
        ExpressionCase(#"{"$concatArrays": [[1], [2]]}"#, "[1, 2]"),
        ExpressionCase(#"{"$range": [0, 10, 4]}"#, "[0, 4, 8]"),
        ExpressionCase(#"{"$range": [3, 0, -1]}"#, "[3, 2, 1]"),
        ExpressionCase(
            #"{"$zip": {"inputs": [[1, 2], [3]], "useLongestLength": true, "defaults": [0, 9]}}"#,
            "[[1, 3], [2, 9]]"
        ),
        ExpressionCase(#"{"$sortArray": {"input": [3, 1, 2], "sortBy": -1}}"#, "[3, 2, 1]"),
        ExpressionCase(
            #"{"$sortArray": {"input": [{"a": 2}, {"a": 1}], "sortBy": {"a": 1}}}"#,
            #"[{"a": 1}, {"a": 2}]"#
        ),
        ExpressionCase(#"{"$indexOfArray": [[1, 2], 2.0]}"#, "1"),
        ExpressionCase(#"{"$first": [[7, 8]]}"#, "7"),
        ExpressionCase(#"{"$setUnion": [[1, 2], [2.0, 3]]}"#, "[1, 2, 3]"),
        ExpressionCase(#"{"$setIntersection": [[1, 2], [2.0]]}"#, "[2]"),
        ExpressionCase(#"{"$setDifference": [[1, 2], [2.0]]}"#, "[1]"),
        ExpressionCase(#"{"$setEquals": [[1, 2, 2], [2.0, 1]]}"#, "true"),
        ExpressionCase(#"{"$anyElementTrue": [[0, 1]]}"#, "true"),
    ]

    static let objects = [
        ExpressionCase(#"{"$mergeObjects": [{"a": 1, "b": 1}, null, {"a": 2}]}"#, #"{"a": 2, "b": 1}"#),
        ExpressionCase(#"{"$objectToArray": {"a": 1}}"#, #"[{"k": "a", "v": 1}]"#),
        ExpressionCase(#"{"$arrayToObject": [[["a", 1], ["a", 2]]]}"#, #"{"a": 2}"#),
        ExpressionCase(#"{"$getField": "a.b"}"#, #"{"a.b": 3}"#, "3"),
        ExpressionCase(#"{"$setField": {"field": "a.b", "input": {}, "value": 1}}"#, #"{"a.b": 1}"#),
        ExpressionCase(#"{"$unsetField": {"field": "a", "input": {"a": 1, "b": 2}}}"#, #"{"b": 2}"#),
    ]

    static let dates = [
        ExpressionCase(#"{"$year": {"date": "$d", "timezone": "America/New_York"}}"#, newYear, "2019"),
        ExpressionCase(#"{"$month": "$d"}"#, newYear, "1"),
        ExpressionCase(#"{"$dayOfWeek": "$d"}"#, newYear, "4"),
        ExpressionCase(#"{"$isoWeek": "$d"}"#, newYear, "1"),
        ExpressionCase(#"{"$dayOfYear": "$d"}"#, newYear, "1"),
        ExpressionCase(#"{"$dateToString": {"date": "$d"}}"#, newYear, #""2020-01-01T00:30:00.000Z""#),
        ExpressionCase(
            #"{"$dateToString": {"date": "$d", "format": "%d.%m.%Y %H:%M %z", "timezone": "Asia/Kolkata"}}"#,
            newYear,
            #""01.01.2020 06:00 +0530""#
        ),
        ExpressionCase(#"{"$dateToString": {"date": null, "onNull": "-"}}"#, #""-""#),
        ExpressionCase(
            #"{"$dateFromString": {"dateString": "2020-01-01T01:30:00", "timezone": "Europe/Berlin"}}"#,
            #"{"$date": {"$numberLong": "1577838600000"}}"#
        ),
        ExpressionCase(
            #"{"$dateAdd": {"startDate": {"$toDate": "2020-01-31"}, "unit": "month", "amount": 1}}"#,
            #"{"$date": "2020-02-29T00:00:00Z"}"#
        ),
        ExpressionCase(
            #"{"$dateDiff": {"startDate": {"$toDate": "2020-12-31"}, "endDate": {"$toDate": "2021-01-01"}, "unit": "year"}}"#,
            #"{"$numberLong": "1"}"#
        ),
        ExpressionCase(
            #"{"$dateTrunc": {"date": "$d", "unit": "hour"}}"#,
            newYear,
            #"{"$date": "2020-01-01T00:00:00Z"}"#
        ),
        ExpressionCase(
            #"{"$dateFromParts": {"year": 2019, "month": 14, "day": 1}}"#,
            #"{"$date": "2020-02-01T00:00:00Z"}"#
        ),
    ]

    /// 2020-01-01T00:30:00Z, a Wednesday.
    static let newYear = #"{"d": {"$date": {"$numberLong": "1577838600000"}}}"#

    static let types = [
        ExpressionCase(#"{"$type": "$missing"}"#, #""missing""#),
        ExpressionCase(#"{"$type": 1.5}"#, #""double""#),
        ExpressionCase(#"{"$toInt": "12"}"#, "12"), ExpressionCase(#"{"$toInt": 3.9}"#, "3"),
        ExpressionCase(#"{"$toString": 1.5}"#, #""1.5""#), ExpressionCase(#"{"$toBool": "false"}"#, "true"),
        ExpressionCase(#"{"$toDecimal": "1.10"}"#, #"{"$numberDecimal": "1.10"}"#),
        ExpressionCase(#"{"$convert": {"input": "x", "to": "int", "onError": 0}}"#, "0"),
        ExpressionCase(#"{"$convert": {"input": null, "to": "int", "onNull": 1}}"#, "1"),
        ExpressionCase(#"{"$isNumber": "1"}"#, "false"),
        ExpressionCase(
            #"{"$toObjectId": "5ab9cbfa31c2ab715d42129e"}"#,
            #"{"$oid": "5ab9cbfa31c2ab715d42129e"}"#
        ),
    ]
}

extension ExpressionCase {
    init(_ expression: String, _ expected: String?) {
        self.init(expression, "{}", expected)
    }
}

@Suite("Hostile expressions")
struct HostileExpressionTests {
    private func evaluate(_ expression: BSONValue, limit: Int = 5_000_000) throws -> BSONValue? {
        try ExpressionParser.parse(expression)
            .evaluate(BSONDocument(), EvaluationContext(now: 0, meter: EvaluationMeter(limit: limit)))
    }

    @Test("refuses expressions nested beyond the limit")
    func deepNesting() {
        var expression: BSONValue = 1
        for _ in 0..<5000 { expression = ["$abs": expression] }
        let error = #expect(throws: ServiceError.self) { try evaluate(expression) }
        #expect(error?.serverCode == .overflow)
    }

    @Test("refuses values that a loop nests without end")
    func deepValue() {
        let error = #expect(throws: ServiceError.self) {
            try evaluate([
                "$reduce": ["input": ["$range": [0, 100_000]], "initialValue": 1, "in": ["$$value"]]
            ])
        }
        #expect(error?.serverCode == .overflow)
    }

    @Test("ends loops within loops")
    func nestedLoops() {
        let range: BSONValue = ["$range": [0, 100_000]]
        let error = #expect(throws: ServiceError.self) {
            try evaluate([
                "$map": ["input": range, "in": ["$size": ["$filter": ["input": range, "cond": false]]]]
            ])
        }
        #expect(error?.serverCode == .maxTimeMSExpired)
    }

    @Test("refuses texts and arrays that double beyond the limit", arguments: ["$concat", "$concatArrays"])
    func doubling(op: String) {
        var expression: BSONValue = "$$x"
        for _ in 0..<40 {
            expression = ["$let": ["vars": ["x": [op: ["$$x", "$$x"]]], "in": expression]]
        }
        let seed: BSONValue = op == "$concat" ? "ab" : [1, 2]
        #expect(throws: ServiceError.self) {
            try evaluate(["$let": ["vars": ["x": seed], "in": expression]])
        }
    }

    @Test("refuses values that share memory but not size")
    func sharedGrowth() {
        var expression: BSONValue = "$$x"
        for _ in 0..<40 { expression = ["$let": ["vars": ["x": ["$$x", "$$x"]], "in": expression]] }
        let error = #expect(throws: ServiceError.self) {
            try evaluate(["$let": ["vars": ["x": "a"], "in": expression]])
        }
        #expect(error?.serverCode == .exceededMemoryLimit)
    }
}
