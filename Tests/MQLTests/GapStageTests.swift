import BSON
import Errors
import MQL
import Testing

@Suite("$densify, $fill and the granularity of $bucketAuto")
struct GapStageTests {
    static let cases = [
        PipelineCase(
            #"[{"$densify":{"field":"v","range":{"step":2,"bounds":"full"}}}]"#,
            #"[{"v":5},{"v":1,"x":1},{"x":2}]"#,
            #"[{"x":2},{"v":1,"x":1},{"v":3},{"v":5}]"#
        ),
        PipelineCase(
            #"[{"$densify":{"field":"v","range":{"step":1,"bounds":[0,3]}}}]"#,
            #"[{"v":1.5},{"v":7}]"#,
            #"[{"v":0},{"v":1},{"v":1.5},{"v":2},{"v":7}]"#
        ),
        PipelineCase(
            #"[{"$densify":{"field":"v","partitionByFields":["p"],"range":{"step":1,"bounds":"partition"}}}]"#,
            #"[{"p":"b","v":9},{"p":"a","v":1},{"p":"a","v":3}]"#,
            #"[{"p":"a","v":1},{"p":"a","v":2},{"p":"a","v":3},{"p":"b","v":9}]"#
        ),
        PipelineCase(
            #"[{"$densify":{"field":"v","partitionByFields":["p"],"range":{"step":200,"bounds":"full"}}},{"$project":{"_id":0,"v":1}}]"#,
            #"[{"p":1,"v":600},{"p":1,"v":750},{"p":2,"v":1000}]"#,
            #"[{"v":600},{"v":750},{"v":800},{"v":1000},{"v":600},{"v":800},{"v":1000}]"#
        ),
        PipelineCase(
            #"[{"$densify":{"field":"d","range":{"step":1,"unit":"month","bounds":"full"}}},{"$project":{"m":{"$month":"$d"}}}]"#,
            #"[{"d":{"$date":"2024-01-31T00:00:00Z"}},{"d":{"$date":"2024-04-30T00:00:00Z"}}]"#,
            #"[{"m":1},{"m":2},{"m":3},{"m":4}]"#
        ),
        PipelineCase(
            #"[{"$fill":{"sortBy":{"t":1},"output":{"a":{"method":"locf"},"b":{"method":"linear"},"c":{"value":"$t"}}}}]"#,
            #"[{"t":3,"b":3},{"t":1,"a":5,"b":1,"c":0},{"t":2}]"#,
            #"[{"t":1,"a":5,"b":1,"c":0},{"t":2,"a":5,"b":2.0,"c":2},{"t":3,"b":3,"a":5,"c":3}]"#
        ),
        PipelineCase(
            #"[{"$fill":{"output":{"a":{"method":"locf"}}}}]"#,
            #"[{"a":1},{"a":null},{"a":3}]"#,
            #"[{"a":1},{"a":1},{"a":3}]"#
        ),
        PipelineCase(
            #"[{"$fill":{"partitionByFields":["p"],"sortBy":{"t":1},"output":{"a":{"method":"locf"}}}}]"#,
            #"[{"p":1,"t":1,"a":5},{"p":2,"t":2,"a":null},{"p":1,"t":3,"a":null}]"#,
            #"[{"p":1,"t":1,"a":5},{"p":1,"t":3,"a":5},{"p":2,"t":2,"a":null}]"#
        ),
        PipelineCase(
            #"[{"$bucketAuto":{"groupBy":"$x","buckets":3,"granularity":"1-2-5"}}]"#,
            #"[{"x":1},{"x":10},{"x":100},{"x":1000}]"#,
            #"[{"_id":{"min":0.5,"max":2.0},"count":1},{"_id":{"min":2.0,"max":20.0},"count":1},{"_id":{"min":20.0,"max":2000.0},"count":2}]"#
        ),
        PipelineCase(
            #"[{"$bucketAuto":{"groupBy":"$x","buckets":3,"granularity":"POWERSOF2"}}]"#,
            #"[{"x":1},{"x":10},{"x":100},{"x":1000}]"#,
            #"[{"_id":{"min":0.5,"max":2},"count":1},{"_id":{"min":2,"max":16},"count":1},{"_id":{"min":16,"max":1024},"count":2}]"#
        ),
    ]

    @Test("give what MongoDB gives", arguments: Self.cases)
    func results(_ example: PipelineCase) throws {
        let expected = try ExtendedJSON.readValue(Array(example.expected.utf8))
        #expect(try ExtendedJSON.canonical(example.run()) == ExtendedJSON.canonical(expected))
    }

    static let refusals: [(String, Int)] = [
        (#"{"$densify":{"field":"a","range":{"step":0,"bounds":"full"}}}"#, 5_733_401),
        (#"{"$densify":{"field":"a","range":{"step":1,"bounds":"partition"}}}"#, 5_733_408),
        (#"{"$densify":{"field":"a","range":{"step":1e-9,"bounds":[0,1]}}}"#, 5_897_900),
        (#"{"$densify":{"field":"s","range":{"step":1,"bounds":"full"}}}"#, 5_733_201),
        (#"{"$fill":{"output":{"a":{"method":"linear"}}}}"#, 605_001),
        (#"{"$fill":{"output":{"a":{"method":"x"}}}}"#, 6_050_202),
        (#"{"$bucketAuto":{"groupBy":"$s","buckets":1,"granularity":"R5"}}"#, 40258),
        (#"{"$bucketAuto":{"groupBy":"$a","buckets":1,"granularity":"R6"}}"#, 40257),
        (#"{"$documents":[{"a":1}]}"#, 73),
    ]

    @Test("refuse with MongoDB's code", arguments: Self.refusals)
    func refusal(_ stage: String, _ code: Int) {
        let error = #expect(throws: ServiceError.self) {
            try PipelineCase("[\(stage)]", #"[{"a":1,"s":"x"}]"#, "").run()
        }
        #expect(error?.serverCode?.number == code)
    }
}
