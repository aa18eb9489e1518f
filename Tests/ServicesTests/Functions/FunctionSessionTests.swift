import BSON
import Errors
import Postgres
import Scripting
import TestSupport
import Testing

@testable import Services

@Suite("Sessions of functions", .postgres)
struct FunctionSessionTests {
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

    private func begun(_ host: FunctionHost) async throws -> BSONValue {
        let session = try await host.startSession()
        _ = try await host.session("begin", session).get()
        return session
    }

    @Test("what it wrote is seen within, and by others once it is committed")
    func readYourWrites() async throws {
        try await withHost { fixture in
            let host = try await fixture.host()
            let session = try await begun(host)
            // A collection that is not there, and orders of keys that nobody has written.
            for number in 1...3 {
                _ = try await host.data(
                    "insertOne",
                    "Late",
                    #"{"document": {"_id": \#(number), "k\#(number)": 1, "v": \#(number)}}"#,
                    session: session
                ).get()
            }
            _ = try await host.data(
                "updateMany",
                "Late",
                #"{"query": {}, "update": {"$set": {"new": {"deep": 1}}}}"#,
                session: session
            ).get()
            _ = try await host.data(
                "bulkWrite",
                "Late",
                #"{"operations": [{"insertOne": {"document": {"_id": 4, "other": 1}}}, {"updateOne": {"filter": {"_id": 1}, "update": {"$unset": {"v": ""}}}}]}"#,
                session: session
            ).get()
            #expect(try await host.data("count", "Late", session: session).get() == .int32(4))
            #expect(try await host.data("count", "Late").get() == .int32(0))
            _ = try await host.session("commit", session).get()
            #expect(try await host.data("count", "Late").get() == .int32(4))
            let first = try await host.data("findOne", "Late", #"{"query": {"_id": 1}}"#).get()
            #expect(
                ExtendedJSON.canonical(first)
                    == #"{"_id":{"$numberInt":"1"},"k1":{"$numberInt":"1"},"new":{"deep":{"$numberInt":"1"}}}"#
            )
            _ = try await host.session("end", session).get()
            await host.end()
        }
    }

    @Test("an operation that fails is undone alone; abort, end and the end of the run undo all")
    func undone() async throws {
        try await withHost { fixture in
            for way in ["abort", "end", "run"] {
                let host = try await fixture.host()
                let session = try await begun(host)
                _ = try await host.data("insertOne", "Open", #"{"document": {"_id": 1}}"#, session: session)
                    .get()
                await #expect(throws: HostError.self) {
                    try await host.data("insertOne", "Open", #"{"document": {"_id": 1}}"#, session: session)
                        .get()
                }
                _ = try await host.data("insertOne", "Open", #"{"document": {"_id": 2}}"#, session: session)
                    .get()
                #expect(try await host.data("count", "Open", session: session).get() == .int32(2))
                if way == "run" { await host.end() } else { _ = try await host.session(way, session).get() }
                let other = try await fixture.host()
                #expect(try await other.data("count", "Open").get() == .int32(0), "\(way)")
                await host.end()
            }
            #expect(fixture.fixture.database.health.leased == 0)
        }
    }

    @Test("it sees the documents as they were at its first operation, and nobody's later changes")
    func snapshot() async throws {
        try await withHost { fixture in
            let host = try await fixture.host()
            _ = try await host.data("insertOne", "Open", #"{"document": {"_id": 1, "n": 1}}"#).get()
            let session = try await begun(host)
            #expect(try await host.data("count", "Open", session: session).get() == .int32(1))
            _ = try await host.data("insertOne", "Open", #"{"document": {"_id": 2, "n": 1}}"#).get()
            #expect(try await host.data("count", "Open", session: session).get() == .int32(1))
            // Whoever changes what another one changed since then has lost, for good.
            _ = try await host.data(
                "updateOne",
                "Open",
                #"{"query": {"_id": 1}, "update": {"$inc": {"n": 1}}}"#
            ).get()
            let conflict = await #expect(throws: HostError.self) {
                try await host.data(
                    "updateOne",
                    "Open",
                    #"{"query": {"_id": 1}, "update": {"$inc": {"n": 1}}}"#,
                    session: session
                ).get()
            }
            #expect(conflict?.code == 112)
            let commit = await #expect(throws: HostError.self) {
                try await host.session("commit", session).get()
            }
            #expect(commit?.code == 112)
            #expect(
                try await host.data("findOne", "Open", #"{"query": {"_id": 1}, "project": {"_id": 0}}"#).get()
                    == ["n": 2]
            )
            await host.end()
        }
    }

    @Test("rules hold in a session")
    func rules() async throws {
        try await withHost { fixture in
            let host = try await fixture.host(DataFixture.ann)
            let session = try await begun(host)
            let denied = await #expect(throws: HostError.self) {
                try await host.data(
                    "insertOne",
                    "Item",
                    #"{"document": {"ownerId": "bob"}}"#,
                    session: session
                ).get()
            }
            #expect(denied?.message == "insert not permitted")
            await host.end()
        }
    }

    @Test("a transaction waits for a place, but not whoever holds one")
    func places() async throws {
        try await withHost(transactions: 1) { fixture in
            let first = try await fixture.host()
            let held = try await begun(first)
            let second = try await first.startSession()
            let refused = await #expect(throws: HostError.self) {
                try await first.session("begin", second).get()
            }
            #expect(refused?.errorCode == "TooManyRequests")
            let other = try await fixture.host()
            async let waiting = begun(other)
            _ = try await first.data("insertOne", "Open", #"{"document": {"_id": 1}}"#, session: held).get()
            _ = try await first.session("commit", held).get()
            let session = try await waiting
            #expect(try await other.data("count", "Open", session: session).get() == .int32(1))
            await other.end()
            await first.end()
        }
    }

    @Test("a step out of order is refused")
    func order() async throws {
        try await withHost { fixture in
            let host = try await fixture.host()
            let session = try await host.startSession()
            let none = await #expect(throws: HostError.self) {
                try await host.session("commit", session).get()
            }
            #expect(none?.code == 251)
            _ = try await host.session("begin", session).get()
            await #expect(throws: HostError.self) { try await host.session("begin", session).get() }
            _ = try await host.session("end", session).get()
            let ended = await #expect(throws: HostError.self) {
                try await host.data("count", "Open", session: session).get()
            }
            #expect(ended?.message == "the session has ended")
            await host.end()
        }
    }
}
