import Foundation
import TestSupport
import Testing

/// Pipelines of the system that multiply documents, while others ask for one; issue 4, "Bad input".
@Suite("Attack: pipelines that multiply documents")
struct HeavyPipelineTests {
    private static let files: [String: String] = [
        "realm_config.json": #"{"app_id": "heavy-abcde", "config_version": 20210101, "name": "heavy"}"#,
        "data_sources/mongodb-atlas/config.json":
            #"{"name": "mongodb-atlas", "type": "mongodb-atlas", "config": {}, "version": 1}"#,
        "http_endpoints/data_api_config.json":
            #"{"disabled": false, "versions": ["v1"], "return_type": "JSON", "run_as_system": true}"#,
    ]
    /// Bounds that a debug build reaches soon.
    private static let task = Task {
        let server = try await RunningServer.start(
            app: files,
            name: "heavy",
            arguments: ["--max-evaluation-steps", "2000000", "--max-result-bytes", "2000000"]
        )
        let caller = APICaller(server: server, app: "heavy-abcde")
        let filler = String(repeating: "x", count: 1200)
        let documents = (0..<200).map { #"{"_id":\#($0),"k":\#($0 % 10),"t":"\#(filler)"}"# }
        _ = try await caller.act(
            "insertMany",
            "Many",
            #""documents":[\#(documents.joined(separator: ","))]"#,
            as: try SharedServer.apiKey(caller)
        )
        return caller
    }

    private static let product = #"{"$lookup":{"from":"Many","pipeline":[],"as":"x"}},{"$unwind":"$x"}"#
    private static let bombs = [
        #"{"$lookup":{"from":"Many","pipeline":[{"$lookup":{"from":"Many","pipeline":[],"as":"y"}}],"as":"x"}}"#,
        #"{"$lookup":{"from":"Many","localField":"k","foreignField":"k","as":"x"}},{"$unwind":"$x"},{"$lookup":{"from":"Many","localField":"k","foreignField":"k","as":"y"}}"#,
        Array(repeating: product, count: 6).joined(separator: ",") + #",{"$count":"n"}"#,
        #"{"$graphLookup":{"from":"Many","startWith":"$k","connectFromField":"k","connectToField":"k","as":"x"}}"#,
        Array(repeating: #"{"$unionWith":"Many"}"#, count: 1000).joined(separator: ","),
        #"{"$group":{"_id":null,"d":{"$push":"$$ROOT"}}},{"$set":{"a":{"$map":{"input":{"$range":[0,3000]},"in":"$d"}}}}"#,
        #"{"$facet":{\#((0..<100).map { "\"f\($0)\":[{\"$match\":{}}]" }.joined(separator: ","))}}"#,
    ]

    @Test("end with a code, and others are answered meanwhile", arguments: bombs)
    func multiplied(stages: String) async throws {
        let caller = try await Self.task.value
        let key = try SharedServer.apiKey(caller)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    let answer = try await caller.act(
                        "aggregate",
                        "Many",
                        #""pipeline":[\#(stages)]"#,
                        as: key
                    )
                    let codes = [50, 292, 4568, 10334]
                    let isBounded =
                        answer.errorCode == "ReadSizeLimitExceeded"
                        || (answer.object["code"] as? Int).map(codes.contains) == true
                    #expect(isBounded && answer.status < 500, "\(answer.status) \(answer.text.prefix(300))")
                }
            }
            group.addTask {
                for id in 0..<10 {
                    let answer = try await caller.act("findOne", "Many", #""filter":{"_id":\#(id)}"#, as: key)
                    #expect(answer.status == 200 && answer.text.contains(#""_id":\#(id)"#), "\(answer.text)")
                }
            }
            try await group.waitForAll()
        }
    }
}
