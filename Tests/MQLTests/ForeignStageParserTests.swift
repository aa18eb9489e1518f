import BSON
import Errors
import MQL
import Testing

@Suite("Stages that reach other collections, parsed")
struct ForeignStageParserTests {
    static let refusals: [(stage: String, code: Int)] = [
        (#"{"$lookup":1}"#, 9), (#"{"$lookup":{}}"#, 9), (#"{"$lookup":{"from":"a"}}"#, 40414),
        (#"{"$lookup":{"from":"a","as":"b"}}"#, 9),
        (#"{"$lookup":{"from":"a","localField":"x","as":"b"}}"#, 9),
        (#"{"$lookup":{"from":"a","localField":"$x","foreignField":"y","as":"b"}}"#, 16410),
        (#"{"$lookup":{"from":"a","pipeline":[],"as":"b","extra":1}}"#, 40415),
        (#"{"$lookup":{"from":"a","pipeline":{},"as":"b"}}"#, 14),
        (#"{"$lookup":{"from":"a","pipeline":[{"$out":"x"}],"as":"b"}}"#, 51047),
        (#"{"$lookup":{"from":"a","let":{"Big":1},"pipeline":[],"as":"b"}}"#, 9),
        (
            #"{"$lookup":{"from":"a","pipeline":[{"$match":{"$expr":{"$eq":["$a","$$no"]}}}],"as":"b"}}"#,
            17276
        ),
        (#"{"$unionWith":1}"#, 9), (#"{"$unionWith":{"coll":"a","pipeline":[{"$merge":"x"}]}}"#, 31441),
        (#"{"$unionWith":""}"#, 73),
        (#"{"$graphLookup":{"from":"a"}}"#, 40105), (#"{"$graphLookup":{"from":"a","x":1}}"#, 40104),
        (
            #"{"$graphLookup":{"from":"a","startWith":1,"connectFromField":"a","connectToField":"b","as":"c","maxDepth":-1}}"#,
            40101
        ),
        (#"{"$facet":{"a":[{"$out":"x"}]}}"#, 40600), (#"{"$facet":{"a":[{"$facet":{"b":[]}}]}}"#, 40600),
        (#"{"$merge":1}"#, 14), (#"{"$merge":{"into":1}}"#, 51178), (#"{"$merge":{"into":""}}"#, 5_786_800),
        (#"{"$merge":{"into":"system.x"}}"#, 31319),
        (#"{"$merge":{"into":{"db":"admin","coll":"x"}}}"#, 31320),
        (#"{"$merge":{"into":"a","on":[]}}"#, 51187), (#"{"$merge":{"into":"a","on":["b","b"]}}"#, 31465),
        (#"{"$merge":{"into":"a","whenMatched":"x"}}"#, 2),
        (#"{"$merge":{"into":"a","whenMatched":1}}"#, 51191),
        (#"{"$merge":{"into":"a","whenMatched":"fail","whenNotMatched":"fail"}}"#, 51181),
        (#"{"$merge":{"into":"a","let":{}}}"#, 51199),
        (#"{"$merge":{"into":"a","let":{"new":1},"whenMatched":[]}}"#, 51273),
        (#"{"$out":1}"#, 16990), (#"{"$out":{"db":"a"}}"#, 40414), (#"{"$out":"system.x"}"#, 17385),
        (#"{"$out":{"db":"local","coll":"a"}}"#, 31321), (#"{"$out":{"db":"a b","coll":"a"}}"#, 73),
    ]

    @Test("it refuses with MongoDB's code", arguments: refusals)
    func refusal(stage: String, code: Int) throws {
        let stages = [try ExtendedJSON.readValue(Array(stage.utf8))]
        let error = #expect(throws: ServiceError.self) { try PipelineParser.parse(stages) }
        #expect(error?.serverCode?.number == code, "\(error?.message ?? "")")
    }

    @Test("a stage that writes is the last one", arguments: [#"{"$out":"a"}"#, #"{"$merge":"a"}"#])
    func lastStage(stage: String) throws {
        let output = try ExtendedJSON.readValue(Array(stage.utf8))
        #expect(try PipelineParser.parse([["$match": [:]], output]).output?.input.stages.count == 1)
        let error = #expect(throws: ServiceError.self) { try PipelineParser.parse([output, ["$limit": 1]]) }
        #expect(error?.serverCode?.number == 40601)
    }

    @Test("pipelines nest to a bound")
    func nesting() throws {
        var stage = #"{"$limit":1}"#
        for _ in 0..<30 { stage = #"{"$lookup":{"from":"a","pipeline":[\#(stage)],"as":"b"}}"# }
        let stages = [try ExtendedJSON.readValue(Array(stage.utf8))]
        let error = #expect(throws: ServiceError.self) { try PipelineParser.parse(stages) }
        #expect(error?.serverCode?.number == 232)
    }

    @Test("outside of a service, none of them pretends to have run")
    func alone() throws {
        let pipeline = try PipelineParser.parse([["$unionWith": "a"]])
        #expect(throws: ServiceError.self) { try pipeline.run([], EvaluationContext(now: 0)) }
    }
}
