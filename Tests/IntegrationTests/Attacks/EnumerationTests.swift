import Foundation
import TestSupport
import Testing

/// Who has an account here? `peers.md` §6.2, "enumeration", "unindexed auth look-up", "health amplification".
@Suite("Attack: finding accounts", .serialized)
struct EnumerationTests {
    private func logIn(_ api: APICaller, _ name: String, _ password: String) async throws -> APICaller.Answer
    {
        try await api.send(
            "POST",
            "/api/client/v2.0/app/\(api.app)/auth/providers/local-userpass/login",
            headers: ["Content-Type": "application/json"],
            body: Data(
                #"{"username":\#(try AttackApp.json(name)),"password":\#(try AttackApp.json(password))}"#.utf8
            )
        )
    }

    /// Status, headers that could tell, and body, without the request's id.
    private func shape(_ answer: APICaller.Answer) -> String {
        let text = answer.text.replacing(/logs\?co_id=[0-9a-f]{24}/, with: "logs")
        let names = answer.headers.keys.sorted().joined(separator: ",")
        return "\(answer.status) \(names) \(text)"
    }

    @Test("a wrong password, an unknown name and a strange one get one answer, by login and by header")
    func answers() async throws {
        let api = try await AttackApp.caller()
        let known = try await api.newPasswordUser()
        let expected = shape(try await logIn(api, known.email, "wrong-password"))
        #expect(expected.hasPrefix("401"))
        let call = shape(
            try await api.attack("find", "Open", as: ["email": known.email, "password": "wrong-password"])
        )
        // Each try is a hash, which is made to be slow: few names, the likeliest to differ.
        let nobody = "nobody-\(UUID().uuidString)@example.com"
        for name in [nobody, known.email.uppercased(), known.email + " ", "'--"] {
            #expect(shape(try await logIn(api, name, "wrong-password")) == expected, "\(name)")
        }
        let stranger = try await api.attack(
            "find",
            "Open",
            as: ["email": nobody, "password": "wrong-password"]
        )
        #expect(shape(stranger) == call)
        try await AttackApp.sql(
            "select tidegate.create_api_key('\(api.app)', 'k-\(UUID().uuidString.prefix(8))')"
        )
        var keys: Set<String> = []
        for key in [
            "x", String(repeating: "a", count: 64), "' or true --", String(repeating: "k", count: 4000),
        ] {
            keys.insert(shape(try await api.attack("find", "Open", as: ["apiKey": key])))
        }
        #expect(keys.count == 1, "\(keys)")
    }

    @Test("an unknown provider is refused before the database is asked")
    func providers() async throws {
        let api = try await AttackApp.caller()
        for provider in [
            "nope", "anon-user%27--", "..%2f..", "constructor", "__proto__", "oauth2-evil", "local_userpass",
            "LOCAL-USERPASS",
        ] {
            let answer = try await api.send(
                "POST",
                "/api/client/v2.0/app/\(api.app)/auth/providers/\(provider)/login",
                headers: ["Content-Type": "application/json"],
                body: Data(#"{"username":"x","password":"y","key":"z","token":"t"}"#.utf8)
            )
            #expect(answer.status == 404, "\(provider): \(answer.status) \(answer.text)")
            #expect(answer.object["access_token"] == nil)
        }
    }

    @Test("a crowd that asks for health is answered, and so are others")
    func health() async throws {
        let api = try await AttackApp.caller()
        let answers = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<300 { group.addTask { try await api.send("GET", "/health").status } }
            var statuses: [Int] = []
            for try await status in group { statuses.append(status) }
            return statuses
        }
        #expect(answers.allSatisfy { $0 == 200 }, "\(Set(answers))")
        #expect(try await api.newUser().id.count == 24)
    }
}
