import Foundation
import GRDB
import TestSupport
import Testing

@testable import TidegateClient

/// What the queue and the sessions do without any server.
@Suite("The client without network")
struct DiskQueueTests {
    private let container = FileManager.default.temporaryDirectory
        .appendingPathComponent("queue-\(UUID().uuidString)")
    private let target = RecordedOperation.Target("todo", "Item")

    /// An app whose gateway nobody is.
    private func app() throws -> App {
        let url = try #require(URL(string: "http://127.0.0.1:9"))
        return try App(id: "a-b", configuration: AppConfiguration(baseURL: url, sharedContainer: container))
    }

    @Test("keeps what is recorded, in order, over openings; a key counts once")
    func keeps() async throws {
        defer { try? FileManager.default.removeItem(at: container) }
        let sender = DiskQueue.Sender.client(try app().mongoClient(apiKey: "k"))
        do {
            let queue = try DiskQueue(container: container)
            for number in 0..<5 {
                try await queue.record(
                    .insertOne(["n": .int32(Int32(number))] as Document, into: target),
                    for: sender
                )
            }
            for _ in 0..<2 {
                try await queue.record(.deleteOne(filter: ["n": 1], in: target), for: sender, key: "once")
            }
        }
        let queue = try DiskQueue(container: container)
        #expect(try await queue.count(for: sender) == 6)
        let report = try await queue.drain(as: sender)
        guard case .later(let date, let error) = report.end else {
            Issue.record("\(report)")
            return
        }
        #expect(error.kind == .network)
        #expect(date > .now)
        #expect(report.done == 0 && report.refused == 0)
        // The next try is not due, and nobody is asked.
        guard case .later = try await queue.drain(as: sender).end else {
            Issue.record("asked before it was due")
            return
        }
        #expect(try await queue.count(for: sender) == 6)
    }

    @Test("a lock is given up although a program that is being started has a copy of its descriptor")
    func givesUpCopiedLock() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("lock-\(UUID().uuidString)")
            .path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let lock = FileLock(path: path)
        let held = try lock.acquireBlocking()
        let copy = try copyDescriptor(of: path)
        defer { close(copy) }
        held.release()
        let isFree = try lock.tryAcquire() != nil
        #expect(isFree)
    }

    @Test("an operation whose answer was never heard for a day is set aside, not risked twice")
    func unknownOutcome() async throws {
        defer { try? FileManager.default.removeItem(at: container) }
        let sender = DiskQueue.Sender.client(try app().mongoClient(apiKey: "k"))
        let queue = try DiskQueue(container: container)
        let key = try await queue.record(.deleteOne(filter: [:], in: target), for: sender)
        try await queue.write { db in
            try db.execute(
                sql: "UPDATE operations SET first_sent_at = ? WHERE key = ?",
                arguments: [Date().timeIntervalSince1970 - 24 * 3600, key]
            )
        }
        let report = try await queue.drain(as: sender)
        #expect(report.refused == 1)
        let refused = try await queue.refused(for: sender)
        #expect(refused.map(\.code) == ["OutcomeUnknown"])
        try await queue.discard(refused[0].id)
        #expect(try await queue.refused(for: sender).isEmpty)
    }

    @Test("who has no network keeps the operation, and is told so")
    func offline() async throws {
        defer { try? FileManager.default.removeItem(at: container) }
        let sender = DiskQueue.Sender.client(try app().mongoClient(apiKey: "k"))
        let queue = try DiskQueue(container: container)
        let online = OnlineFirst(queue: queue, sender: sender, deadline: .seconds(2))
        guard case .recorded = try await online.perform(.deleteOne(filter: [:], in: target)) else {
            Issue.record("nobody could have done it")
            return
        }
        #expect(try await queue.count(for: sender) == 1)
    }

    @Test("a session survives a refresh without network")
    func session() async throws {
        defer { try? FileManager.default.removeItem(at: container) }
        let app = try app()
        let held = try await app.store.lock.acquire()
        try app.store.write(held) { content in
            content["u"] = StoredSession(
                userID: "u",
                accessToken: "a.b.c",
                refreshToken: "r",
                deviceID: "",
                provider: "p"
            )
            content.current = "u"
        }
        held.release()
        let user = try #require(app.currentUser)
        let error = await #expect(throws: TidegateError.self) { try await user.refreshCustomData() }
        #expect(error?.kind == .network)
        #expect(user.isLoggedIn)
        let other = try self.app()
        #expect(other.currentUser?.id == "u")
        #expect(other.allUsers.keys.sorted() == ["u"])
    }

    @Test(
        "a line that holds nonsense keeps nobody from recording",
        arguments: [0x00, 0x7F, 0x80, 0xFF] as [UInt8]
    )
    func line(byte: UInt8) async throws {
        defer { try? FileManager.default.removeItem(at: container) }
        let sender = DiskQueue.Sender.client(try app().mongoClient(apiKey: "k"))
        let queue = try DiskQueue(container: container)
        let file = container.appendingPathComponent("tidegate-queue.sqlite.line")
        for size in [0, 3, 8, 20] {
            try Data(repeating: byte, count: size).write(to: file)
            for _ in 0..<2 { try await queue.record(.deleteOne(filter: ["n": 1], in: target), for: sender) }
        }
        #expect(try await queue.count(for: sender) == 8)
    }

    @Test("one process at a time has the lock, and death lets go of it")
    func lock() async throws {
        defer { try? FileManager.default.removeItem(at: container) }
        try FileManager.default.createDirectory(at: container, withIntermediateDirectories: true)
        let lock = FileLock(path: container.appendingPathComponent("lock").path)
        guard let held = try lock.tryAcquire() else {
            Issue.record("nobody has it")
            return
        }
        if let other = try lock.tryAcquire() {
            Issue.record("somebody has it")
            other.release()
        }
        held.release()
        let again = try await lock.acquire()
        again.release()
    }

    @Test("the same operation is the same bytes each time")
    func bytes() throws {
        let operation = try RecordedOperation.replaceOne(
            filter: ["_id": 1],
            replacement: ["a": 1, "b": ["c": 2]] as Document,
            upsert: true,
            in: target
        )
        let kept = try ServiceCall(kept: Document(extendedJSON: operation.description))
        #expect(kept == operation.call)
        #expect(
            String(decoding: kept.clientBody, as: UTF8.self)
                == #"{"name":"updateOne","arguments":[{"database":"todo","collection":"Item","query":{"_id":{"$numberLong":"1"}},"update":{"a":{"$numberLong":"1"},"b":{"c":{"$numberLong":"2"}}},"upsert":true}],"service":"mongodb-atlas"}"#
        )
        #expect(
            String(decoding: kept.dataBody, as: UTF8.self)
                == #"{"dataSource":"mongodb-atlas","database":"todo","collection":"Item","filter":{"_id":{"$numberLong":"1"}},"replacement":{"a":{"$numberLong":"1"},"b":{"c":{"$numberLong":"2"}}},"upsert":true}"#
        )
        #expect(throws: TidegateError.self) {
            try RecordedOperation.replaceOne(filter: [:], replacement: ["$set": [:]] as Document, in: target)
        }
    }
}
