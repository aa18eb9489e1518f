import Accounts
import BSON
import Errors
import Foundation
import Postgres
import SQL
import TestSupport
import Testing

@testable import Services

extension AccountSuites {
    @Suite("Importing users")
    struct UserImportTests {
        /// Hashes of `correct horse`, made by Python's hashlib and by libcrypt.
        static let hashes = [
            "$2b$05$abcdefghijklmnopqrstuuHNbAKRhpaujgo33bRWs.NLUTJO3lOy2",
            "$2a$05$abcdefghijklmnopqrstuuHNbAKRhpaujgo33bRWs.NLUTJO3lOy2",
            "$2y$05$abcdefghijklmnopqrstuuHNbAKRhpaujgo33bRWs.NLUTJO3lOy2",
            "$scrypt$ln=10,r=8,p=1$c2FsdHNhbHQxMjM0NTY3OA$cHjRtwBuIYUTucvm+2VeA8b/ZvtgCn1BumhGDG//0JI",
            "$pbkdf2-sha256$1000$c2FsdHNhbHQxMjM0NTY3OA$4k505osG8KMN4wotSosGJPlhKDtLiyB61aw4ZQGUPTA",
            "$pbkdf2-sha512$1000$c2FsdHNhbHQxMjM0NTY3OA$ASLHOzwSyZ7TK34BeZz0PUCWcqOW0SsjhwL7B0Ktlk7DZ73xx.dOwGz8ZImNA43343ecOfmyNDIiiNs7BG71ow",
            "pbkdf2_sha256$1000$saltsalt1234$vCowWi1dB0WkHn96blKCnL2OG83kjxRxvy4fTd6Hm28=",
        ]

        @Test(
            "a hash of another server opens the account, and is replaced by scrypt at the first login",
            .postgres
        )
        func upgrade() async throws {
            try await withAccounts { accounts in
                for (index, hash) in Self.hashes.enumerated() {
                    let id = "65f0c0ffee00000000000\(100 + index)"
                    let email = "user\(index)@example.com"
                    let account = #"{"_id":"\#(id)","email":"\#(email)","password_hash":"\#(hash)"}"#
                    try await accounts.administer(
                        "SELECT tidegate.import_user('todo-abcde', \(bind: .text(account)))"
                    )
                    for wrong in ["correct hors", "correct horse ", "\u{0}", ""] {
                        let error = await accounts.error {
                            _ = try await accounts.service.logIn(
                                .emailPassword(username: email, password: wrong),
                                accounts.settings
                            )
                        }
                        #expect(error?.code == .invalidPassword, "\(hash) '\(wrong)'")
                    }
                    for _ in 0..<2 {
                        let login = try await accounts.service.logIn(
                            .emailPassword(username: email, password: "correct horse"),
                            accounts.settings
                        )
                        #expect(login.userID == id)
                        let stored = try await accounts.administer(
                            "SELECT hash FROM tidegate.password_hashes WHERE username = \(bind: .text(email))"
                        )
                        #expect(stored?.hasPrefix("$scrypt$ln=4,r=8,p=1$") == true)
                    }
                }
            }
        }

        static let bad: [(account: String, reason: String)] = [
            (#"{"email":"a@b.c"}"#, "account._id must be 24 lowercase hexadecimal digits"),
            (#"{"_id":"65F0C0FFEE00000000000001","email":"a@b.c"}"#, "account._id must be"),
            (#"{"_id":{"$oid":5},"email":"a@b.c"}"#, "account._id must be"),
            (#"{"_id":"65f0c0ffee00000000000001"}"#, "account.identities must name"),
            (#"{"_id":"65f0c0ffee00000000000001","email":"a b@c"}"#, "account.email must be"),
            (
                #"{"_id":"65f0c0ffee00000000000001","email":{"$ne":""}}"#,
                "account.email must be string or null"
            ),
            (
                #"{"_id":"65f0c0ffee00000000000001","email":"a@b.c","role":"x"}"#,
                "account.role is not a known key"
            ),
            (
                #"{"_id":"65f0c0ffee00000000000001","email":"a@b.c","email":"d@e.f"}"#,
                "account.email appears twice"
            ),
            (
                #"{"_id":"65f0c0ffee00000000000001","email":"a@b.c","type":"server"}"#,
                "account.type must be normal"
            ),
            (
                #"{"_id":"65f0c0ffee00000000000001","email":"a@b.c","disabled":"no"}"#,
                "account.disabled must be"
            ),
            (
                #"{"_id":"65f0c0ffee00000000000001","email":"a@b.c","password_hash":"$argon2id$v=19$m=1$x$y"}"#,
                "account.password_hash is of Argon2, which is not served"
            ),
            (
                #"{"_id":"65f0c0ffee00000000000001","email":"a@b.c","password_hash":"5f4dcc3b5aa765d61d8327deb882cf99"}"#,
                "account.password_hash must be bcrypt"
            ),
            (
                #"{"_id":"65f0c0ffee00000000000001","email":"a@b.c","password_hash":"$2b$31$abcdefghijklmnopqrstuuHNbAKRhpaujgo33bRWs.NLUTJO3lOy2"}"#,
                "account.password_hash must be bcrypt"
            ),
            (
                #"{"_id":"65f0c0ffee00000000000001","identities":[{"id":"x","provider_type":"smoke"}]}"#,
                "account.identities[0].provider_type 'smoke' is not a provider"
            ),
            (
                #"{"_id":"65f0c0ffee00000000000001","identities":[{"provider_type":"custom-token"}]}"#,
                "account.identities[0].id must be"
            ),
            (
                #"{"_id":"65f0c0ffee00000000000001","identities":[{"id":"k","provider_type":"api-key"}]}"#,
                "account.identities must name another way"
            ),
            (
                #"{"_id":"65f0c0ffee00000000000001","identities":[{"id":"s","provider_type":"custom-token"}],"password_hash":"$2b$05$abcdefghijklmnopqrstuuHNbAKRhpaujgo33bRWs.NLUTJO3lOy2"}"#,
                "account.password_hash is of no use"
            ),
            (
                #"{"_id":"65f0c0ffee00000000000001","email":"ann@example.com"}"#,
                "account.email 'ann@example.com' is already in use"
            ),
            (
                #"{"_id":"65f0c0ffee0000000000000a","email":"a@b.c"}"#,
                "account._id '65f0c0ffee0000000000000a' is the id of a user"
            ),
            (
                #"{"_id":"65f0c0ffee00000000000001","identities":[{"id":"sub-1","provider_type":"custom-token"}]}"#,
                "account.identities[0].id 'sub-1' is already in use"
            ),
            (
                #"{"_id":"65f0c0ffee00000000000001","email":"a@b.c","custom_data":{"a":1}}"#,
                "account.custom_data has no place"
            ),
            ("[]", "account must be an object"), ("nonsense", "account is not valid JSON"),
        ]

        @Test("what is wrong is refused by its field, and nothing is left of it", .postgres)
        func refusals() async throws {
            try await withAccounts { accounts in
                try await accounts.administer(
                    """
                    SELECT tidegate.import_user('todo-abcde', '{"_id": "65f0c0ffee0000000000000a",
                        "email": "ann@example.com", "identities": [{"provider_type": "local-userpass"},
                        {"id": "sub-1", "provider_type": "custom-token"}]}')
                    """
                )
                for (account, reason) in Self.bad {
                    let error = await accounts.error {
                        try await accounts.administer(
                            "SELECT tidegate.import_user('todo-abcde', \(bind: .text(account)))"
                        )
                    }
                    #expect(error?.postgresFailure?.sqlState.code == "22023", "\(account)")
                    let message = error?.postgresFailure?.message ?? ""
                    #expect(message.hasPrefix(reason), "\(account): \(message)")
                }
                #expect(try await accounts.administer("SELECT count(*) FROM tidegate.users") == "1")
                #expect(try await accounts.administer("SELECT count(*) FROM tidegate.identities") == "2")
            }
        }

        @Test("identities, data and state come as they were listed by the hosted service", .postgres)
        func listed() async throws {
            try await withAccounts { accounts in
                let account = """
                    {"_id": "65f0c0ffee0000000000000b", "type": "normal", "creation_date": 1700000000,
                     "last_authentication_date": 1700000001, "disabled": false, "domain_id": "65f0c0ffee0000000000000c",
                     "data": {"email": "bob@example.com", "name": "Bob"},
                     "identities": [
                       {"id": "65f0c0ffee0000000000000d-abcdefghijklmnopqrstuvwx", "provider_type": "local-userpass",
                        "provider_id": "65f0c0ffee0000000000000e", "provider_data": {"email": "bob@example.com"}},
                       {"id": "sub-bob", "provider_type": "custom-token", "provider_data": {"name": "Bob"}}]}
                    """
                try await accounts.administer(
                    "SELECT tidegate.import_user('todo-abcde', \(bind: .text(account)))"
                )
                let token = try ForeignToken.hs256(subject: "sub-bob", audience: AccountFixture.clientAppID)
                let login = try await accounts.service.logIn(.customToken(token), accounts.settings)
                #expect(login.userID == "65f0c0ffee0000000000000b")
                let profile = try await accounts.service.profile(accessToken: login.accessToken)
                let identities = profile["identities"]?.array?.compactMap(\.document) ?? []
                #expect(
                    identities.first?["id"] == "65f0c0ffee0000000000000d-abcdefghijklmnopqrstuvwx"
                )
                #expect(profile["data"]?.document?["email"] == "bob@example.com")
                let created = try await accounts.administer(
                    "SELECT extract(epoch FROM created_at)::bigint FROM tidegate.users"
                )
                #expect(created == "1700000000")
                // Nobody knows a password: a mail brings one.
                let error = await accounts.error {
                    _ = try await accounts.service.logIn(
                        .emailPassword(username: "bob@example.com", password: "$none$"),
                        accounts.settings
                    )
                }
                #expect(error?.code == .invalidPassword)
            }
        }
    }
}
