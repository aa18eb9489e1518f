import BSON
import Errors
import MQL
import Testing

@Suite("Options of operations, parsed")
struct OptionParserTests {
    private func parse(_ members: String) throws -> DataOperation {
        var body: BSONDocument = ["dataSource": "s", "database": "d", "collection": "c"]
        for field in try ExtendedJSON.readDocument(Array("{\(members)}".utf8)) {
            body[field.key] = field.value
        }
        return try OperationParser.parse(action: "find", body: body)
    }

    static let refusals: [(members: String, code: Int)] = [
        (#""let":1"#, 14), (#""let":{"Big":1}"#, 9), (#""let":{"CURRENT":1}"#, 9),
        (#""let":{"a":"$b"}"#, 4_890_500),
        (#""let":{"a":{"$map":{"input":[1],"in":"$$ROOT"}}}"#, 4_890_500), (#""let":{"a":"$$b"}"#, 17276),
        (#""let":{"a":1},"filter":{"$expr":"$$b"}"#, 17276), (#""maxTimeMS":"1""#, 14),
        (#""maxTimeMS":-1"#, 2), (#""maxTimeMS":1.5"#, 9), (#""hint":{"$natural":0}"#, 2),
        (#""hint":{"$natural":1,"a":1}"#, 2), (#""maxTimeMS":3000000000"#, 2), (#""hint":1"#, 9),
        (#""collation":1"#, 14), (#""collation":{"strength":1}"#, 40414),
        (#""collation":{"locale":"en","x":1}"#, 40415), (#""collation":{"locale":1}"#, 14),
        (#""collation":{"locale":"en","strength":9}"#, 2), (#""collation":{"locale":"en","strength":0}"#, 2),
        (#""collation":{"locale":"en","strength":"x"}"#, 14), (#""collation":{"locale":"not a locale"}"#, 2),
        (#""collation":{"locale":"EN"}"#, 2), (#""collation":{"locale":""}"#, 2),
        (#""collation":{"locale":"xx"}"#, 2), (#""collation":{"locale":"en","alternate":"x"}"#, 2),
        (#""collation":{"locale":"en","caseFirst":"x"}"#, 2),
        (#""collation":{"locale":"en","caseFirst":"upper","strength":2}"#, 2),
        (#""collation":{"locale":"fr","backwards":true,"strength":1}"#, 2),
        (#""collation":{"locale":"en","numericOrdering":1}"#, 14),
        (#""filter":{"$expr":true},"projection":{"a.$":1}"#, 224),
        (#""filter":{"a":{"$elemMatch":{"$expr":true}}}"#, 2),
        (#""projection":{"a":{"$elemMatch":{"$and":[{"$expr":true}]}}}"#, 2),
        (#""projection":{"a":{"$elemMatch":{"b":1},"$slice":1}}"#, 16410),
        (#""projection":{"a.$":"b"}"#, 31308), (#""projection":{"a.$":{"$add":[1]}}"#, 31271),
    ]

    @Test("it refuses with MongoDB's code", arguments: refusals)
    func refusal(members: String, code: Int) {
        let error = #expect(throws: ServiceError.self) { try parse(members) }
        #expect(error?.serverCode?.number == code, "\(error?.message ?? "")")
    }

    @Test("it takes what says nothing, or what is the default")
    func defaults() throws {
        let options = try parse(
            #""let":{},"maxTimeMS":0,"hint":{"a":1},"comment":{"x":1},"collation":{}"#
        ).options
        #expect(options.timeLimit == nil)
        #expect(options.collation == nil)
        #expect(
            try parse(#""collation":{"locale":"simple","strength":1,"caseLevel":null}"#).options.collation
                == nil
        )
        #expect(try parse(#""maxTimeMS":{"$numberLong":"250"}"#).options.timeLimit == 250)
    }

    /// Filter, projection, the document `{a: [1, 2, 3, 4, 5], b: [10, 20, 30], c: {d: [1, 2]}}` as shown.
    static let shownElements: [(filter: String, projection: String, expected: String?)] = [
        (#"{"$and":[{"a":{"$gt":1}},{"a":{"$lt":5}}]}"#, #"{"a.$":1}"#, #"{"a":[2]}"#),
        (#"{"a":{"$all":[3,5]}}"#, #"{"a.$":1}"#, #"{"a":[5]}"#),
        (#"{"b":{"$gte":20}}"#, #"{"a.$":1}"#, #"{"a":[2]}"#),
        (#"{"b":20}"#, #"{"c.d.$":1}"#, #"{"c":{"d":[2]}}"#),
        (#"{"$or":[{"a":9},{"a":3}]}"#, #"{"a.$":1}"#, #"{"a":[3]}"#),
        (#"{"$or":[{"a":3}]}"#, #"{"a.$":1}"#, #"{"a":[3]}"#),
        (#"{"$or":[{"a":3},{"x":null}]}"#, #"{"a.$":1}"#, nil), (#"{"a":5}"#, #"{"b.$":1}"#, nil),
        (#"{"a":{"$ne":9}}"#, #"{"a.$":1}"#, nil),
    ]

    @Test("the positional form shows the element that MongoDB shows, or none", arguments: shownElements)
    func positional(filter: String, projection: String, expected: String?) throws {
        let document = try ExtendedJSON.readDocument(
            Array(#"{"a":[1,2,3,4,5],"b":[10,20,30],"c":{"d":[1,2]}}"#.utf8)
        )
        let parsed = try FilterParser.parse(ExtendedJSON.readDocument(Array(filter.utf8)))
        let shown = try ProjectionParser.parse(
            ExtendedJSON.readDocument(Array(projection.utf8)),
            inPipeline: false
        )
        let context = EvaluationContext(now: 0)
        guard let expected else {
            #expect(throws: ServiceError.self) { try shown?.apply(document, filter: parsed, context) }
            return
        }
        #expect(
            try shown?.apply(document, filter: parsed, context)
                == ExtendedJSON.readDocument(Array(expected.utf8))
        )
    }
}
