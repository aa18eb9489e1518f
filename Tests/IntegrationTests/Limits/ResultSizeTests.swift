import Foundation
import TestSupport
import Testing

@Suite("An answer's size", .serialized)
struct ResultSizeTests {
    private enum Small {
        private static let task = Task {
            try await RunningServer.start(
                app: TestApp.files,
                name: "small-results",
                arguments: [
                    "--max-result-bytes", "200000", "--max-result-documents", "50",
                    "--max-evaluation-steps", "100000",
                ]
            )
        }

        static func user() async throws -> (APICaller, APICaller.User) {
            let caller = APICaller(server: try await task.value, app: TestApp.clientAppID)
            return (caller, try await caller.newUser())
        }
    }

    private func fill(_ api: APICaller, _ user: APICaller.User, _ run: String, _ count: Int, bytes: Int)
        async throws
    {
        let text = String(repeating: "x", count: bytes)
        let documents = (0..<count).map { "{\"run\":\"\(run)\",\"n\":\($0),\"text\":\"\(text)\"}" }
        let answer = try await api.act(
            "insertMany",
            "Open",
            #""documents":[\#(documents.joined(separator: ","))]"#,
            as: user.bearer
        )
        #expect(answer.status == 201)
    }

    private func expectRefusal(_ answer: APICaller.Answer, _ limit: String) {
        #expect(answer.status == 413, "\(answer.text.prefix(300))")
        #expect(answer.errorCode == "ReadSizeLimitExceeded")
        #expect(answer.error.contains("(limit \(limit))"), "\(answer.text.prefix(300))")
    }

    @Test("is bounded in bytes, whatever way the documents come")
    func bytes() async throws {
        let (api, user) = try await Small.user()
        let run = UUID().uuidString
        try await fill(api, user, run, 25, bytes: 10_000)
        let filter = #""filter":{"run":"\#(run)"}"#
        #expect(try await api.act("find", "Open", filter + #","limit":19"#, as: user.bearer).status == 200)
        for more in ["", #","limit":20"#, #","projection":{"text":1}"#, #","sort":{"n":1}"#] {
            expectRefusal(
                try await api.act("find", "Open", filter + more, as: user.bearer),
                "max-result-bytes"
            )
        }
        let pipelines = [
            #"[{"$match":{"run":"\#(run)"}}]"#, #"[{"$match":{"run":"\#(run)"}},{"$set":{"a":1}}]"#,
        ]
        for pipeline in pipelines {
            expectRefusal(
                try await api.act("aggregate", "Open", #""pipeline":\#(pipeline)"#, as: user.bearer),
                "max-result-bytes"
            )
        }
        let count = #""pipeline":[{"$match":{"run":"\#(run)"}},{"$count":"n"}]"#
        #expect(
            try await api.act("aggregate", "Open", count, as: user.bearer).text
                == #"{"documents":[{"n":25}]}"#
        )
    }

    @Test("is bounded in documents: a find stops, an aggregation is refused")
    func documents() async throws {
        let (api, user) = try await Small.user()
        let run = UUID().uuidString
        try await fill(api, user, run, 51, bytes: 1)
        let filter = #""filter":{"run":"\#(run)"}"#
        let found = try await api.act("find", "Open", filter, as: user.bearer)
        #expect((found.object["documents"] as? [Any])?.count == 50)
        func aggregate(_ stages: String) async throws -> APICaller.Answer {
            try await api.act(
                "aggregate",
                "Open",
                #""pipeline":[{"$match":{"run":"\#(run)"}}\#(stages)]"#,
                as: user.bearer
            )
        }
        #expect(try await aggregate(#",{"$limit":50}"#).status == 200)
        expectRefusal(try await aggregate(""), "max-result-documents")
        expectRefusal(try await aggregate(#",{"$set":{"a":1}}"#), "max-result-documents")
        let steps = try await aggregate(
            #",{"$limit":1},{"$project":{"x":{"$size":{"$map":{"input":{"$range":[0,200000]},"in":1}}}}}"#
        )
        #expect(steps.status == 400)
        #expect(steps.error.contains("(limit max-evaluation-steps)"), "\(steps.text)")
    }

    /// The most memory that the server has held, in kilobytes.
    private func peakMemory(_ api: APICaller) throws -> Int {
        let announcement = api.server.directory.appendingPathComponent("data/server.json")
        let object = try JSONSerialization.jsonObject(with: Data(contentsOf: announcement)) as? [String: Any]
        let pid = try #require(object?["pid"] as? Int)
        let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(line.split(separator: " ").compactMap { Int($0) }.first)
    }

    @Test("a result of hundreds of megabytes is stopped at the database, not taken in first")
    func memory() async throws {
        let (api, user) = try await Small.user()
        #expect(try await api.act("find", "Feed", as: user.bearer).status == 200)
        _ = try Shell.psql(
            api.server.database,
            """
            select tidegate.ensure_collection('todo', 'Feed');
            insert into todo."Feed" (_id, doc)
              select 'x' || i, jsonb_build_object('_id', i, 'text', repeat('x', 8000000))
              from generate_series(1, 50) i
            """
        )
        let before = try peakMemory(api)
        let find = try await api.act("find", "Feed", as: user.bearer)
        expectRefusal(find, "max-result-bytes")
        let grown = try peakMemory(api) - before
        #expect(grown < 150_000, "400 MB of documents took \(grown) kB")
        #expect(try await api.act("find", "Open", #""limit":1"#, as: user.bearer).status == 200)
    }
}
