import BSON
import Errors
import MQL
import Testing

/// A pipeline over documents, as relaxed Extended JSON arrays, and what comes out.
struct PipelineCase: CustomTestStringConvertible, Sendable {
    let pipeline: String
    let input: String
    let expected: String

    init(_ pipeline: String, _ input: String, _ expected: String) {
        self.pipeline = pipeline
        self.input = input
        self.expected = expected
    }

    var testDescription: String { "\(pipeline) on \(input)" }

    func run(memoryLimitBytes: Int = Pipeline.standardMemoryLimit) throws -> BSONValue {
        let stages = try ExtendedJSON.readValue(Array(pipeline.utf8)).array ?? []
        let documents = try (ExtendedJSON.readValue(Array(input.utf8)).array ?? []).compactMap(\.document)
        let results = try PipelineParser.parse(stages)
            .run(documents, EvaluationContext(now: 0), memoryLimitBytes: memoryLimitBytes)
        return .array(results.map { .document($0) })
    }
}

@Suite("Aggregation pipelines")
struct PipelineEvaluatorTests {
    @Test("gives what MongoDB gives", arguments: Self.cases)
    func results(_ example: PipelineCase) throws {
        let expected = try ExtendedJSON.readValue(Array(example.expected.utf8))
        #expect(try ExtendedJSON.canonical(example.run()) == ExtendedJSON.canonical(expected))
    }

    @Test("refuses with MongoDB's code", arguments: Self.refusals)
    func refusal(_ pipeline: String, _ code: Int) {
        let error = #expect(throws: ServiceError.self) {
            try PipelineCase(pipeline, #"[{"a": 1}]"#, "").run()
        }
        #expect(error?.serverCode?.number == code)
    }

    static let numbers =
        #"[{"_id": 1, "k": "a", "n": 3}, {"_id": 2, "k": "b", "n": 1}, {"_id": 3, "k": "a", "n": 2}]"#

    static let cases = [
        PipelineCase(
            #"[{"$match": {"k": "a"}}, {"$sort": {"n": 1}}, {"$limit": 1}]"#,
            numbers,
            #"[{"_id": 3, "k": "a", "n": 2}]"#
        ),
        PipelineCase(
            #"[{"$sort": {"n": 1}}, {"$skip": 1}, {"$limit": 1}, {"$project": {"n": 1, "_id": 0}}]"#,
            numbers,
            #"[{"n": 2}]"#
        ),
        PipelineCase(
            #"[{"$group": {"_id": "$k", "t": {"$sum": "$n"}, "c": {"$count": {}}, "all": {"$push": "$n"}, "m": {"$max": "$n"}}}]"#,
            numbers,
            #"[{"_id": "a", "t": 5, "c": 2, "all": [3, 2], "m": 3}, {"_id": "b", "t": 1, "c": 1, "all": [1], "m": 1}]"#
        ),
        PipelineCase(
            #"[{"$group": {"_id": "$x", "c": {"$sum": 1}}}]"#,
            #"[{"x": 1}, {"x": 1.0}, {"x": null}, {}]"#,
            #"[{"_id": 1, "c": 2}, {"_id": null, "c": 2}]"#
        ),
        PipelineCase(
            #"[{"$group": {"_id": null, "a": {"$avg": "$n"}, "f": {"$first": "$n"}, "l": {"$last": "$q"}}}]"#,
            numbers,
            #"[{"_id": null, "a": 2.0, "f": 3, "l": null}]"#
        ),
        PipelineCase(
            #"[{"$group": {"_id": null, "s": {"$addToSet": "$k"}, "t": {"$topN": {"n": 2, "sortBy": {"n": 1}, "output": "$n"}}}}]"#,
            numbers,
            #"[{"_id": null, "s": ["a", "b"], "t": [1, 2]}]"#
        ),
        PipelineCase(
            #"[{"$sortByCount": "$k"}]"#,
            numbers,
            #"[{"_id": "a", "count": 2}, {"_id": "b", "count": 1}]"#
        ),
        PipelineCase(#"[{"$match": {"k": "z"}}, {"$count": "c"}]"#, numbers, "[]"),
        PipelineCase(#"[{"$count": "c"}]"#, numbers, #"[{"c": 3}]"#),
        PipelineCase(
            #"[{"$unwind": "$a"}]"#,
            #"[{"a": [1, 2]}, {"a": 3}, {"a": []}, {"a": null}, {}]"#,
            #"[{"a": 1}, {"a": 2}, {"a": 3}]"#
        ),
        PipelineCase(
            #"[{"$unwind": {"path": "$a", "includeArrayIndex": "i", "preserveNullAndEmptyArrays": true}}]"#,
            #"[{"a": [7]}, {"a": []}, {"a": null}]"#,
            #"[{"a": 7, "i": {"$numberLong": "0"}}, {"i": null}, {"a": null, "i": null}]"#
        ),
        PipelineCase(
            #"[{"$set": {"a.b": 1, "c": "$n"}}]"#,
            #"[{"a": [{"x": 1}, 2], "n": 5}]"#,
            #"[{"a": [{"x": 1, "b": 1}, {"b": 1}], "n": 5, "c": 5}]"#
        ),
        PipelineCase(
            #"[{"$set": {"a": "$$REMOVE", "b": {"c": 1}}}]"#,
            #"[{"a": 1, "b": {"d": 2}}]"#,
            #"[{"b": {"d": 2, "c": 1}}]"#
        ),
        PipelineCase(
            #"[{"$unset": ["a.b", "c"]}]"#,
            #"[{"a": [{"b": 1, "d": 2}, 3], "c": 4}]"#,
            #"[{"a": [{"d": 2}, 3]}]"#
        ),
        PipelineCase(#"[{"$replaceRoot": {"newRoot": "$a"}}]"#, #"[{"a": {"b": 1}}]"#, #"[{"b": 1}]"#),
        PipelineCase(
            #"[{"$replaceWith": {"$mergeObjects": [{"x": 0}, "$a"]}}]"#,
            #"[{"a": {"b": 1}}]"#,
            #"[{"x": 0, "b": 1}]"#
        ),
        PipelineCase(
            #"[{"$bucket": {"groupBy": "$n", "boundaries": [0, 2, 5], "default": "x"}}]"#,
            numbers,
            #"[{"_id": 0, "count": 1}, {"_id": 2, "count": 2}]"#
        ),
        PipelineCase(
            #"[{"$bucketAuto": {"groupBy": "$n", "buckets": 2}}]"#,
            #"[{"n": 1}, {"n": 2}, {"n": 3}, {"n": 4}]"#,
            #"[{"_id": {"min": 1, "max": 3}, "count": 2}, {"_id": {"min": 3, "max": 4}, "count": 2}]"#
        ),
        PipelineCase(
            #"[{"$facet": {"a": [{"$limit": 1}, {"$project": {"_id": 1}}], "b": [{"$count": "c"}]}}]"#,
            numbers,
            #"[{"a": [{"_id": 1}], "b": [{"c": 3}]}]"#
        ),
        PipelineCase(
            #"[{"$redact": {"$cond": [{"$eq": ["$level", 5]}, "$$PRUNE", "$$DESCEND"]}}]"#,
            #"[{"level": 1, "x": {"level": 5}, "y": [{"level": 5}, {"level": 2}]}]"#,
            #"[{"level": 1, "y": [{"level": 2}]}]"#
        ),
    ]

    static let refusals: [(String, Int)] = [
        (#"[{"$foo": 1}]"#, 40324), (#"[{"$geoNear": {}}]"#, 238),
        (#"[{"$set": {"a": {"$add": [1], "$abs": 1}}}]"#, 40181),
        (#"[{"$project": {"a": {"$add": [1], "b": 1}}}]"#, 16410),
        (#"[{"$project": {"a": {"$foo": 1}}}]"#, 31325),
        (#"[{"$group": {"_id": null, "a": {"$add": [1, 2]}}}]"#, 40237),
        (#"[{"$group": {"_id": null, "a": {"$firstN": {"n": 0, "input": "$a"}}}}]"#, 7_548_606),
        (#"[{"$sample": {"size": "x", "y": 1}}]"#, 28746),
        (#"[{"$sample": {"size": {"$numberDouble": "NaN"}}}]"#, 28747),
        (#"[{"$limit": 1, "$skip": 1}]"#, 40323),
        (#"[{}]"#, 40323),
        (#"[1]"#, 14), (#"[{"$limit": 0}]"#, 15958), (#"[{"$limit": "a"}]"#, 5_107_201),
        (#"[{"$skip": -1}]"#, 5_107_200),
        (#"[{"$project": {}}]"#, 51272), (#"[{"$group": {}}]"#, 15955),
        (#"[{"$group": {"_id": 1, "a": 1}}]"#, 40234),
        (#"[{"$group": {"_id": 1, "a": {"$foo": 1}}}]"#, 15952),
        (#"[{"$group": {"_id": 1, "a": {"$sum": 1, "$avg": 1}}}]"#, 40238),
        (#"[{"$group": {"_id": 1, "a": {"$sum": [1, 2]}}}]"#, 40237),
        (#"[{"$group": {"_id": 1, "a.b": {"$sum": 1}}}]"#, 40235),
        (#"[{"$unwind": "a"}]"#, 28818), (#"[{"$count": ""}]"#, 40157),
        (#"[{"$replaceRoot": {"newRoot": "$a"}}]"#, 40228),
        (#"[{"$set": {"a": 1, "a.b": 2}}]"#, 40176), (#"[{"$sort": {}}]"#, 15976),
        (#"[{"$bucket": {"groupBy": "$a", "boundaries": [5, 6]}}]"#, 40066),
    ]

    @Test("refuses more than a thousand stages")
    func stageLimit() {
        let stages = [BSONValue](repeating: ["$skip": 0], count: 1001)
        let error = #expect(throws: ServiceError.self) { try PipelineParser.parse(stages) }
        #expect(error?.serverCode?.number == 7_749_501)
    }

    @Test("runs a thousand stages, and expressions as deep as they may be")
    func longAndDeep() throws {
        var expression: BSONValue = "$n"
        for level in 0..<98 {
            expression =
                level.isMultiple(of: 2)
                ? ["$let": ["vars": ["x": expression], "in": "$$x"]] : ["$ifNull": [.null, expression]]
        }
        let stages = [BSONValue](repeating: ["$set": ["n": ["$add": ["$n", 1]]]], count: 999)
        let parsed = try PipelineParser.parse(stages + [["$set": ["n": expression]]])
        let results = try parsed.run([["n": 0]], EvaluationContext(now: 0))
        #expect(results.first?["n"] == 999)
    }

    @Test("refuses documents that many stages nest without end")
    func nestingStages() throws {
        let stages = [BSONValue](repeating: ["$replaceWith": ["a": "$$ROOT"]], count: 1000)
        let parsed = try PipelineParser.parse(stages)
        let error = #expect(throws: ServiceError.self) {
            try parsed.run([["n": 0]], EvaluationContext(now: 0))
        }
        #expect(error?.serverCode == .overflow)
    }

    @Test(
        "bounds what a blocking stage holds",
        arguments: [
            #"[{"$sort": {"n": 1}}, {"$count": "c"}]"#,
            #"[{"$group": {"_id": null, "a": {"$push": "$$ROOT"}}}]"#,
            #"[{"$group": {"_id": "$n"}}, {"$count": "c"}]"#,
        ]
    )
    func memoryLimit(pipeline: String) throws {
        let stages = try ExtendedJSON.readValue(Array(pipeline.utf8)).array ?? []
        let parsed = try PipelineParser.parse(stages)
        let documents = (0..<1000).map { BSONDocument([.init(key: "n", value: .int32(Int32($0)))]) }
        let error = #expect(throws: ServiceError.self) {
            try parsed.run(documents, EvaluationContext(now: 0), memoryLimitBytes: 10_000)
        }
        #expect(error?.serverCode == .exceededMemoryLimit)
    }

    @Test("stops reading when a limit is reached")
    func limitStops() throws {
        let parsed = try PipelineParser.parse([["$match": ["n": ["$gte": 2]]], ["$limit": 2]])
        var read = 0
        let documents = sequence(state: 0) { (number: inout Int32) -> BSONDocument? in
            number += 1
            read += 1
            return BSONDocument([.init(key: "n", value: .int32(number))])
        }
        let results = try parsed.run(documents, EvaluationContext(now: 0))
        #expect(results.count == 2)
        #expect(read == 3)
    }

    @Test("splits into what one executor takes and the rest")
    func split() throws {
        let parsed = try PipelineParser.parse([["$match": ["a": 1]], ["$match": ["b": 2]], ["$limit": 2]])
        #expect(parsed.leadingMatchCount == 2)
        let parts = parsed.split(after: 2)
        #expect(parts.head.stages.count == 2)
        #expect(parts.tail.stages.map(\.name) == ["$limit"])
        #expect(parsed.split(after: 99).tail.stages.isEmpty)
    }

    @Test(
        "names the stage or operator that users may not use",
        arguments: [
            (#"[{"$facet": {"a": []}}]"#, "$facet"), (#"[{"$unionWith": "a"}]"#, "$unionWith"),
            (#"[{"$lookup": {"from": "a", "pipeline": [], "as": "b"}}]"#, "$lookup"),
            (
                #"[{"$graphLookup": {"from": "a", "startWith": 1, "connectFromField": "a", "connectToField": "b", "as": "c"}}]"#,
                "$graphLookup"
            ), (#"[{"$merge": "a"}]"#, "$merge"), (#"[{"$out": "a"}]"#, "$out"),
            (#"[{"$project": {"a": {"$setIsSubset": [[], []]}}}]"#, "$setIsSubset"),
            (
                #"[{"$group": {"_id": null, "a": {"$push": {"$not": {"$setIsSubset": [[], []]}}}}}]"#,
                "$setIsSubset"
            ),
        ]
    )
    func restricted(pipeline: String, name: String) throws {
        let parsed = try PipelineParser.parse(ExtendedJSON.readValue(Array(pipeline.utf8)).array ?? [])
        let error = #expect(throws: ServiceError.self) { try RestrictedOperators.check(pipeline: parsed) }
        #expect(error?.code == .invalidParameter)
        #expect(error?.details["operator"] == name)
    }

    @Test(
        "arranges few documents as it would run over them, where it only arranges",
        arguments: [
            #"[]"#, #"[{"$sort": {"a": 1}}]"#, #"[{"$sort": {"b": -1, "a": 1}}]"#,
            #"[{"$sort": {"a": -1}}, {"$skip": 2}, {"$limit": 3}]"#, #"[{"$limit": 4}, {"$sort": {"b": 1}}]"#,
            #"[{"$skip": 100}]"#, #"[{"$limit": 100}, {"$skip": 1}]"#,
        ]
    )
    func arranged(pipeline: String) throws {
        let parsed = try PipelineParser.parse(ExtendedJSON.readValue(Array(pipeline.utf8)).array ?? [])
        let texts = [
            #"{"a": 3, "b": "x"}"#, #"{"a": null, "b": "y"}"#, #"{"b": "x"}"#, #"{"a": [5, 1], "b": "z"}"#,
            #"{"a": 3.0, "b": "w"}"#, #"{"a": [], "b": 1}"#, #"{"a": "t"}"#,
        ]
        let documents = try texts.map(MQLText.document)
        #expect(try parsed.arranged(documents) == parsed.run(documents, MQLText.context))
        #expect(try parsed.arranged([]) == parsed.run([], MQLText.context))
        #expect(try PipelineParser.parse([["$set": ["a": 1]]]).arranged(documents) == nil)
    }

    @Test("tells which pipelines an update may be")
    func updatePipelines() throws {
        #expect(
            try PipelineParser.parse([["$set": ["a": 1]], ["$unset": "b"], ["$replaceWith": "$$ROOT"]])
                .isAllowedInUpdate
        )
        #expect(try !PipelineParser.parse([["$set": ["a": 1]], ["$limit": 1]]).isAllowedInUpdate)
    }
}
