import BSON
import Errors
import MQL
import Testing

@Suite("Constants of expressions")
struct ConstantExpressionTests {
    static let refused = [
        #"{"$divide":[1,0]}"#, #"{"$ifNull":["$a",{"$divide":[1,0]},1]}"#,
        #"{"$switch":{"branches":[{"case":true,"then":1}],"default":{"$divide":[1,0]}}}"#,
        #"{"$cond":["$a",1,{"$divide":[1,0]}]}"#, #"{"$and":["$a",{"$gt":[{"$divide":[1,0]},0]}]}"#,
        #"{"$map":{"input":"$a","in":{"$divide":[1,0]}}}"#, #"{"b":[{"$divide":[1,0]}]}"#,
    ]

    @Test("one that fails is refused before there is a document", arguments: refused)
    func refusal(expression: String) throws {
        for stage in [#"{"$project":{"x":\#(expression)}}"#, #"{"$match":{"$expr":\#(expression)}}"#] {
            let value = try ExtendedJSON.readValue(Array(stage.utf8))
            let error = #expect(throws: ServiceError.self) { try PipelineParser.parse([value]) }
            #expect(error?.serverCode?.number == 2, "\(stage)")
        }
    }

    static let accepted: [(expression: String, value: String)] = [
        (#"{"$switch":{"branches":[{"case":false,"then":{"$divide":[1,0]}}],"default":1}}"#, "1"),
        (#"{"$switch":{"branches":[{"case":true,"then":2},{"case":{"$divide":[1,0]},"then":1}]}}"#, "2"),
        (#"{"$cond":[true,3,{"$divide":[1,0]}]}"#, "3"), (#"{"$cond":["$b",{"$divide":[1,"$z"]},4]}"#, "4"),
        (#"{"$or":[{"$divide":[1,"$z"]},true]}"#, "true"),
        (#"{"$size":{"$range":[0,100000]}}"#, "100000"),
    ]

    @Test(
        "what no document can reach is left alone, and what takes long is left to the documents",
        arguments: accepted
    )
    func acceptance(expression: String, value: String) throws {
        let stage = try ExtendedJSON.readValue(Array(#"{"$project":{"_id":0,"x":\#(expression)}}"#.utf8))
        let pipeline = try PipelineParser.parse([stage])
        let found = try pipeline.run([["z": 0]], EvaluationContext(now: 0))
        #expect(try found == [["x": ExtendedJSON.readValue(Array(value.utf8))]])
    }
}
