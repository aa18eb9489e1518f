import Accounts
import AppDefinition
import BSON
import Errors
import Foundation
import Observability
import Postgres
import Scripting
import TestSupport
import Testing

@testable import Services

/// A run's host over a database of its own; the engine has no part in what it answers.
struct HostFixture {
    let fixture: DataFixture
    let service: FunctionService

    init(transactions: Int = 2) async throws {
        fixture = try await DataFixture()
        let accounts = AccountService(
            database: fixture.database,
            apps: { _ in nil },
            ids: ObjectIDGenerator(processUnique: 2, counter: 1),
            fetchKeys: { _ in [] },
            now: { Int64(Date().timeIntervalSince1970 * 1000) }
        )
        service = FunctionService(
            accounts: accounts,
            data: fixture.data,
            scripts: ScriptPool(command: []),
            limits: FunctionLimits(transactions: transactions)
        )
    }

    func host(_ principal: Principal = .system, deadline: Duration = .seconds(900)) async throws
        -> FunctionHost
    {
        FunctionHost(
            service,
            try await service.call(
                fixture.app,
                { nil },
                .now + deadline,
                RequestTrace(requestID: "65f0c0ffee0000000000cccc")
            ),
            FunctionIdentity(principal),
            depth: 1
        )
    }

    func close() async { await fixture.database.close() }
}

extension FunctionHost {
    /// A method of a collection of the tests' app, with arguments as Extended JSON.
    func data(
        _ method: String,
        _ collection: String,
        _ arguments: String = "{}",
        session: BSONValue? = nil
    ) async throws -> Result<BSONValue, HostError> {
        var argument = try ExtendedJSON.readDocument(Array(arguments.utf8))
        argument["database"] = "todo"
        argument["collection"] = .string(collection)
        var call: BSONDocument = [
            "service": "mongodb-atlas", "method": .string(method), "arguments": .document(argument),
        ]
        if let session { call.append("session", session) }
        return await answer(HostCall(name: "data", arguments: call))
    }

    func session(_ step: String, _ session: BSONValue) async -> Result<BSONValue, HostError> {
        await answer(HostCall(name: "session.\(step)", arguments: ["session": session]))
    }

    func startSession() async throws -> BSONValue {
        try await answer(HostCall(name: "session.start", arguments: ["service": "mongodb-atlas"])).get()
    }
}

@Suite("What functions ask of the data", .postgres)
struct FunctionHostTests {
    private func withHost(
        transactions: Int = 2,
        _ body: (HostFixture) async throws -> Void
    ) async throws {
        let fixture = try await HostFixture(transactions: transactions)
        do { try await body(fixture) } catch {
            await fixture.close()
            throw error
        }
        await fixture.close()
    }

    @Test("it answers every method as a client's call is answered")
    func methods() async throws {
        try await withHost { fixture in
            let host = try await fixture.host()
            let cases: [(method: String, arguments: String, answer: String)] = [
                ("insertOne", #"{"document": {"_id": 1, "a": 1}}"#, #"{"insertedId":{"$numberInt":"1"}}"#),
                (
                    "insertMany", #"{"documents": [{"_id": 2, "a": 2}, {"_id": 3, "a": 3}]}"#,
                    #"{"insertedIds":[{"$numberInt":"2"},{"$numberInt":"3"}]}"#
                ),
                ("count", #"{"query": {"a": {"$gt": 1}}}"#, #"{"$numberInt":"2"}"#),
                (
                    "find",
                    #"{"query": {}, "project": {"a": 1, "_id": 0}, "sort": {"a": -1}, "skip": 1, "limit": 1}"#,
                    #"[{"a":{"$numberInt":"2"}}]"#
                ),
                ("findOne", #"{"query": {"_id": 9}}"#, "null"),
                (
                    "updateOne", #"{"query": {"_id": 1}, "update": {"$set": {"b": true}}}"#,
                    #"{"matchedCount":{"$numberInt":"1"},"modifiedCount":{"$numberInt":"1"}}"#
                ),
                (
                    "replaceOne", #"{"query": {"_id": 2}, "replacement": {"z": 1}}"#,
                    #"{"matchedCount":{"$numberInt":"1"},"modifiedCount":{"$numberInt":"1"}}"#
                ),
                (
                    "findOneAndUpdate",
                    #"{"filter": {"_id": 3}, "update": {"$inc": {"a": 1}}, "returnNewDocument": true}"#,
                    #"{"_id":{"$numberInt":"3"},"a":{"$numberInt":"4"}}"#
                ),
                ("distinct", #"{"key": "a", "query": {}}"#, #"[{"$numberInt":"1"},{"$numberInt":"4"}]"#),
                (
                    "aggregate", #"{"pipeline": [{"$match": {"a": 4}}, {"$count": "n"}]}"#,
                    #"[{"n":{"$numberInt":"1"}}]"#
                ),
                (
                    "bulkWrite",
                    #"{"operations": [{"insertOne": {"document": {"_id": 5}}}, {"deleteOne": {"filter": {"_id": 1}}}]}"#,
                    "null"
                ),
                ("deleteMany", "{}", #"{"deletedCount":{"$numberInt":"3"}}"#),
            ]
            for entry in cases {
                let answer = try await host.data(entry.method, "Open", entry.arguments).get()
                #expect(ExtendedJSON.canonical(answer) == entry.answer, "\(entry.method)")
            }
        }
    }

    @Test("it refuses what MongoDB refuses, with its code, and what it does not know, by name")
    func refusals() async throws {
        try await withHost { fixture in
            let host = try await fixture.host()
            _ = try await host.data("insertOne", "Open", #"{"document": {"_id": 1}}"#).get()
            let duplicate = await #expect(throws: HostError.self) {
                try await host.data("insertOne", "Open", #"{"document": {"_id": 1}}"#).get()
            }
            #expect(duplicate?.code == 11000)
            #expect(duplicate?.name == "MongoError")
            #expect(duplicate?.errorCode == "MongoDBError")
            let plain = await #expect(throws: HostError.self) {
                try await host.data("updateOne", "Open", #"{"query": {}, "update": {"a": 1}}"#).get()
            }
            #expect(plain?.message == "update document must contain atomic operators")
            let method = await #expect(throws: HostError.self) {
                try await host.data("mapReduce", "Open").get()
            }
            #expect(method?.message == "service command not found: 'mapReduce'")
            let service = await host.answer(
                HostCall(name: "data", arguments: ["service": "other", "method": "find"])
            )
            #expect(throws: HostError("service not found: 'other'", errorCode: "ServiceNotFound")) {
                try service.get()
            }
        }
    }

    @Test("a user's rules hold, the system's do not; only the system asks for names")
    func rules() async throws {
        try await withHost { fixture in
            let system = try await fixture.host()
            let ann = try await fixture.host(DataFixture.ann)
            let id = DataFixture.id(DataFixture.ann)
            _ = try await system.data(
                "insertMany",
                "Item",
                #"{"documents": [{"_id": 1, "ownerId": "\#(id)"}, {"_id": 2, "ownerId": "bob"}]}"#
            ).get()
            #expect(try await system.data("count", "Item").get() == .int32(2))
            #expect(try await ann.data("count", "Item").get() == .int32(1))
            let denied = await #expect(throws: HostError.self) {
                try await ann.data("insertOne", "Item", #"{"document": {"ownerId": "bob"}}"#).get()
            }
            #expect(denied?.message == "insert not permitted")
            let nowhere = await #expect(throws: HostError.self) {
                try await ann.data("find", "Nowhere").get()
            }
            #expect(nowhere?.errorCode == "NoMatchingRuleFound")
            let names = HostCall(
                name: "data.collections",
                arguments: ["service": "mongodb-atlas", "database": "todo"]
            )
            #expect(try await system.answer(names).get() == ["Item"])
            await #expect(throws: HostError.self) { try await ann.answer(names).get() }
            let databases = HostCall(name: "data.databases", arguments: ["service": "mongodb-atlas"])
            #expect(try await system.answer(databases).get() == ["todo"])
        }
    }

    @Test("an app's schema is asked, unless the function says otherwise")
    func schema() async throws {
        try await withHost { fixture in
            let host = try await fixture.host(DataFixture.ann)
            let document = #"{"document": {"name": "x"}"#
            await #expect(throws: HostError.self) {
                try await host.data("insertOne", "Checked", document + "}").get()
            }
            _ = try await host.data(
                "insertOne",
                "Checked",
                document + #", "bypassDocumentValidation": true}"#
            ).get()
            await #expect(throws: HostError.self) {
                try await host.data("insertOne", "Checked", document + "}").get()
            }
            #expect(try await host.data("count", "Checked").get() == .int32(1))
        }
    }

    @Test("it answers nothing after the end of its run")
    func afterEnd() async throws {
        try await withHost { fixture in
            let host = try await fixture.host()
            await host.end()
            await #expect(throws: HostError.self) { try await host.data("find", "Open").get() }
        }
    }
}
