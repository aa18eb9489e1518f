import BSON
import Errors
import MQL
import Testing

/// Drivers branch on the number and read the name, so that no refusal may go without.
///
/// Source: `reference/mql.md` §7.
@Suite("Codes and names of refusals")
struct ErrorCodeTests {
    /// An action of the Data API and the members of its body.
    struct Example: CustomTestStringConvertible, Sendable {
        let action: String
        let members: String
        let number: Int
        let name: String

        init(_ action: String, _ members: String, _ number: Int, _ name: String? = nil) {
            self.action = action
            self.members = members
            self.number = number
            self.name = name ?? "Location\(number)"
        }

        var testDescription: String { "\(action) \(members)" }
    }

    static let bodies: [Example] = [
        Example("find", "filter:1", 14, "TypeMismatch"), Example("find", "sort:1", 14, "TypeMismatch"),
        Example("find", "limit:'x'", 14, "TypeMismatch"), Example("find", "limit:-1", 2, "BadValue"),
        Example("aggregate", "", 40414), Example("insertOne", "document:[]", 14, "TypeMismatch"),
        Example("insertMany", "documents:[]", 16, "InvalidLength"),
        Example("replaceOne", "filter:{},replacement:{$set:{a:1}}", 9, "FailedToParse"),
    ]

    static let filters: [Example] = [
        Example("find", "filter:{a:{$foo:1}}", 2, "BadValue"),
        Example("find", "filter:{$foo:1}", 2, "BadValue"),
        Example("find", "filter:{a:{$in:1}}", 2, "BadValue"),
        Example("find", "filter:{$or:[]}", 2, "BadValue"),
        Example("find", "filter:{a:{$type:[]}}", 9, "FailedToParse"),
        Example("find", "filter:{a:{$type:true}}", 14, "TypeMismatch"),
        Example("find", "filter:{a:{$regex:'['}}", 51091),
        Example("find", "filter:{a:{$regex:'a',$options:'q'}}", 51108),
        Example("find", "filter:{$expr:{$foo:1}}", 168, "InvalidPipelineOperator"),
        Example("find", "filter:{a:{$elemMatch:{$expr:true}}}", 2, "BadValue"),
        Example("find", "filter:{$jsonSchema:{x:1}}", 9, "FailedToParse"),
    ]

    static let shapes: [Example] = [
        Example("find", "projection:{a:1,b:0}", 31254), Example("find", "projection:{a:0,b:1}", 31253),
        Example("find", "projection:{a:{$foo:1}}", 31325),
        Example("find", "projection:{a:{$elemMatch:{$jsonSchema:{}}}}", 224, "QueryFeatureNotAllowed"),
        Example("find", "sort:{a:2}", 15975), Example("find", "sort:{a:'x'}", 15974),
    ]

    static let updates: [Example] = [
        Example("updateOne", "filter:{},update:{$foo:{a:1}}", 9, "FailedToParse"),
        Example("updateOne", "filter:{},update:{$inc:{a:'x'}}", 14, "TypeMismatch"),
        Example("updateOne", "filter:{},update:{$set:{a:1,'a.b':1}}", 40, "ConflictingUpdateOperators"),
        Example("updateOne", "filter:{},update:{$set:{'a.':1}}", 56, "EmptyFieldName"),
        Example("replaceOne", "filter:{},replacement:{a:1,$b:1}", 52, "DollarPrefixedFieldName"),
        Example("updateOne", "filter:{},update:[{$match:{}}]", 72, "InvalidOptions"),
    ]

    static let pipelines: [Example] = [
        Example("aggregate", "pipeline:[{$foo:1}]", 40324), Example("aggregate", "pipeline:[{}]", 40323),
        Example("aggregate", "pipeline:[{$group:{}}]", 15955),
        Example("aggregate", "pipeline:[{$limit:0}]", 15958),
        Example("aggregate", "pipeline:[{$group:{_id:1,a:{$foo:1}}}]", 15952),
        Example("aggregate", "pipeline:[{$group:{_id:1,a:{$add:[1]}}}]", 40237),
        Example("aggregate", "pipeline:[{$project:{}}]", 51272),
        Example("aggregate", "pipeline:[{$set:{a:{$gt:[1]}}}]", 16020),
    ]

    @Test("every refusal of a body has both", arguments: bodies + filters + shapes + updates + pipelines)
    func refusal(_ example: Example) throws {
        let members = example.members.isEmpty ? "" : ",\(example.members)"
        let body = "{dataSource:'s',database:'d',collection:'c'\(members)}".json
        let error = #expect(throws: ServiceError.self) {
            try OperationParser.parse(action: example.action, body: MQLText.document(body))
        }
        #expect(error?.serverCode?.number == example.number)
        #expect(error?.serverCode?.name == example.name)
    }

    @Test(
        "and of evaluations",
        arguments: [
            (#"{"$toInt": "x"}"#, 241, "ConversionFailure"), (#"{"$add": ["x", 1]}"#, 14, "TypeMismatch"),
            (#"{"$divide": [1, 0]}"#, 2, "BadValue"),
            (#"{"$range": [0, 2147483647]}"#, 146, "ExceededMemoryLimit"),
            (#"{"$size": 1}"#, 17124, "Location17124"), (#"{"$function": {}}"#, 238, "NotImplemented"),
        ]
    )
    func evaluation(_ expression: String, _ number: Int, _ name: String) {
        let error = #expect(throws: ServiceError.self) { try ExpressionCase(expression, nil).evaluate() }
        #expect(error?.serverCode?.number == number)
        #expect(error?.serverCode?.name == name)
    }

    @Test(
        "$group has codes of its own",
        arguments: [
            (#"{"$sum": {"$divide": [1, "$zero"]}}"#, 4_848_401),
            (#"{"$max": {"$mod": [1, "$zero"]}}"#, 4_848_403),
            (#"{"$topN": {"n": 0, "sortBy": {"a": 1}, "output": 1}}"#, 7_548_606),
            (#"{"$firstN": {"n": "x", "input": 1}}"#, 7_548_606),
        ]
    )
    func group(_ accumulator: String, _ code: Int) {
        let error = #expect(throws: ServiceError.self) {
            try PipelineCase(#"[{"$group": {"_id": null, "r": \#(accumulator)}}]"#, #"[{"zero": 0}]"#, "")
                .run()
        }
        #expect(error?.serverCode?.number == code)
    }

    @Test("$bucketAuto has those of expressions")
    func bucketAuto() {
        let stage =
            #"[{"$bucketAuto": {"groupBy": "$a", "buckets": 1, "output": {"r": {"$sum": {"$divide": [1, "$zero"]}}}}}]"#
        let error = #expect(throws: ServiceError.self) {
            try PipelineCase(stage, #"[{"zero": 0}]"#, "").run()
        }
        #expect(error?.serverCode?.number == 2)
    }

    @Test("operators kept from users are refused as unauthorized")
    func restricted() {
        let error = RestrictedOperators.refusal(of: "$where")
        #expect(error.serverCode?.number == 13)
        #expect(error.serverCode?.name == "Unauthorized")
    }
}
