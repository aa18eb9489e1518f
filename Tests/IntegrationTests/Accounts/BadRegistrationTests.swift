import Foundation
import TestSupport
import Testing

/// Issue 5, "Bad input".
@Suite("Bad registrations", .serialized)
struct BadRegistrationTests {
    @Test("bad passwords, emails and bodies are refused, and nothing is registered")
    func badInput() async throws {
        let api = try await AccountServer.caller()
        let count = "select count(*) from tidegate.password_hashes where username like '%bad-input%'"
        for password in [
            "short", String(repeating: "x", count: 129), String(repeating: "x", count: 1_000_000),
        ] {
            let body = #"{"email":"bad-input@example.com","password":"\#(password)"}"#
            let answer = try await api.userpass("register", body)
            expect(answer, 400, "BadRequest", "password must be between 6 and 128 characters")
        }
        let huge = String(repeating: "x", count: 1_000_000)
        let reset = try await api.userpass("reset", #"{"token":"x","tokenId":"y","password":"\#(huge)"}"#)
        expect(reset, 400, "BadRequest", "password must be between 6 and 128 characters")
        let login = try await api.userpass(
            "login",
            #"{"username":"bad-input@example.com","password":"\#(huge)"}"#
        )
        expect(login, 401, "InvalidPassword", "unauthorized")
        let larger = String(repeating: "x", count: 1_100_000)
        let tooLarge = try await api.userpass(
            "register",
            #"{"email":"bad-input@example.com","password":"\#(larger)"}"#
        )
        #expect(tooLarge.status == 413)
        for email in [
            "", "bad-input", "@bad-input", "bad-input@", "bad input@example.com",
            "bad-input@example.com\\r\\nBcc: x@y",
            "bad-input\\u0000@example.com", "bad-input\\u0085@example.com", "<bad-input@example.com>",
            "bad-input@a,b", "bad-input\\u202e@example.com", "bad-input@@example.com",
            String(repeating: "bad-input", count: 40) + "@example.com",
        ] {
            let answer = try await api.userpass(
                "register",
                #"{"email":"\#(email)","password":"correct horse"}"#
            )
            expect(answer, 400, "BadRequest", "email invalid")
        }
        for (path, body, member) in [
            ("register", #"{"email":{"$ne":""},"password":"correct horse"}"#, "email"),
            ("register", #"{"email":"bad-input@example.com","password":["correct horse"]}"#, "password"),
            ("register", #"{"email":"bad-input@example.com"}"#, "password"), ("register", "", "email"),
            ("confirm", #"{"token":{"$gt":""},"tokenId":"65f0c0ffee0000000000aaaa"}"#, "token"),
            ("confirm", #"{"token":"x","tokenId":{"$oid":"65f0c0ffee0000000000aaaa"}}"#, "tokenId"),
            ("confirm/send", #"{"email":{"$regex":"."}}"#, "email"), ("confirm/call", "{}", "email"),
            ("reset", #"{"token":"x","tokenId":"y"}"#, "password"), ("reset/send", #"{"email":1}"#, "email"),
            ("reset/call", #"{"email":true,"password":"x"}"#, "email"),
        ] {
            let answer = try await api.userpass(path, body)
            expect(answer, 400, "InvalidParameter", "'\(member)' is a required string")
        }
        for (token, id) in [
            ("x", "y"), ("", ""), (String(repeating: "a", count: 64), "65f0c0ffee0000000000aaaa"),
            (String(repeating: "A", count: 64), "' or true --"),
            (String(repeating: "a", count: 100_000), "y"),
        ] {
            let answer = try await api.userpass("confirm", #"{"token":"\#(token)","tokenId":"\#(id)"}"#)
            expect(answer, 400, "BadRequest", "invalid token data")
        }
        let notJSON = try await api.userpass("register", #"{"email":"a@b.c","email":"d@e.f"}"#)
        #expect(notJSON.status == 400)
        #expect(try Shell.psql(api.server.database, count) == "0")
        let foreign = try await api.provider(
            "anon-user",
            "register",
            #"{"email":"a@b.c","password":"xxxxxx"}"#
        )
        #expect(foreign.status == 404)
    }
}
