import BSON
import Foundation
import Sync
import SyncModel
import TestSupport
import Testing

/// Who may be connected, in which gateway, and for how long.
///
/// Source: `sync-semantics.md` §§8, 9.4.
@Suite("Sync: who is connected", .serialized)
struct SyncPresenceTests {
    private static let second = Task {
        try await RunningServer.start(besides: try await SyncServer.caller().server, name: "sync-second")
    }

    /// The same device at the other gateway.
    private func elsewhere(_ device: SyncDevice) async throws -> SyncDevice {
        let api = APICaller(server: try await Self.second.value, app: device.api.app)
        return try SyncDevice(api, device.user)
    }

    @Test("opens a file once, here and among all gateways")
    func once() async throws {
        // A device that says nothing for as long as a server may take to start counts as gone.
        _ = try await Self.second.value
        let device = try await ItemExampleTests.device()
        _ = try device.subscribe(1, ItemExampleTests.query)
        for other in [try SyncDevice(device.api, device.user), try await elsewhere(device)] {
            other.resume(device, 1, ItemExampleTests.query)
            #expect(try other.nextError() == "108")
            #expect(other.closure() == 1000)
        }
        #expect(try device.catchUp(2).allSatisfy { $0.name != "json_error" })
        device.close()
        try await eventually {
            let other = try await elsewhere(device)
            other.resume(device, 1, ItemExampleTests.query)
            return try other.receive().name == "download"
        }
    }

    @Test("closes a file when the database could not be told at once, so that other gateways may open it")
    func released() async throws {
        _ = try await Self.second.value
        let device = try await ItemExampleTests.device()
        _ = try device.subscribe(1, ItemExampleTests.query)
        let name = "keep_\(device.file.ident)"
        try Shell.psql(
            device.api.server.database,
            """
            create function public.\(name)() returns trigger language plpgsql as $$ begin raise 'not now'; end $$;
            create trigger \(name) before delete on tidegate.sync_sessions for each row
                when (old.ident = \(device.file.ident)) execute function public.\(name)()
            """
        )
        device.close()
        // Its gateway knows it as closed, and says so to the device that comes back there.
        try await eventually {
            let other = try SyncDevice(device.api, device.user)
            other.resume(device, 1, ItemExampleTests.query)
            defer { other.close() }
            return try other.receive().name == "download"
        }
        let other = try await elsewhere(device)
        other.resume(device, 1, ItemExampleTests.query)
        #expect(try other.nextError() == "108")
        try Shell.psql(device.api.server.database, "drop function public.\(name) cascade")
        try await eventually {
            let other = try await elsewhere(device)
            other.resume(device, 1, ItemExampleTests.query)
            return try other.receive().name == "download"
        }
    }

    @Test(
        "ends the sockets of users who go, in every gateway",
        arguments: [
            ("disable_user", 4002), ("delete_user", 4002), ("revoke_sessions", 4001),
        ]
    )
    func users(act: String, code: Int) async throws {
        let device = try await ItemExampleTests.device()
        let other = try await elsewhere(device)
        try other.begin()
        try Shell.psql(device.api.server.database, "select tidegate.\(act)('item', '\(device.user.id)')")
        #expect(device.closure() == code)
        #expect(other.closure() == code)
    }

    @Test("ends the socket of a login that logs out, and of no other")
    func logout() async throws {
        let device = try await ItemExampleTests.device()
        let stranger = try await ItemExampleTests.device()
        let answer = try await device.api.send(
            "DELETE",
            "/api/client/v2.0/auth/session",
            headers: ["Authorization": "Bearer \(device.user.refreshToken)"]
        )
        #expect(answer.status == 204)
        #expect(device.closure() == 4001)
        #expect(try stranger.catchUp(1).isEmpty)
    }

    @Test("ends a socket when its token expires")
    func expiry() async throws {
        let api = try await SyncServer.caller()
        let user = try await api.newUser()
        let row = try Shell.psql(
            api.server.database,
            "select id, encode(secret, 'base64') from tidegate.signing_keys order by valid_from desc limit 1"
        ).split(separator: "|").map(String.init)
        let parts = user.accessToken.split(separator: ".").map(String.init)
        let padded = parts[1].replacing("-", with: "+").replacing("_", with: "/")
        let claims = try #require(
            Data(base64Encoded: padded + String(repeating: "=", count: (4 - padded.count % 4) % 4))
        )
        var payload = try #require(try JSONSerialization.jsonObject(with: claims) as? [String: Any])
        let key = try #require(Data(base64Encoded: row[1]))
        // Long enough to connect with, however slow the machine is.
        var seconds = 4
        while true {
            payload["exp"] = Int(Date().timeIntervalSince1970) + seconds
            let token = ForgedToken.hmac(
                header: #"{"alg":"HS256","typ":"JWT","kid":"\#(row[0])"}"#,
                payload: String(decoding: try JSONSerialization.data(withJSONObject: payload), as: UTF8.self),
                key: key
            )
            let owner = APICaller.User(
                id: user.id,
                email: "",
                password: "",
                accessToken: token,
                refreshToken: user.refreshToken
            )
            let device = try SyncDevice(api, owner)
            if device.head.hasPrefix("HTTP/1.1 101 ") {
                #expect(device.closure() == 4001)
                return
            }
            seconds *= 2
        }
    }
}
