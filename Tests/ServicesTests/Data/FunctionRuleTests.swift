import Accounts
import BSON
import Errors
import Postgres
import Rules
import Services
import Synchronization
import TestSupport
import Testing

/// Functions of rules that are closures; what they are asked is kept.
private final class ClosureFunctions: RuleFunctions {
    private let body: @Sendable (FunctionQuestion, EnclosingTransaction?) async throws -> BSONValue?
    private let asked = Mutex<[FunctionQuestion]>([])

    init(
        _ body: @escaping @Sendable (FunctionQuestion, EnclosingTransaction?) async throws -> BSONValue?
    ) {
        self.body = body
    }

    func answer(
        _ question: FunctionQuestion,
        _ context: CallContext,
        within transaction: EnclosingTransaction?
    ) async -> BSONValue? {
        asked.withLock { $0.append(question) }
        return try? await body(question, transaction)
    }

    func takeAsked() -> [FunctionQuestion] {
        asked.withLock { asked in
            defer { asked = [] }
            return asked
        }
    }
}

@Suite("Rules that ask functions, on documents")
struct FunctionRuleTests {
    private static let files = [
        "data_sources/mongodb-atlas/todo/Asked/rules.json": """
        {"database": "todo", "collection": "Asked", "roles": [{"name": "r", "apply_when":
            {"%%true": {"%function": {"name": "mayCall", "arguments": ["%%user.id"]}}},
            "read": {"%%true": {"%function": {"name": "mayRead", "arguments": ["%%root.team"]}}},
            "write": {"%%true": {"%function": {"name": "mayWrite", "arguments": ["%%root", "%%prevRoot"]}}}}]}
        """,
        "functions/config.json":
            #"[{"name": "mayCall"}, {"name": "mayRead"}, {"name": "mayWrite"}]"#,
        "functions/mayCall.js": "exports = () => true;", "functions/mayRead.js": "exports = () => true;",
        "functions/mayWrite.js": "exports = () => true;",
    ]

    private static func answer(_ question: FunctionQuestion) throws -> BSONValue? {
        switch question.name {
        case "mayCall": .bool(question.arguments == [.string(DataFixture.id(DataFixture.ann))])
        case "mayRead": .bool(question.arguments == ["red"])
        case "mayWrite":
            if case .document(let root)? = question.arguments.first, root["n"] == .int32(13) {
                throw ServiceError(.functionExecutionError, "bad luck")
            } else if case .document(let root)? = question.arguments.first {
                .bool(root["team"] == "red")
            } else {
                false
            }
        default: nil
        }
    }

    @Test("read what they permit, page by page, and ask each question once")
    func reads() async throws {
        let fixture = try await DataFixture(added: Self.files)
        let functions = ClosureFunctions { question, _ in try Self.answer(question) }
        fixture.data.serve(functions)
        let documents = (1...2500).map { number in
            let team = number % 5 == 0 ? "red" : "t\(number % 3)"
            return #"{"_id":\#(number),"team":"\#(team)"}"#
        }
        for start in stride(from: 0, to: 2500, by: 500) {
            _ = try await fixture.perform(
                "insertMany",
                "Asked",
                #"{"documents":[\#(documents[start..<start + 500].joined(separator: ","))]}"#,
                as: .system
            )
        }
        #expect(functions.takeAsked() == [])
        func ask(_ action: String, _ members: String, as caller: Principal) async throws -> String {
            try await fixture.documents(action, "Asked", members, as: caller)
        }
        let query = #"{"filter":{"_id":{"$lte":16}}}"#
        #expect(
            try await ask("find", query, as: DataFixture.ann)
                == #"{"_id":5,"team":"red"},{"_id":10,"team":"red"},{"_id":15,"team":"red"}"#
        )
        #expect(Set(functions.takeAsked().map(\.name)) == ["mayCall", "mayRead", "mayWrite"])
        #expect(try await ask("find", query, as: DataFixture.bob) == "")
        #expect(functions.takeAsked().map(\.name) == ["mayCall"])
        #expect(
            try await ask(
                "aggregate",
                #"{"pipeline":[{"$group":{"_id":"$team","n":{"$sum":1}}}]}"#,
                as: DataFixture.ann
            ) == #"{"_id":"red","n":500}"#
        )
        #expect(functions.takeAsked().filter { $0.name == "mayRead" }.count == 4)
    }

    @Test("write what they permit, in the transaction of the write; a denial undoes all")
    func writes() async throws {
        let fixture = try await DataFixture(added: Self.files)
        let functions = ClosureFunctions { question, transaction in
            if question.name == "mayWrite" {
                // What a write asks is answered where it can be undone with the write.
                #expect(transaction != nil)
            }
            return try Self.answer(question)
        }
        fixture.data.serve(functions)
        func act(_ action: String, _ members: String) async throws {
            _ = try await fixture.perform(action, "Asked", members, as: DataFixture.ann)
        }
        func denied(_ action: String, _ members: String) async {
            await #expect(throws: ServiceError.self) { try await act(action, members) }
        }
        try await act("insertOne", #"{"document":{"_id":1,"team":"red","n":1}}"#)
        await denied("insertOne", #"{"document":{"_id":2,"team":"blue"}}"#)
        // One that fails permits nothing.
        await denied("insertOne", #"{"document":{"_id":3,"team":"red","n":13}}"#)
        await denied(
            "insertMany",
            #"{"documents":[{"_id":4,"team":"red"},{"_id":5,"team":"blue"}]}"#
        )
        try await act("insertMany", #"{"documents":[{"_id":6,"team":"red"},{"_id":7,"team":"red","x":[]}]}"#)
        try await act("updateMany", #"{"filter":{},"update":{"$inc":{"n":1}}}"#)
        await denied("updateMany", #"{"filter":{},"update":{"$inc":{"n":11}}}"#)
        await denied("updateOne", #"{"filter":{"_id":6},"update":{"$set":{"team":"blue"}}}"#)
        try await act("updateOne", #"{"filter":{"_id":6},"update":{"$set":{"new":{"b":1,"a":2}}}}"#)
        await denied(
            "bulkWrite",
            #"{"operations":[{"deleteOne":{"filter":{"_id":1}}},{"insertOne":{"document":{"team":"no"}}}]}"#
        )
        try await act("deleteOne", #"{"filter":{"_id":7}}"#)
        #expect(
            try await fixture.documents("find", "Asked", "{}")
                == #"{"_id":1,"team":"red","n":2},{"_id":6,"team":"red","n":1,"new":{"b":1,"a":2}}"#
        )
        try await act("deleteMany", "{\"filter\":{}}")
        #expect(try await fixture.documents("find", "Asked", "{}") == "")
    }

    @Test("let nobody in where no functions run")
    func nobody() async throws {
        let fixture = try await DataFixture(added: Self.files)
        try await fixture.insert("Asked", #"{"_id":1,"team":"red"}"#)
        #expect(try await fixture.documents("find", "Asked", "{}", as: DataFixture.ann) == "")
    }
}
