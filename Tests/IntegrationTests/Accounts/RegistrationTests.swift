import Foundation
import TestSupport
import Testing

/// `client-api.md` §11, row by row, as SDKs send it.
@Suite("Registration, confirmation and reset", .serialized)
struct RegistrationTests {
    @Test("a mail confirms an address once; before, nobody logs in, and the name is taken")
    func confirmation() async throws {
        let api = try await AccountServer.caller()
        let email = api.newEmail("ann")
        let credentials = #"{"email":"\#(email)","password":"correct horse"}"#
        expectNothing(
            try await api.userpass("register", credentials, as: ["Authorization": "Bearer stale"]),
            201
        )
        expect(
            try await api.userpass("register", credentials),
            409,
            "AccountNameInUse",
            "name already in use"
        )
        let login = #"{"username":"\#(email)","password":"correct horse"}"#
        expect(try await api.userpass("login", login), 401, "AuthError", "unauthorized")
        let (token, id) = try await AccountServer.token(to: email)
        let mail = try #require(try await AccountServer.mails(to: email).first)
        #expect(mail.contains("Subject: Welcome to mails\r\n"))
        #expect(mail.contains("https://app.example/confirm?token=\(token)&tokenId=\(id)\r\n"))
        // The database holds neither the token nor a mail with it.
        let dump = try Shell.psql(
            api.server.database,
            "select o::text from tidegate.outbox o union all select t::text from tidegate.user_tokens t"
        )
        #expect(dump.contains(email))
        #expect(!dump.contains(token))
        let confirmation = #"{"tokenId":"\#(id)","token":"\#(token)"}"#
        expectNothing(try await api.userpass("confirm", confirmation), 200)
        expect(
            try await api.userpass("confirm", confirmation),
            400,
            "UserpassTokenInvalid",
            "userpass token is expired or invalid"
        )
        #expect(try await api.userpass("login", login).status == 200)
        expect(
            try await api.userpass("confirm/send", #"{"email":"\#(email)"}"#),
            400,
            "UserAlreadyConfirmed",
            "already confirmed"
        )
    }

    @Test("of fifty parallel uses of one token one confirms")
    func parallel() async throws {
        let api = try await AccountServer.caller()
        let email = api.newEmail("crowd")
        _ = try await api.userpass("register", #"{"email":"\#(email)","password":"correct horse"}"#)
        let (token, id) = try await AccountServer.token(to: email)
        let answers = try await withThrowingTaskGroup(of: APICaller.Answer.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    try await api.userpass("confirm", #"{"token":"\#(token)","tokenId":"\#(id)"}"#)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.filter { $0.status == 200 }.count == 1)
        #expect(answers.filter { $0.errorCode == "UserpassTokenInvalid" }.count == 49)
    }

    @Test("a reset mail sets another password, once, and ends every session with its tokens")
    func reset() async throws {
        let api = try await AccountServer.caller()
        let user = try await api.newConfirmedUser()
        let kept = try await api.userpass(
            "register",
            #"{"email":"\#(api.newEmail())","password":"correct horse"}"#
        )
        #expect(kept.status == 201)
        expectNothing(try await api.userpass("reset/send", #"{"email":"\#(user.email)"}"#), 200)
        let (token, id) = try await AccountServer.token(to: user.email, mails: 2)
        let mail = try #require(try await AccountServer.mails(to: user.email).last)
        #expect(mail.contains("https://app.example/reset?lang=en&token=\(token)&tokenId=\(id)\r\n"))
        func reset(_ password: String, _ token: String, _ id: String) async throws -> APICaller.Answer {
            try await api.userpass(
                "reset",
                #"{"password":"\#(password)","token":"\#(token)","tokenId":"\#(id)"}"#
            )
        }
        let tooShort = try await reset("short", token, id)
        expect(tooShort, 400, "BadRequest", "password must be between 6 and 128 characters")
        let other = String(token.reversed())
        expect(try await reset("battery staple", other, id), 400, "BadRequest", "invalid token data")
        // A reset token confirms nothing.
        let confirm = try await api.userpass("confirm", #"{"token":"\#(token)","tokenId":"\#(id)"}"#)
        expect(confirm, 400, "BadRequest", "invalid token data")
        // Nor is it good in another app.
        let elsewhere = try await AccountServer.caller(AccountServer.automatic).userpass(
            "reset",
            #"{"password":"battery staple","token":"\#(token)","tokenId":"\#(id)"}"#
        )
        expect(elsewhere, 400, "BadRequest", "invalid token data")
        #expect(try await api.profile(user.accessToken).status == 200)
        expectNothing(try await reset("battery staple", token, id), 200)
        let again = try await reset("another one", token, id)
        expect(again, 400, "UserpassTokenInvalid", "userpass token is expired or invalid")
        try await eventually { try await api.profile(user.accessToken).status == 401 }
        let refresh = try await api.send(
            "POST",
            "/api/client/v2.0/auth/session",
            headers: ["Authorization": "Bearer \(user.refreshToken)"]
        )
        expect(refresh, 401, "InvalidSession", "invalid session: failed to find refresh token")
        let old = try await api.userpass(
            "login",
            #"{"username":"\#(user.email)","password":"correct horse"}"#
        )
        expect(old, 401, "InvalidPassword", "unauthorized")
        #expect(try await api.logIn(email: user.email, password: "battery staple").id == user.id)
    }

    @Test("an unknown email is told, in every route that takes one")
    func unknown() async throws {
        let api = try await AccountServer.caller()
        for path in ["confirm/send", "confirm/call", "reset/send", "reset/call"] {
            for email in [api.newEmail("nobody"), "", "no email", "a\\u0000b@example.com"] {
                let answer = try await api.userpass(
                    path,
                    #"{"email":"\#(email)","password":"correct horse","arguments":[]}"#
                )
                expect(answer, 404, "UserNotFound", "user not found")
            }
        }
    }

    @Test("functions and automatic confirmation are answered by name")
    func functions() async throws {
        let api = try await AccountServer.caller(AccountServer.automatic)
        let user = try await api.newPasswordUser()
        let email = #"{"email":"\#(user.email)","password":"correct horse","arguments":[1]}"#
        expect(
            try await api.userpass("confirm/call", email),
            400,
            nil,
            "cannot run confirmation for \(user.email): automatic confirmation is enabled"
        )
        expect(
            try await api.userpass("confirm/send", email),
            400,
            "UserAlreadyConfirmed",
            "already confirmed"
        )
        expect(
            try await api.userpass("reset/send", email),
            400,
            "BadRequest",
            "please use reset password via function"
        )
        expect(
            try await api.userpass("reset/call", email),
            400,
            nil,
            "failed to reset password for user \"\(user.email)\""
        )
        let mails = try await AccountServer.caller()
        let pending = mails.newEmail()
        _ = try await mails.userpass("register", #"{"email":"\#(pending)","password":"correct horse"}"#)
        expect(
            try await mails.userpass("confirm/call", #"{"email":"\#(pending)"}"#),
            400,
            "BadRequest",
            "cannot run confirmation for \(pending): users confirm by mail"
        )
        expect(
            try await mails.userpass("reset/call", #"{"email":"\#(pending)","password":"correct horse"}"#),
            400,
            "BadRequest",
            "no reset function is configured: please use the reset mail"
        )
    }

    @Test("a token that is too old is refused, and another mail brings another")
    func expiry() async throws {
        let api = try await AccountServer.caller()
        let email = api.newEmail("late")
        _ = try await api.userpass("register", #"{"email":"\#(email)","password":"correct horse"}"#)
        let old = try await AccountServer.token(to: email)
        try Shell.psql(
            api.server.database,
            "update tidegate.user_tokens set expires_at = now() - interval '1 second' where id = '\(old.id)'"
        )
        let answer = try await api.userpass("confirm", #"{"token":"\#(old.token)","tokenId":"\#(old.id)"}"#)
        expect(answer, 400, "UserpassTokenInvalid", "userpass token is expired or invalid")
        // At most six mails an hour: the first went out, five more are taken.
        for _ in 0..<5 {
            try await eventually {
                try Shell.psql(
                    api.server.database,
                    "select count(*) from tidegate.outbox where username = '\(email)' and state <> 'sent'"
                ) == "0"
            }
            expectNothing(try await api.userpass("confirm/send", #"{"email":"\#(email)"}"#), 200)
        }
        let new = try await AccountServer.token(to: email, mails: 6)
        let seventh = try await api.userpass("confirm/send", #"{"email":"\#(email)"}"#)
        #expect(seventh.status == 429)
        #expect(seventh.header("Retry-After").flatMap { Int($0) } ?? 0 > 60)
        #expect(seventh.error.contains("mails-per-hour-per-account"))
        let confirmation = #"{"token":"\#(new.token)","tokenId":"\#(new.id)"}"#
        expectNothing(try await api.userpass("confirm", confirmation), 200)
    }
}
