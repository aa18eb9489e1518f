import Foundation
import TestSupport
import Testing

/// Issue 5, "Bad input", what the suites by subject leave out.
///
/// The others: objects for strings in `Section03LoginErrorTests`, `CredentialTests`, ``BadRegistrationTests``; emails
/// in ``BadRegistrationTests``; access tokens in `Section06TokenErrorTests` and `TokenForgeryTests`; replayed refresh
/// tokens in `Section06TokenErrorTests`; linking in `Section08LinkTests` and ``LinkingTests``; deleting twice in
/// `Section05SessionTests`; pipelines in `Section10WatchTests`; equal work in `EnumerationTests`.
@Suite("Bad input of accounts", .serialized)
struct BadAccountInputTests {
    private let session = "/api/client/v2.0/auth/session"
    private let keys = "/api/client/v2.0/auth/api_keys"

    /// Who there is, and how everybody can log in: equal before and after what is refused.
    private func census(_ api: APICaller, _ user: APICaller.User) throws -> String {
        try Shell.psql(
            api.server.database,
            """
            select (select count(*) from tidegate.identities where user_id = '\(user.id)'),
                (select count(*) from tidegate.sessions where user_id = '\(user.id)' and revoked_at is null),
                (select count(*) from tidegate.api_keys where user_id = '\(user.id)'),
                (select coalesce(string_agg(hash, ','), '') from tidegate.password_hashes
                 where username = '\(user.email)')
            """
        )
    }

    @Test("forged, foreign, changed and worn refresh tokens: 401, and the session stands")
    func refreshTokens() async throws {
        let api = try await AccountServer.caller()
        let user = try await api.newUser()
        let other = try await AccountServer.caller(AccountServer.automatic).newUser()
        let before = try census(api, user)
        let parts = user.refreshToken.split(separator: ".").map(String.init)
        let others = other.refreshToken.split(separator: ".").map(String.init)
        func decoded(_ part: String) -> String {
            var text = part.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
            while text.count % 4 != 0 { text += "=" }
            return String(decoding: Data(base64Encoded: text) ?? Data(), as: UTF8.self)
        }
        let payload = decoded(parts[1])
        let swapped = payload.replacingOccurrences(of: user.id, with: other.id)
        #expect(swapped != payload)
        let doubled = String(payload.dropLast()) + #","sub":"\#(other.id)"}"#
        for (name, token) in [
            ("none", ForgedToken.unsigned(header: #"{"alg":"none","typ":"JWT"}"#, payload: payload)),
            (
                "HS256 with a key that can be read",
                ForgedToken.hmac(
                    header: #"{"alg":"HS256","typ":"JWT"}"#,
                    payload: payload,
                    key: Data("key".utf8)
                )
            ),
            ("of another user", "\(parts[0]).\(ForgedToken.encode(Data(swapped.utf8))).\(parts[2])"),
            ("claims twice", "\(parts[0]).\(ForgedToken.encode(Data(doubled.utf8))).\(parts[2])"),
            ("another app's signature", "\(parts[0]).\(parts[1]).\(others[2])"),
            ("another app's header", "\(others[0]).\(parts[1]).\(parts[2])"),
            ("truncated", String(user.refreshToken.dropLast(9))), ("two parts", "\(parts[0]).\(parts[1])"),
            ("four parts", user.refreshToken + ".x"), ("none at all", ".."),
            ("long", String(repeating: "a", count: 7000)),
        ] {
            for (method, path) in [("POST", session), ("DELETE", session), ("GET", keys)] {
                let answer = try await api.curl(method, path, token: token)
                #expect(answer.status == 401, "\(name), \(method) \(path): \(answer.text)")
                #expect(answer.object["access_token"] == nil)
            }
        }
        #expect(try census(api, user) == before)
        #expect(try await api.curl("POST", session, token: user.refreshToken).status == 201)
    }

    @Test("a password of a megabyte: refused wherever one is taken, and nothing changes")
    func longPasswords() async throws {
        let api = try await AccountServer.caller(AccountServer.automatic)
        let user = try await api.newPasswordUser()
        let before = try census(api, user)
        let huge = String(repeating: "x", count: 1_000_000)
        let reset = #"{"email":"\#(user.email)","password":"\#(huge)","arguments":[]}"#
        expect(
            try await api.userpass("reset/call", reset),
            400,
            "BadRequest",
            "password must be between 6 and 128 characters"
        )
        let login = #"{"username":"\#(user.email)","password":"\#(huge)"}"#
        expect(try await api.userpass("login", login), 401, "InvalidPassword", "unauthorized")
        let anonymous = try await api.newUser()
        expect(
            try await api.userpass("login?link=true", login, as: anonymous.bearer),
            401,
            "AuthError",
            "unauthorized: the credentials are not accepted"
        )
        // In a header it is the header that is too long.
        let header = try? await api.act("find", "Item", as: ["email": user.email, "password": huge])
        #expect(header == nil || header?.status == 431 || header?.status == 400, "\(header?.status ?? 0)")
        #expect(try census(api, user) == before)
        #expect(try await api.logIn(email: user.email, password: user.password).id == user.id)
    }

    @Test("objects where strings are expected: names of API keys, device ids, links; nothing is made")
    func objects() async throws {
        let api = try await AccountServer.caller()
        let email = api.newEmail("objects")
        let registration = #"{"email":"\#(email)","password":"correct horse"}"#
        #expect(try await api.userpass("register", registration).status == 201)
        let mail = try await AccountServer.token(to: email)
        let confirmation = #"{"token":"\#(mail.token)","tokenId":"\#(mail.id)"}"#
        #expect(try await api.userpass("confirm", confirmation).status == 200)
        let user = try await api.logIn(email: email, password: "correct horse")
        let before = try census(api, user)
        for name in [#"{"$ne":""}"#, #"["a"]"#, "1", "true", "null"] {
            let answer = try await api.curl("POST", keys, #"{"name":\#(name)}"#, token: user.refreshToken)
            #expect(answer.status == 400, "\(name): \(answer.text)")
            #expect(answer.error == "'name' is a required string", "\(name)")
        }
        #expect(try census(api, user) == before)
        // What a client tells of its device never keeps anybody from logging in, and is never taken for an id.
        for device in [#"{"deviceId":{"$ne":""}}"#, #"{"deviceId":["x"]}"#, "[]", #""x""#, "7"] {
            let answer = try await api.provider("anon-user", "login", #"{"options":{"device":\#(device)}}"#)
            #expect(answer.status == 200 || answer.status == 400, "\(device): \(answer.text)")
            if answer.status == 200 {
                let id = answer.object["device_id"] as? String
                #expect(id?.wholeMatch(of: /[0-9a-f]{24}/) != nil, "\(device): \(answer.text)")
            }
        }
    }

    @Test("a mail's token with the id of another user's: invalid, and both stay as they were")
    func tokensOfOthers() async throws {
        let api = try await AccountServer.caller()
        let (ann, bob) = (api.newEmail("ann"), api.newEmail("bob"))
        for email in [ann, bob] {
            let answer = try await api.userpass(
                "register",
                #"{"email":"\#(email)","password":"correct horse"}"#
            )
            #expect(answer.status == 201)
        }
        let (anns, bobs) = (try await AccountServer.token(to: ann), try await AccountServer.token(to: bob))
        for (token, id) in [(anns.token, bobs.id), (bobs.token, anns.id)] {
            let answer = try await api.userpass("confirm", #"{"token":"\#(token)","tokenId":"\#(id)"}"#)
            expect(answer, 400, "BadRequest", "invalid token data")
        }
        for (email, mine) in [(ann, anns), (bob, bobs)] {
            let body = #"{"username":"\#(email)","password":"correct horse"}"#
            #expect(try await api.userpass("login", body).status == 401)
            let good = #"{"token":"\#(mine.token)","tokenId":"\#(mine.id)"}"#
            #expect(try await api.userpass("confirm", good).status == 200)
            #expect(try await api.userpass("login", body).status == 200)
        }
    }
}
