import Foundation
import TestSupport
import Testing

/// Users whom the hosted service left behind.
@Suite("tidegate import-users", .serialized)
struct ImportUsersTests {
    private func run(_ lines: String, _ arguments: [String] = []) async throws -> Shell.Result {
        let api = try await AccountServer.caller()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("users-\(UUID().uuidString)")
        try Data(lines.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try await Shell.finish(
            RunningServer.binary,
            ["import-users", api.app, file.path, "--database-url", api.server.database] + arguments
        )
    }

    private func id() -> String { "65f0" + UUID().uuidString.lowercased().filter { $0 != "-" }.prefix(20) }

    @Test("keeps ids, so that documents stay their owners'; hashes open, custom data keeps its types")
    func users() async throws {
        let api = try await AccountServer.caller()
        let (one, two) = (id(), id())
        let (first, second) = (api.newEmail("old"), api.newEmail("older"))
        let hash = "$2b$05$abcdefghijklmnopqrstuuHNbAKRhpaujgo33bRWs.NLUTJO3lOy2"
        let result = try await run(
            """
            {"_id":{"$oid":"\(one)"},"email":"\(first)","password_hash":"\(hash)","creation_date":{"$numberLong":"1700000000"},"custom_data":{"since":{"$date":"2020-01-02T03:04:05Z"},"n":{"$numberLong":"5"}}}
            {"_id":"\(two)","identities":[{"id":"\(two)-abcdefghijklmnopqrstuvwx","provider_type":"local-userpass","provider_data":{"email":"\(second)"}}]}

            """
        )
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output == "2 users imported\n")
        let login = try await api.logIn(email: first, password: "correct horse")
        #expect(login.id == one)
        let profile = try await api.profile(login.accessToken)
        let custom = try #require(profile.object["custom_data"] as? [String: Any])
        #expect(custom["uid"] as? String == one)
        #expect(
            (custom["since"] as? [String: Any])?["$date"] as? [String: String] == [
                "$numberLong": "1577934245000"
            ]
        )
        #expect(custom["n"] as? [String: String] == ["$numberLong": "5"])
        // Without a hash a mail brings a password.
        let none = try await api.userpass("login", #"{"username":"\#(second)","password":"correct horse"}"#)
        #expect(none.errorCode == "InvalidPassword")
        #expect(try await api.userpass("reset/send", #"{"email":"\#(second)"}"#).status == 200)
        let (token, tokenID) = try await AccountServer.token(to: second)
        let reset = try await api.userpass(
            "reset",
            #"{"token":"\#(token)","tokenId":"\#(tokenID)","password":"battery staple"}"#
        )
        #expect(reset.status == 200)
        #expect(try await api.logIn(email: second, password: "battery staple").id == two)
    }

    @Test("names the line of a bad user and imports nobody then, unless told to keep going")
    func bad() async throws {
        let api = try await AccountServer.caller()
        let (one, two) = (id(), id())
        let lines = """
            {"_id":"\(one)","email":"\(api.newEmail("good"))"}
            {"_id":"\(one)","email":"\(api.newEmail("twice"))"}
            not json
            {"_id":"\(two)","email":"\(api.newEmail("argon"))","password_hash":"$argon2id$v=19$x"}
            """
        let all = try await run(lines)
        #expect(all.status != 0)
        #expect(
            all.errors.contains(
                "line 2: account._id '\(one)' is the id of a user already; nobody was imported"
            )
        )
        let count = "select count(*) from tidegate.users where id in ('\(one)', '\(two)')"
        #expect(try Shell.psql(api.server.database, count) == "0")
        let some = try await run(lines, ["--keep-going"])
        #expect(some.status == 1)
        #expect(some.output == "1 users imported, 3 left out\n")
        #expect(some.errors.contains("line 3: "))
        #expect(some.errors.contains("line 4: account.password_hash is of Argon2"))
        #expect(try Shell.psql(api.server.database, count) == "1")
    }
}
