import BSON
import Foundation
import TestSupport
import Testing

@testable import Sync

/// What is too much: the documented error or a closed connection, and the server serves others as before.
@Suite("Sync: too much of everything")
struct SyncBadInputTests {
    /// A new device still gets on.
    private func isServed() async throws -> Bool {
        let device = try await ItemExampleTests.device()
        return try device.subscribe(1, ItemExampleTests.query).contains { $0.name == "download" }
    }

    @Test("10,000 sessions on one connection")
    func sessions() async throws {
        let device = try await ItemExampleTests.device()
        for session in 2...10_001 { device.send("bind \(session) 2 0 0 0\n{}") }
        let error = try device.receive()
        #expect(error.fields.prefix(2) == ["json_error", "101"])
        #expect(throws: SyncDevice.Closed.self) { try device.receive() }
        #expect(try await isServed())
    }

    @Test("bodies that unpack to more than they say, or to nothing of sense")
    func bombs() async throws {
        let bomb = try #require(Deflation.deflate([UInt8](repeating: 0, count: 50 << 20)))
        #expect(bomb.count < 1 << 20)
        for (size, code) in [(10, "110"), (60 << 20, "110"), (1 << 40, "112"), (50 << 20, "111")] {
            let device = try await ItemExampleTests.device()
            device.send(Array("upload 1 1 \(size) \(bomb.count) 2 0 0\n".utf8) + bomb)
            let error = try device.receive()
            #expect(error.fields.prefix(2) == ["json_error", code])
            #expect(throws: SyncDevice.Closed.self) { try device.receive() }
        }
        #expect(try await isServed())
    }

    @Test("a query of a megabyte is refused, and the session goes on")
    func query() async throws {
        let device = try await ItemExampleTests.device()
        let long = #"{"Item":"(ownerId == \""# + String(repeating: "x", count: 1 << 20) + #"\")"}"#
        let messages = try device.subscribe(1, long)
        #expect(messages.first?.fields.prefix(2) == ["query_error", "226"])
        #expect(try device.subscribe(2, ItemExampleTests.query).contains { $0.name == "download" })
    }

    @Test("a message beyond all bounds closes the socket")
    func message() async throws {
        let device = try await ItemExampleTests.device()
        device.send([UInt8](repeating: 120, count: 21 << 20))
        #expect([1009, nil].contains(device.closure()))
        #expect(try await isServed())
    }

    @Test("another salt of the history is another history")
    func salt() async throws {
        let device = try await ItemExampleTests.device()
        device.close()
        var code: String?
        try await eventually {
            let other = try SyncDevice(device.api, device.user)
            let (server, client, latest, salt) = device.progress
            other.send("bind 1 2 0 0 0\n{}")
            other.send(
                "ident 1 \(device.file.ident) \(device.file.salt) \(server) \(client) \(latest) \(salt ^ 1) 0 2\n{}"
            )
            code = try other.nextError()
            return code != "108"
        }
        #expect(code == "211")
    }
}
