import Foundation
import TestSupport
import Testing

@Suite("A request's size")
struct RequestSizeTests {
    /// One limit: what is sent at the limit, and one past it.
    struct Case: Sendable, CustomStringConvertible {
        let limit: String
        let action: String
        /// The member that the refusal names; nil where the text could not be read so far.
        let field: String?
        let members: @Sendable (Int) -> String
        let most: Int
        var description: String { "\(limit) in \(action)" }
    }

    /// `n` copies of what `make` gives for 0, 1, …, with commas between them.
    private static func list(_ count: Int, _ make: (Int) -> String) -> String {
        (0..<count).map(make).joined(separator: ",")
    }

    private static func filter(_ text: String) -> String { #""filter":{\#(text)}"# }

    static let cases: [Case] = [
        // The body itself is one level, `filter` the next.
        Case(
            limit: "max-depth",
            action: "insertOne",
            field: nil,
            members: {
                #""document":"# + String(repeating: #"{"a":"#, count: $0 - 1) + "1"
                    + String(repeating: "}", count: $0 - 1)
            },
            most: 6
        ),
        // The body, three names and the document are five values.
        Case(
            limit: "max-values",
            action: "insertOne",
            field: nil,
            members: { #""document":{\#(list($0 - 5) { "\"k\($0)\":\($0)" })}"# },
            most: 200
        ),
        Case(
            limit: "max-array-length",
            action: "insertOne",
            field: nil,
            members: { #""document":{"a":[\#(list($0) { "\($0)" })]}"# },
            most: 50
        ),
        Case(
            limit: "max-key-bytes",
            action: "insertOne",
            field: nil,
            members: { #""document":{"\#(String(repeating: "k", count: $0))":1}"# },
            most: 40
        ),
        Case(
            limit: "max-conditions",
            action: "find",
            field: "filter",
            members: { filter(list($0) { "\"f\($0)\":{\"$gt\":\($0)}" }) },
            most: 5
        ),
        Case(
            limit: "max-conditions",
            action: "deleteMany",
            field: "filter",
            members: { filter(#""$or":[\#(list($0) { "{\"_id\":\"none\($0)\"}" })]"#) },
            most: 5
        ),
        Case(
            limit: "max-conditions",
            action: "find",
            field: "filter",
            members: { filter(#""a":{"$elemMatch":{\#(list($0 - 1) { "\"f\($0)\":1" })}}"#) },
            most: 5
        ),
        Case(
            limit: "max-conditions",
            action: "aggregate",
            field: "pipeline",
            members: { #""pipeline":[{"$match":{\#(list($0) { "\"f\($0)\":1" })}}]"# },
            most: 5
        ),
        Case(
            limit: "max-list-members",
            action: "find",
            field: "filter",
            members: { filter(#""a":{"$in":[\#(list($0) { "\($0)" })]}"#) },
            most: 4
        ),
        Case(
            limit: "max-list-members",
            action: "find",
            field: "filter",
            members: { filter(#""a":{"$nin":[\#(list($0) { "\($0)" })]}"#) },
            most: 4
        ),
        Case(
            limit: "max-list-members",
            action: "find",
            field: "filter",
            members: { filter(#""a":{"$all":[\#(list($0) { "\($0)" })]}"#) },
            most: 4
        ),
        Case(
            limit: "max-stages",
            action: "aggregate",
            field: "pipeline",
            members: { #""pipeline":[\#(list($0) { "{\"$skip\":\($0)}" })]"# },
            most: 3
        ),
        Case(
            limit: "max-update-paths",
            action: "updateOne",
            field: "update",
            members: {
                #""filter":{"_id":"none"},"update":{"$set":{"a":1},"$inc":{\#(list($0 - 1) { "\"f\($0)\":1" })}}"#
            },
            most: 3
        ),
        Case(
            limit: "max-pattern-bytes",
            action: "find",
            field: "filter",
            members: { filter(#""a":{"$regex":"\#(String(repeating: "x", count: $0))"}"#) },
            most: 8
        ),
        Case(
            limit: "max-sort-keys",
            action: "find",
            field: "sort",
            members: { #""sort":{\#(list($0) { "\"f\($0)\":1" })}"# },
            most: 2
        ),
        Case(
            limit: "max-projected-fields",
            action: "find",
            field: "projection",
            members: { #""projection":{\#(list($0) { "\"f\($0)\":1" })}"# },
            most: 3
        ),
        Case(
            limit: "max-projected-fields",
            action: "aggregate",
            field: "pipeline",
            members: { #""pipeline":[{"$set":{\#(list($0) { "\"f\($0)\":1" })}}]"# },
            most: 3
        ),
        Case(
            limit: "max-inserted-documents",
            action: "insertMany",
            field: "documents",
            members: { #""documents":[\#(list($0) { "{\"n\":\($0)}" })]"# },
            most: 3
        ),
    ]

    @Test("is served at each limit, and refused one past it by the limit's name", arguments: cases)
    func limits(limit: Case) async throws {
        let (api, user) = try await LimitedServer.user()
        let at = try await api.act(limit.action, "Open", limit.members(limit.most), as: user.bearer)
        #expect([200, 201].contains(at.status), "\(at.text)")
        let past = try await api.act(limit.action, "Open", limit.members(limit.most + 1), as: user.bearer)
        #expect(past.status == 400, "\(past.text)")
        #expect(past.errorCode == "InvalidParameter")
        #expect(past.error.contains("(limit \(limit.limit))"), "\(past.text)")
        if let field = limit.field { #expect(past.error.contains("'\(field)'"), "\(past.text)") }
    }

    @Test("is bounded in bytes: a body past the limit answers 413")
    func body() async throws {
        let (api, user) = try await LimitedServer.user()
        let start = #"{"dataSource":"mongodb-atlas","database":"todo","collection":"Open","document":{"a":""#
        let end = #""}}"#
        func body(_ bytes: Int) -> Data {
            Data(
                (start + String(repeating: "x", count: bytes - start.utf8.count - end.utf8.count) + end).utf8
            )
        }
        let at = try await api.act("insertOne", raw: body(20_000), as: user.bearer)
        #expect(at.status == 201, "\(at.text)")
        let past = try await api.act("insertOne", raw: body(20_001), as: user.bearer)
        #expect(past.status == 413)
        #expect(past.errorCode == "ReadSizeLimitExceeded")
        #expect(past.error.contains("(limit max-body-bytes)"))
    }

    @Test("is bounded in its URL and in its header")
    func head() async throws {
        let (api, user) = try await LimitedServer.user()
        let path = "/app/\(api.app)/endpoint/data/v1/action/find?x="
        let body = Data(#"{"dataSource":"mongodb-atlas","database":"todo","collection":"Open"}"#.utf8)
        func send(_ length: Int) async throws -> APICaller.Answer {
            let rest = String(repeating: "y", count: length - path.utf8.count)
            return try await api.send("POST", path + rest, headers: user.bearer, body: body)
        }
        #expect(try await send(256).status == 200)
        let past = try await send(257)
        #expect(past.status == 400)
        #expect(past.error.contains("(limit max-url-bytes)"), "\(past.text)")
        let wide = try await api.send(
            "GET",
            "/health",
            headers: ["X-Wide": String(repeating: "z", count: 4000)]
        )
        #expect(wide.status == 400)
        var many: [String: String] = [:]
        for index in 0..<20 { many["X-Many-\(index)"] = "1" }
        #expect(try await api.send("GET", "/health", headers: many).status == 400)
        #expect(try await api.send("GET", "/health").status == 200)
    }
}
