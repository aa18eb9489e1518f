import BSON
import Foundation
import Sync
import SyncModel
import TestSupport
import Testing

/// Source: `sync-semantics.md` §9.3.
@Suite("Sync: what devices do wrong")
struct SyncFaultTests {
    static let broken: [(String, String)] = [
        ("nonsense\n", "102"),
        ("mark 1\n", "103"),
        ("mark 9 1\n", "106"),
        ("bind 1 2 0 0 0\n{}", "107"),
        ("ident 1 2 3 0 0 0 0 0 2\n{}", "109"),
        ("upload 1 1 9 3 1 0 0\nabc", "110"),
        ("upload 1 0 4 0 1 0 0\na b ", "111"),
        ("upload 1 0 11 0 1 0 0\n1 0 0 0 9 a", "112"),
        ("upload 1 0 12 0 1 0 0\n1 0 0 0 2 \u{1}\u{7}", "212"),
        ("upload 1 0 0 0 1 999999 0\n", "209"),
        ("upload 1 0 20 0 2 0 0\n2 0 0 0 0 2 0 0 0 0 ", "210"),
        ("upload 1 0 10 0 2 0 0\n2 0 0 5 0 ", "216"),
        ("query 1 0 2\n{}", "109"),
        ("json_error 212 2 1\n{}", "217"),
    ]

    @Test("ends with the documented code, and changes nothing", arguments: broken)
    func refused(message: String, code: String) async throws {
        let device = try await ItemExampleTests.device()
        device.send(message)
        let answer = try device.receive()
        #expect(answer.fields.prefix(2) == ["json_error", code])
        if (Int(code) ?? 0) < 200 { #expect(throws: WireSocket.Closed.self) { try device.receive() } }
    }

    @Test("refuses a class and a property that the app does not have")
    func schema() async throws {
        let device = try await ItemExampleTests.device()
        let key = Instruction.KeyColumn(field: ByteText("_id"), type: .objectID, isNullable: false)
        device.upload([.addTable(ByteText("Stranger"), .topLevel(key))])
        #expect(try device.receive().fields.prefix(2) == ["json_error", "225"])
    }

    @Test("knows a file by its salt and its user")
    func strangers() async throws {
        let device = try await ItemExampleTests.device()
        let other = try SyncDevice(device.api, try await device.api.newUser())
        let body = "{}"
        other.send("bind 1 2 0 0 0\n\(body)")
        other.send("ident 1 \(device.file.ident) \(device.file.salt) 0 0 0 0 0 2\n{}")
        #expect(try other.receive().fields.prefix(2) == ["json_error", "223"])
        other.send("bind 2 2 0 0 0\n\(body)")
        other.send("ident 2 \(device.file.ident) \(device.file.salt + 1) 0 0 0 0 0 2\n{}")
        #expect(try other.receive().fields.prefix(2) == ["json_error", "208"])
    }

    @Test("refuses a socket without a good token")
    func token() async throws {
        let api = try await SyncServer.caller()
        var user = try await api.newUser()
        user = APICaller.User(
            id: user.id,
            email: "",
            password: "",
            accessToken: "x" + user.accessToken,
            refreshToken: user.refreshToken
        )
        #expect(try SyncDevice(api, user).head.hasPrefix("HTTP/1.1 401 "))
    }
}
