import Crypto
import Foundation
import TestSupport
import Testing

/// `client-api.md` §8, row by row.
@Suite("Linked identities", .serialized)
struct LinkingTests {
    static let secret = "7A4VvateM9s86tbkfisoLoChjGBjuJnZ"

    /// A token of the app's own issuer.
    static func token(_ api: APICaller, _ subject: String, _ more: String = "") -> String {
        ForgedToken.hmac(
            header: #"{"alg":"HS256","typ":"JWT"}"#,
            payload: #"{"aud":"\#(api.app)","sub":"\#(subject)","exp":2145916800\#(more)}"#,
            key: Data(secret.utf8)
        )
    }

    private func link(
        _ api: APICaller,
        _ user: APICaller.User,
        _ provider: String,
        _ body: String
    ) async throws -> APICaller.Answer {
        try await api.provider(provider, "login?link=true", body, as: user.bearer)
    }

    private func pending(_ api: APICaller) async throws -> (email: String, body: String) {
        let email = api.newEmail("link")
        _ = try await api.userpass("register", #"{"email":"\#(email)","password":"correct horse"}"#)
        return (email, #"{"username":"\#(email)","password":"correct horse"}"#)
    }

    private func confirm(_ api: APICaller, _ email: String) async throws {
        let (token, id) = try await AccountServer.token(to: email)
        let answer = try await api.userpass("confirm", #"{"token":"\#(token)","tokenId":"\#(id)"}"#)
        #expect(answer.status == 200)
    }

    @Test("an anonymous user becomes a lasting one, keeps the id, and logs in by either identity")
    func anonymous() async throws {
        let api = try await AccountServer.caller()
        let user = try await api.newUser()
        let (email, credentials) = try await pending(api)
        let early = try await link(api, user, "local-userpass", credentials)
        #expect(early.status == 401)
        #expect(early.errorCode == "AuthError")
        #expect(early.error.hasPrefix("unauthorized: "))
        try await confirm(api, email)
        let linked = try api.tokens(try await link(api, user, "local-userpass", credentials))
        #expect(linked.id == user.id)
        let profile = try await api.profile(linked.accessToken)
        let identities = profile.object["identities"] as? [[String: Any]] ?? []
        #expect(identities.map { $0["provider_type"] as? String } == ["anon-user", "local-userpass"])
        #expect((profile.object["data"] as? [String: Any])?["email"] as? String == email)
        #expect(try await api.logIn(email: email, password: "correct horse").id == user.id)
        // The old refresh token goes on: realm-web keeps it.
        let refresh = ["Authorization": "Bearer \(user.refreshToken)"]
        #expect(try await api.send("POST", "/api/client/v2.0/auth/session", headers: refresh).status == 201)
        // The same again changes nothing and succeeds.
        let again = try api.tokens(try await link(api, linked, "local-userpass", credentials))
        #expect(again.id == user.id)
        let same = try await api.profile(again.accessToken)
        #expect((same.object["identities"] as? [Any])?.count == 2)
        let jwt = Self.token(api, "link-\(UUID().uuidString)", #","full.name":"Ann","org":{"team":"red"}"#)
        #expect(
            try api.tokens(try await link(api, linked, "custom-token", #"{"token":"\#(jwt)"}"#)).id == user.id
        )
        let data = try await api.profile(linked.accessToken).object["data"] as? [String: String]
        #expect(data == ["email": email, "name": "Ann", "team": "red"])
        #expect(
            try api.tokens(try await api.provider("custom-token", "login", #"{"token":"\#(jwt)"}"#)).id
                == user.id
        )
    }

    @Test("what belongs to another user, or is a second of its kind, is refused, and nothing changes")
    func refusals() async throws {
        let api = try await AccountServer.caller()
        let owner = try await api.newConfirmedUser()
        let user = try await api.newConfirmedUser()
        let subject = "taken-\(UUID().uuidString)"
        _ = try api.tokens(
            try await api.provider("custom-token", "login", #"{"token":"\#(Self.token(api, subject))"}"#)
        )
        let key = try await api.send(
            "POST",
            "/api/client/v2.0/auth/api_keys",
            headers: ["Authorization": "Bearer \(owner.refreshToken)"],
            body: Data(#"{"name":"one"}"#.utf8)
        )
        let ownerKey = try #require(key.object["key"] as? String)
        let second = try await pending(api)
        try await confirm(api, second.email)
        let before = try await api.profile(user.accessToken).text
        let ownerPassword = #"{"username":"\#(owner.email)","password":"correct horse"}"#
        let wrong = #"{"username":"\#(second.email)","password":"wrong horse"}"#
        for (provider, body, status, code, text) in [
            (
                "local-userpass", ownerPassword, 401, "AuthError",
                "unauthorized: the identity belongs to another user"
            ),
            (
                "custom-token", #"{"token":"\#(Self.token(api, subject))"}"#, 401, "AuthError",
                "unauthorized: the identity belongs to another user"
            ),
            (
                "custom-token", #"{"token":"a.b.c"}"#, 401, "AuthError",
                "unauthorized: the credentials are not accepted"
            ),
            ("local-userpass", wrong, 401, "AuthError", "unauthorized: the credentials are not accepted"),
            (
                "local-userpass", second.body, 400, "InvalidParameter",
                "unauthorized: the user has another identity of this provider"
            ),
            ("api-key", #"{"key":"\#(ownerKey)"}"#, 400, "InvalidParameter", "invalid user link request"),
            ("anon-user", "{}", 400, "InvalidParameter", "invalid user link request"),
            (
                "local-userpass", #"{"username":{"$ne":""},"password":"x"}"#, 400, "InvalidParameter",
                "'username' is a required string"
            ),
            (
                "custom-token", #"{"token":{"$ne":""}}"#, 400, "InvalidParameter",
                "'token' is a required string"
            ),
        ] {
            let answer = try await link(api, user, provider, body)
            #expect(answer.status == status, "\(provider) \(answer.text)")
            #expect(answer.errorCode == code)
            #expect(answer.error == text)
        }
        let without = try await api.provider(
            "custom-token",
            "login?link=true",
            #"{"token":"\#(Self.token(api, "x"))"}"#
        )
        #expect(without.status == 401)
        #expect(without.error == "must authenticate first")
        let withRefresh = try await api.provider(
            "custom-token",
            "login?link=true",
            #"{"token":"\#(Self.token(api, "x"))"}"#,
            as: ["Authorization": "Bearer \(user.refreshToken)"]
        )
        #expect(withRefresh.error == "invalid session: token type mismatch")
        #expect(try await api.profile(user.accessToken).text == before)
        // What was refused is still free for its own first login.
        #expect(try await api.logIn(email: second.email, password: "correct horse").id != user.id)
    }

    @Test("of many users who link one identity at once one gets it")
    func race() async throws {
        let api = try await AccountServer.caller()
        let jwt = Self.token(api, "race-\(UUID().uuidString)")
        var users: [APICaller.User] = []
        for _ in 0..<10 { users.append(try await api.newUser()) }
        let statuses = try await withThrowingTaskGroup(of: Int.self) { [users] group in
            for user in users {
                group.addTask { try await link(api, user, "custom-token", #"{"token":"\#(jwt)"}"#).status }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.filter { $0 == 200 }.count == 1)
        #expect(statuses.filter { $0 == 401 }.count == 9)
        let owner = try api.tokens(try await api.provider("custom-token", "login", #"{"token":"\#(jwt)"}"#))
        #expect(users.map(\.id).contains(owner.id))
    }

    @Test("an administrator takes an identity away, with its sessions, but not the last one")
    func unlink() async throws {
        let api = try await AccountServer.caller()
        let user = try await api.newConfirmedUser()
        let subject = "unlink-\(UUID().uuidString)"
        let body = #"{"token":"\#(Self.token(api, subject, #","org":{"team":"red"}"#))"}"#
        let session = try api.tokens(try await link(api, user, "custom-token", body))
        try Shell.psql(
            api.server.database,
            "select tidegate.unlink_identity('mails', '\(user.email)', 'custom-token', '\(subject)')"
        )
        try await eventually { try await api.profile(session.accessToken).status == 401 }
        let data = try await api.profile(user.accessToken).object["data"] as? [String: String]
        #expect(data == ["email": user.email])
        #expect(try api.tokens(try await api.provider("custom-token", "login", body)).id != user.id)
        let last = try Shell.psql(
            api.server.database,
            "select identity_id from tidegate.list_identities('mails', '\(user.email)')"
        )
        #expect(throws: Shell.Failure.self) {
            try Shell.psql(
                api.server.database,
                "select tidegate.unlink_identity('mails', '\(user.email)', 'local-userpass', '\(last)')"
            )
        }
        #expect(try await api.profile(user.accessToken).status == 200)
    }
}
