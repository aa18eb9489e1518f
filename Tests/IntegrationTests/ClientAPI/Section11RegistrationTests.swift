import Foundation
import TestSupport
import Testing

/// `client-api.md` §11: each test's name begins with the row.
@Suite("Client API §11: registration", .serialized)
struct Section11RegistrationTests {
    private func credentials(_ email: String, _ password: String = "correct horse") -> String {
        #"{"email":"\#(email)","password":"\#(password)"}"#
    }

    private func login(_ api: APICaller, _ email: String, _ password: String = "correct horse") async throws
        -> Int
    {
        try await api.logIn("local-userpass", #""username":"\#(email)","password":"\#(password)""#).status
    }

    @Test("/register; /confirm; /confirm/send", arguments: SDK.allCases)
    func confirm(sdk: SDK) async throws {
        let api = try await WholeApp.caller()
        let email = api.newEmail()
        expectNothing(try await api.password("register", credentials(email), as: sdk), 201)
        #expect(try await login(api, email) == 401)
        let first = try await WholeApp.token(to: email)
        expectNothing(try await api.password("confirm/send", #"{"email":"\#(email)"}"#, as: sdk), 200)
        let second = try await WholeApp.token(to: email, mails: 2)
        #expect(first.token != second.token)
        expectNothing(
            try await api.password(
                "confirm",
                #"{"token":"\#(second.token)","tokenId":"\#(second.id)"}"#,
                as: sdk
            ),
            200
        )
        #expect(try await login(api, email) == 200)
    }

    @Test("/confirm/call: the confirmation function again, and what success, pending and fail mean")
    func confirmCall() async throws {
        let asked = try await WholeApp.caller("asked-abcde")
        let good = asked.newEmail("good")
        expectNothing(try await asked.password("register", credentials(good)), 201)
        #expect(try await login(asked, good) == 200)
        let later = asked.newEmail("later")
        expectNothing(try await asked.password("register", credentials(later)), 201)
        #expect(try await login(asked, later) == 401)
        expectNothing(try await asked.password("confirm/call", #"{"email":"\#(later)"}"#), 200)
        #expect(try await login(asked, later) == 401)
    }

    @Test("/reset/send; /reset (members in either order)", arguments: SDK.allCases)
    func reset(sdk: SDK) async throws {
        let api = try await WholeApp.caller()
        let email = api.newEmail()
        expectNothing(try await api.password("register", credentials(email), as: sdk), 201)
        let (token, id) = try await WholeApp.token(to: email)
        let confirmation = #"{"token":"\#(token)","tokenId":"\#(id)"}"#
        expectNothing(try await api.password("confirm", confirmation, as: sdk), 200)
        expectNothing(try await api.password("reset/send", #"{"email":"\#(email)"}"#, as: sdk), 200)
        let sent = try await WholeApp.token(to: email, mails: 2)
        let members = [
            #""token":"\#(sent.token)""#, #""tokenId":"\#(sent.id)""#, #""password":"battery staple""#,
        ]
        let body = (sdk == .web ? members : members.reversed()).joined(separator: ",")
        expectNothing(try await api.password("reset", "{\(body)}", as: sdk), 200)
        #expect(try await login(api, email) == 401)
        #expect(try await login(api, email, "battery staple") == 200)
    }

    @Test("/reset/call: the reset function with the new password and the arguments")
    func resetCall() async throws {
        let auto = try await WholeApp.caller("auto-abcde")
        let email = auto.newEmail()
        expectNothing(try await auto.password("register", credentials(email)), 201)
        // The function looks whether all members came, and that the password is the present one.
        let same =
            #"{"email":"\#(email)","password":"correct horse","arguments":["look",{"$numberInt":"7"}]}"#
        expectNothing(try await auto.password("reset/call", same, as: .core), 200)
        let other = #"{"email":"\#(email)","password":"battery staple","arguments":["success"]}"#
        expectNothing(try await auto.password("reset/call", other), 200)
        #expect(try await login(auto, email, "battery staple") == 200)
        let later = #"{"email":"\#(email)","password":"third one","arguments":["pending"]}"#
        expectNothing(try await auto.password("reset/call", later), 200)
        #expect(try await login(auto, email, "third one") == 401)
    }

    @Test("email taken")
    func taken() async throws {
        let api = try await WholeApp.caller()
        let email = api.newEmail()
        expectNothing(try await api.password("register", credentials(email)), 201)
        let again = try await api.password("register", credentials(email, "another one"))
        expect(again, 409, "AccountNameInUse", "name already in use")
    }

    @Test("password length")
    func passwordLength() async throws {
        let api = try await WholeApp.caller()
        for length in [0, 5, 129, 1_000_000] {
            let email = api.newEmail("length")
            let body = credentials(email, String(repeating: "x", count: length))
            let answer = try await api.password("register", body)
            if length == 0 {
                #expect(answer.status == 400, "\(answer.text)")
            } else {
                expect(answer, 400, "BadRequest", "password must be between 6 and 128 characters")
            }
            let count = try await WholeApp.psql(
                "select count(*) from tidegate.password_hashes where username = '\(email)'"
            )
            #expect(count == "0")
        }
    }

    @Test("email malformed or empty")
    func malformed() async throws {
        let api = try await WholeApp.caller()
        for email in [
            "", "nobody", "@", "a@", "@b", "a b@c.d", "a\\u0000@b.c", "a\\u0007@b.c", "a\\r\\nBcc: x@b.c",
            "a\\u202e@b.c",
        ] {
            let answer = try await api.password("register", credentials(email))
            expect(answer, 400, "BadRequest", "email invalid")
        }
    }

    @Test("confirmation function said fail, or threw: no account, and the address is free again")
    func confirmationFails() async throws {
        let asked = try await WholeApp.caller("asked-abcde")
        for word in ["never", "throw"] {
            let email = asked.newEmail(word)
            for _ in 1...2 {
                let answer = try await asked.password("register", credentials(email))
                expect(answer, 400, "BadRequest", #"failed to confirm user "\#(email)""#)
            }
        }
    }

    @Test("bad confirmation or reset token")
    func badToken() async throws {
        let api = try await WholeApp.caller()
        let email = api.newEmail()
        expectNothing(try await api.password("register", credentials(email)), 201)
        let (token, id) = try await WholeApp.token(to: email)
        for (token, id) in [
            ("x", "y"), (String(token.reversed()), id), (token, "65f0c0ffee0000000000aaaa"), ("", ""),
        ] {
            for path in ["confirm", "reset"] {
                let answer = try await api.password(
                    path,
                    #"{"token":"\#(token)","tokenId":"\#(id)","password":"battery staple"}"#
                )
                expect(answer, 400, "BadRequest", "invalid token data")
            }
        }
        // A confirmation token resets nothing.
        let reset = #"{"token":"\#(token)","tokenId":"\#(id)","password":"battery staple"}"#
        expect(try await api.password("reset", reset), 400, "BadRequest", "invalid token data")
    }

    @Test("expired or used token; confirm again although confirmed")
    func spentToken() async throws {
        let api = try await WholeApp.caller()
        let email = api.newEmail()
        expectNothing(try await api.password("register", credentials(email)), 201)
        let old = try await WholeApp.token(to: email)
        _ = try await WholeApp.psql(
            "update tidegate.user_tokens set expires_at = now() - interval '1 second' where id = '\(old.id)'"
        )
        let spent = "userpass token is expired or invalid"
        let expired = #"{"token":"\#(old.token)","tokenId":"\#(old.id)"}"#
        expect(try await api.password("confirm", expired), 400, "UserpassTokenInvalid", spent)
        expectNothing(try await api.password("confirm/send", #"{"email":"\#(email)"}"#), 200)
        let new = try await WholeApp.token(to: email, mails: 2)
        let good = #"{"token":"\#(new.token)","tokenId":"\#(new.id)"}"#
        expectNothing(try await api.password("confirm", good), 200)
        expect(try await api.password("confirm", good), 400, "UserpassTokenInvalid", spent)
        let again = try await api.password("confirm/send", #"{"email":"\#(email)"}"#)
        expect(again, 400, "UserAlreadyConfirmed", "already confirmed")
    }

    @Test("unknown email (confirm/send, confirm/call, reset/send, reset/call)")
    func unknown() async throws {
        let api = try await WholeApp.caller()
        for path in ["confirm/send", "confirm/call", "reset/send", "reset/call"] {
            let body = #"{"email":"\#(api.newEmail("nobody"))","password":"correct horse","arguments":[]}"#
            expect(try await api.password(path, body), 404, "UserNotFound", "user not found")
        }
    }

    @Test("confirm/call with automatic confirmation")
    func automatic() async throws {
        let auto = try await WholeApp.caller("auto-abcde")
        let email = auto.newEmail()
        expectNothing(try await auto.password("register", credentials(email)), 201)
        let answer = try await auto.password("confirm/call", #"{"email":"\#(email)"}"#)
        expect(
            answer,
            400,
            nil,
            "cannot run confirmation for \(email): automatic confirmation is enabled"
        )
    }

    @Test("reset/send while a reset function is configured; reset function said fail")
    func resetFunction() async throws {
        let auto = try await WholeApp.caller("auto-abcde")
        let email = auto.newEmail()
        expectNothing(try await auto.password("register", credentials(email)), 201)
        let sent = try await auto.password("reset/send", #"{"email":"\#(email)"}"#)
        expect(sent, 400, "BadRequest", "please use reset password via function")
        for answer in ["fail", "throw"] {
            let body = #"{"email":"\#(email)","password":"battery staple","arguments":["\#(answer)"]}"#
            let refused = try await auto.password("reset/call", body)
            expect(refused, 400, nil, #"failed to reset password for user "\#(email)""#)
        }
        #expect(try await login(auto, email) == 200)
    }
}
