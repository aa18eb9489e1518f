import BSON
import Errors
import MQL
import Testing

@Suite("$setWindowFields")
struct WindowStageTests {
    static let docs =
        #"[{"_id":3,"p":"a","v":30},{"_id":1,"p":"a","v":10},{"_id":2,"p":"a","v":20},{"_id":4,"p":"b","v":5}]"#

    /// A case with one output field, on documents sorted by `_id` within partitions `p`.
    static func one(_ output: String, _ values: [String]) -> PipelineCase {
        let rows = [(1, "a", 10), (2, "a", 20), (3, "a", 30), (4, "b", 5)]
        let expected = zip(rows, values).map {
            #"{"_id":\#($0.0),"p":"\#($0.1)","v":\#($0.2),"r":\#($1)}"#
        }
        return PipelineCase(
            #"[{"$setWindowFields":{"partitionBy":"$p","sortBy":{"_id":1},"output":{"r":\#(output)}}}]"#,
            docs,
            "[\(expected.joined(separator: ","))]"
        )
    }

    static let cases = [
        one(#"{"$sum":"$v"}"#, ["60", "60", "60", "5"]),
        one(#"{"$sum":"$v","window":{"documents":["unbounded","current"]}}"#, ["10", "30", "60", "5"]),
        one(#"{"$sum":"$v","window":{"documents":[-1,0]}}"#, ["10", "30", "50", "5"]),
        one(#"{"$sum":"$v","window":{"documents":[1,"unbounded"]}}"#, ["50", "30", "0", "0"]),
        one(#"{"$avg":"$v","window":{"documents":[0,1]}}"#, ["15.0", "25.0", "30.0", "5.0"]),
        one(#"{"$push":"$v","window":{"documents":[-1,1]}}"#, ["[10,20]", "[10,20,30]", "[20,30]", "[5]"]),
        one(#"{"$max":"$v","window":{"documents":[-2,-1]}}"#, ["null", "10", "20", "null"]),
        one(#"{"$first":"$v","window":{"documents":[1,2]}}"#, ["20", "30", "null", "null"]),
        one(#"{"$count":{},"window":{"documents":[0,"unbounded"]}}"#, ["3", "2", "1", "1"]),
        one(#"{"$sum":"$v","window":{"range":[-1,0]}}"#, ["10", "30", "50", "5"]),
        one(#"{"$sum":"$v","window":{"range":["current","unbounded"]}}"#, ["60", "50", "30", "5"]),
        one(
            #"{"$topN":{"n":2,"sortBy":{"v":-1},"output":"$v"},"window":{"documents":["unbounded","current"]}}"#,
            ["[10]", "[20,10]", "[30,20]", "[5]"]
        ),
        one(#"{"$rank":{}}"#, ["1", "2", "3", "1"]),
        one(#"{"$documentNumber":{}}"#, ["1", "2", "3", "1"]),
        one(#"{"$shift":{"output":"$v","by":-1,"default":"none"}}"#, [#""none""#, "10", "20", #""none""#]),
        one(#"{"$shift":{"output":"$v","by":1}}"#, ["20", "30", "null", "null"]),
        one(#"{"$expMovingAvg":{"input":"$v","N":3}}"#, ["10.0", "15.0", "22.5", "5.0"]),
        one(#"{"$expMovingAvg":{"input":"$v","alpha":0.5}}"#, ["10.0", "15.0", "22.5", "5.0"]),
        one(
            #"{"$derivative":{"input":"$v"},"window":{"documents":[-1,0]}}"#,
            ["null", "10.0", "10.0", "null"]
        ),
        one(
            #"{"$integral":{"input":"$v"},"window":{"documents":["unbounded","current"]}}"#,
            ["0", "15.0", "40.0", "0"]
        ),
        one(#"{"$stdDevPop":"$v","window":{"documents":[0,0]}}"#, ["0", "0", "0", "0"]),
        one(#"{"$covariancePop":["$_id","$v"]}"#, Array(repeating: "6.666666666666667", count: 3) + ["0.0"]),
        one(
            #"{"$covarianceSamp":["$_id","$v"],"window":{"documents":[-1,0]}}"#,
            ["null", "5.0", "5.0", "null"]
        ),
        PipelineCase(
            #"[{"$setWindowFields":{"sortBy":{"_id":1},"output":{"c":{"$covariancePop":["$x","$y"]}}}},{"$project":{"_id":0,"c":1}}]"#,
            #"[{"_id":1,"x":{"$numberDecimal":"1"},"y":2},{"_id":2,"x":2,"y":{"$numberDecimal":"4"}},{"_id":3,"x":{"$numberDecimal":"3"},"y":6}]"#,
            #"[{"c":{"$numberDecimal":"1.333333333333333333333333333333333"}},{"c":{"$numberDecimal":"1.333333333333333333333333333333333"}},{"c":{"$numberDecimal":"1.333333333333333333333333333333333"}}]"#
        ),
        PipelineCase(
            #"[{"$setWindowFields":{"sortBy":{"_id":1},"output":{"c":{"$covarianceSamp":["$x","$y"]}}}},{"$project":{"_id":0,"c":1}}]"#,
            #"[{"_id":1,"x":{"$numberDecimal":"1"},"y":2},{"_id":2,"x":2,"y":{"$numberDecimal":"4"}},{"_id":3,"x":{"$numberDecimal":"3"},"y":6}]"#,
            #"[{"c":{"$numberDecimal":"2"}},{"c":{"$numberDecimal":"2"}},{"c":{"$numberDecimal":"2"}}]"#
        ),
        PipelineCase(
            #"[{"$setWindowFields":{"sortBy":{"_id":1},"output":{"c":{"$covariancePop":["$x","$x"],"window":{"documents":["unbounded","current"]}}}}},{"$project":{"_id":0,"c":1}}]"#,
            #"[{"_id":1,"x":1e308},{"_id":2,"x":1e308}]"#,
            #"[{"c":0.0},{"c":{"$numberDouble":"NaN"}}]"#
        ),
        PipelineCase(
            #"[{"$setWindowFields":{"sortBy":{},"output":{"a":{"$sum":"$s","window":{"documents":[-1,0]}}}}}]"#,
            #"[{"s":1},{"s":2},{"s":3}]"#,
            #"[{"s":1,"a":1},{"s":2,"a":3},{"s":3,"a":5}]"#
        ),
        PipelineCase(
            #"[{"$setWindowFields":{"sortBy":{"s":1},"output":{"a":{"$rank":{}},"b":{"$denseRank":{}}}}}]"#,
            #"[{"s":1},{"s":1},{"s":2}]"#,
            #"[{"s":1,"a":1,"b":1},{"s":1,"a":1,"b":1},{"s":2,"a":3,"b":2}]"#
        ),
        PipelineCase(
            #"[{"$setWindowFields":{"sortBy":{"t":1},"output":{"x.y":{"$linearFill":"$v"},"l":{"$locf":"$v"}}}}]"#,
            #"[{"t":1},{"t":2,"v":2},{"t":3,"v":null},{"t":6,"v":10}]"#,
            #"[{"t":1,"x":{"y":null},"l":null},{"t":2,"v":2,"x":{"y":2},"l":2},{"t":3,"v":null,"x":{"y":4.0},"l":2},{"t":6,"v":10,"x":{"y":10},"l":10}]"#
        ),
        PipelineCase(
            #"[{"$setWindowFields":{"sortBy":{"d":1},"output":{"c":{"$count":{},"window":{"range":[-1,0],"unit":"day"}}}}},{"$unset":"d"}]"#,
            #"[{"d":{"$date":"2024-01-01T00:00:00Z"}},{"d":{"$date":"2024-01-02T00:00:00Z"}},{"d":{"$date":"2024-01-03T00:00:01Z"}}]"#,
            #"[{"c":1},{"c":2},{"c":1}]"#
        ),
        PipelineCase(
            #"[{"$setWindowFields":{"partitionBy":"$p","output":{"c":{"$count":{}}}}}]"#,
            #"[{"p":1},{"p":null},{},{"p":1.0}]"#,
            #"[{"p":null,"c":2},{"c":2},{"p":1,"c":2},{"p":1.0,"c":2}]"#
        ),
    ]

    @Test("gives what MongoDB gives", arguments: Self.cases)
    func results(_ example: PipelineCase) throws {
        let expected = try ExtendedJSON.readValue(Array(example.expected.utf8))
        #expect(try ExtendedJSON.canonical(example.run()) == ExtendedJSON.canonical(expected))
    }

    static let refusals: [(String, Int)] = [
        (#"{"output":{"r":{"$rank":{}}}}"#, 5_371_602),
        (#"{"sortBy":{"a":1},"output":{"r":{"$rank":{},"window":{"documents":[0,0]}}}}"#, 5_371_601),
        (#"{"sortBy":{"a":1},"output":{"r":{"$rank":1}}}"#, 5_371_603),
        (#"{"sortBy":{"a":1}}"#, 40414), (#"{"sortBy":{"a":1},"output":{},"x":1}"#, 40415),
        (#"{"sortBy":5,"output":{}}"#, 14), (#"{"output":{"r":{"$foo":1}}}"#, 9),
        (#"{"output":{"r":{"$sum":1,"window":{"documents":[0,1]}}}}"#, 5_339_901),
        (#"{"sortBy":{"a":1},"output":{"r":{"$sum":1,"window":{"documents":[1,0]}}}}"#, 5_339_900),
        (#"{"sortBy":{"a":-1},"output":{"r":{"$sum":1,"window":{"range":[0,1]}}}}"#, 8_947_401),
        (#"{"sortBy":{"b":1},"output":{"r":{"$sum":1,"window":{"range":[0,1]}}}}"#, 5_429_414),
        (#"{"sortBy":{"a":1},"output":{"r":{"$sum":1,"window":{"range":[0,1],"unit":"day"}}}}"#, 5_429_513),
        (#"{"partitionBy":["$a"],"output":{"r":{"$sum":1}}}"#, 14),
    ]

    @Test("refuses with MongoDB's code", arguments: Self.refusals)
    func refusal(_ operand: String, _ code: Int) {
        let error = #expect(throws: ServiceError.self) {
            try PipelineCase(#"[{"$setWindowFields":\#(operand)}]"#, #"[{"a":1}]"#, "").run()
        }
        #expect(error?.serverCode?.number == code)
    }

    @Test(
        "gives for large frames what it gives for small ones",
        arguments: [
            #"{"$sum":"$v"}"#, #"{"$avg":"$v"}"#, #"{"$min":"$v"}"#, #"{"$max":"$v"}"#, #"{"$count":{}}"#,
            #"{"$maxN":{"n":3,"input":"$v"}}"#, #"{"$first":"$v"}"#, #"{"$lastN":{"n":2,"input":"$v"}}"#,
            #"{"$bottomN":{"n":2,"sortBy":{"v":1},"output":"$_id"}}"#, #"{"$addToSet":"$v"}"#,
        ]
    )
    func largeFrames(function: String) throws {
        let documents = (0..<300).map { (number: Int) -> BSONDocument in
            ["_id": .int32(Int32(number)), "v": .int32(Int32(number * 7919 % 101))]
        }
        for (lower, upper) in [(-100, 20), (-90, -10), (5, 120)] {
            let output = function.dropLast() + #","window":{"documents":[\#(lower),\#(upper)]}}"#
            let stage = #"{"$setWindowFields":{"sortBy":{"_id":1},"output":{"r":\#(output)}}}"#
            let windowed = try run(stage, documents)
            for place in documents.indices {
                let start = max(0, place + lower)
                let end = min(documents.count, place + upper + 1)
                let frame = start < end ? Array(documents[start..<end]) : []
                let whole = try run(
                    #"{"$setWindowFields":{"sortBy":{"_id":1},"output":{"r":\#(function)}}}"#,
                    frame
                )
                if let expected = whole.first?["r"] {
                    #expect(BSONOrdering.equal(windowed[place]["r"] ?? .undefined, expected), "\(place)")
                }
            }
        }
    }

    private func run(_ stage: String, _ documents: [BSONDocument]) throws -> [BSONDocument] {
        let stages = [try ExtendedJSON.readValue(Array(stage.utf8))]
        return try PipelineParser.parse(stages).run(documents, EvaluationContext(now: 0))
    }
}
