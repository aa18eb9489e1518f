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
    @Suite("Logging in")
    struct LoginTests {
        @Test("it registers an email, logs it in and shows its profile", .postgres)
        func emailPassword() async throws {
            try await withAccounts { accounts in
                let service = accounts.service
                try await service.register(email: "Ann@example.com", password: "secret", accounts.settings)
                let login = try await service.logIn(
                    .emailPassword(username: "Ann@example.com", password: "secret"),
                    accounts.settings
                )
                let again = try await service.logIn(
                    .emailPassword(username: "Ann@example.com", password: "secret"),
                    accounts.settings
                )
                #expect(login.userID == again.userID)
                #expect(login.deviceID == DeviceInformation.noDeviceID)
                let profile = try await service.profile(accessToken: login.accessToken)
                #expect(profile.keys == ["user_id", "domain_id", "identities", "data", "type"])
                #expect(profile["user_id"] == .string(login.userID))
                #expect(profile["domain_id"] == .string(accounts.appID))
                #expect(profile["data"] == ["email": "Ann@example.com"])
                #expect(profile["type"] == "normal")
                let identity = try #require(profile["identities"]?.array?.first?.document)
                #expect(identity["provider_type"] == "local-userpass")
                #expect(identity["provider_data"] == ["email": "Ann@example.com"])
                let id = try #require(identity["id"]?.string)
                #expect(id.wholeMatch(of: /[0-9a-f]{24}-[a-z]{24}/) != nil)
            }
        }

        @Test(
            "it tells wrong password and unknown email apart by nothing, and counts the case of letters",
            .postgres
        )
        func wrongPassword() async throws {
            try await withAccounts { accounts in
                try await accounts.service.register(email: "a@b.c", password: "secret", accounts.settings)
                for (username, password) in [
                    ("a@b.c", "secrets"), ("x@b.c", "secret"), ("A@b.c", "secret"), ("a@b.c\u{0}", "secret"),
                    (String(repeating: "a", count: 9999), "secret"),
                ] {
                    let error = await accounts.error {
                        _ = try await accounts.service.logIn(
                            .emailPassword(username: username, password: password),
                            accounts.settings
                        )
                    }
                    #expect(error?.code == .invalidPassword)
                    #expect(error?.message == "unauthorized")
                }
            }
        }

        @Test("it registers an email once, also of thirty registrations at once", .postgres)
        func registersOnce() async throws {
            try await withAccounts(limits: AccountLimits(passwordCost: .init(logN: 4, r: 8, p: 1))) {
                accounts in
                let outcomes = await withTaskGroup(of: ErrorCode?.self) { group in
                    for _ in 0..<30 {
                        group.addTask {
                            await accounts.error {
                                try await accounts.service.register(
                                    email: "a@b.c",
                                    password: "secret",
                                    accounts.settings
                                )
                            }?.code
                        }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                #expect(outcomes.filter { $0 == nil }.count == 1)
                #expect(outcomes.filter { $0 == .accountNameInUse }.count == 29)
            }
        }

        @Test("it makes one user of many first logins at once", .postgres)
        func firstLogins() async throws {
            try await withAccounts { accounts in
                try await accounts.service.register(email: "a@b.c", password: "secret", accounts.settings)
                let token = try ForeignToken.hs256(subject: "u1", audience: AccountFixture.clientAppID)
                let users = try await withThrowingTaskGroup(of: String.self) { group in
                    for index in 0..<20 {
                        group.addTask {
                            let login: Credentials =
                                index < 10
                                ? .emailPassword(username: "a@b.c", password: "secret") : .customToken(token)
                            return "\(index < 10) "
                                + (try await accounts.service.logIn(login, accounts.settings)).userID
                        }
                    }
                    return try await group.reduce(into: Set<String>()) { $0.insert($1) }
                }
                #expect(users.count == 2)
                #expect(try await accounts.administer("SELECT count(*) FROM tidegate.users") == "2")
            }
        }

        @Test("it refuses registration where a mail would lead nowhere, by name", .postgres)
        func confirmation() async throws {
            try await withAccounts { accounts in
                let settings = AccountFixture.settings(appID: accounts.appID, autoConfirm: false)
                let error = await accounts.error {
                    try await accounts.service.register(email: "a@b.c", password: "secret", settings)
                }
                #expect(error?.code == .badRequest)
                #expect(error?.message.contains("autoConfirm") == true)
                let count = try await accounts.administer("SELECT count(*) FROM tidegate.password_hashes")
                #expect(count == "0")
            }
        }

        @Test("it makes a new user of every anonymous login", .postgres)
        func anonymous() async throws {
            try await withAccounts { accounts in
                let one = try await accounts.service.logIn(.anonymous, accounts.settings)
                let two = try await accounts.service.logIn(.anonymous, accounts.settings)
                #expect(one.userID != two.userID)
                let profile = try await accounts.service.profile(accessToken: one.accessToken)
                #expect(profile["data"] == [:])
                // Its refresh token practically does not expire.
                accounts.ahead.value = 89 * 86_400_000
                _ = try await accounts.service.refresh(refreshToken: one.refreshToken)
            }
        }

        @Test(
            "it logs a server key in as a user of type server, until the key is disabled or revoked",
            .postgres
        )
        func serverKey() async throws {
            try await withAccounts { accounts in
                let key = try await accounts.newKey("k1")
                let login = try await accounts.service.logIn(.apiKey(key.key), accounts.settings)
                let profile = try await accounts.service.profile(accessToken: login.accessToken)
                #expect(profile["type"] == "server")
                #expect(profile["data"] == ["name": "k1"])
                try await accounts.administer(
                    "SELECT tidegate.disable_api_key('todo-abcde', \(bind: .text(key.id)))"
                )
                func code() async -> ErrorCode? {
                    await accounts.error {
                        _ = try await accounts.service.logIn(.apiKey(key.key), accounts.settings)
                    }?.code
                }
                #expect(await code() == .authError)
                let refresh = await accounts.error {
                    _ = try await accounts.service.refresh(refreshToken: login.refreshToken)
                }
                #expect(refresh?.message == "invalid session: failed to find refresh token")
                try await accounts.administer(
                    "SELECT tidegate.enable_api_key('todo-abcde', \(bind: .text(key.id)))"
                )
                #expect(await code() == nil)
                try await accounts.administer(
                    "SELECT tidegate.revoke_api_key('todo-abcde', \(bind: .text(key.id)))"
                )
                #expect(await code() == .authError)
                let error = await accounts.error {
                    _ = try await accounts.service.logIn(
                        .apiKey(String(key.key.dropLast())),
                        accounts.settings
                    )
                }
                #expect(error?.message == "unauthorized")
            }
        }

        @Test("it follows what a foreign token says of its user", .postgres)
        func customToken() async throws {
            try await withAccounts { accounts in
                let service = accounts.service
                let first = try await service.logIn(
                    .customToken(
                        try ForeignToken.hs256(
                            subject: "u1",
                            audience: "todo-abcde",
                            more: #","mail":"a@b.c""#
                        )
                    ),
                    accounts.settings
                )
                let second = try await service.logIn(
                    .customToken(
                        try ForeignToken.hs256(
                            subject: "u1",
                            audience: "todo-abcde",
                            more: #","mail":"d@e.f""#
                        )
                    ),
                    accounts.settings
                )
                #expect(first.userID == second.userID)
                let profile = try await service.profile(accessToken: second.accessToken)
                #expect(profile["data"] == ["email": "d@e.f"])
                #expect(profile["identities"]?.array?.first?.document?["id"] == "u1")
                let bad = await accounts.error {
                    _ = try await service.logIn(
                        .customToken(try ForeignToken.hs256(subject: "u1", audience: "other")),
                        accounts.settings
                    )
                }
                #expect(bad?.code == .authError)
            }
        }

        @Test(
            "it refuses a provider that is disabled",
            .postgres,
            arguments: ["anon-user", "local-userpass", "api-key", "custom-token"]
        )
        func disabledProvider(_ name: String) async throws {
            try await withAccounts { accounts in
                let settings = AccountFixture.settings(appID: accounts.appID, disabled: [name])
                let login = try Credentials.parse(
                    provider: name,
                    ["username": "a", "password": "b", "key": "c", "token": "d"]
                )
                let error = await accounts.error { _ = try await accounts.service.logIn(login, settings) }
                #expect(error?.code == .authProviderNotFound)
                #expect(error?.message == "authentication provider not found: '\(name)'")
            }
        }

        @Test("it keeps a device id that it gave, and takes none that it did not", .postgres)
        func devices() async throws {
            try await withAccounts { accounts in
                func device(_ id: String?) async throws -> String {
                    try await accounts.service.logIn(
                        .anonymous,
                        device: DeviceInformation(deviceID: id, facts: ["platform": "x"]),
                        accounts.settings
                    ).deviceID
                }
                let given = try await device(nil)
                #expect(given != DeviceInformation.noDeviceID)
                #expect(try await device(given) == given)
                #expect(try await device("5f0000000000000000000001") != "5f0000000000000000000001")
                #expect(try await device(DeviceInformation.noDeviceID) != DeviceInformation.noDeviceID)
            }
        }

        @Test("it verifies a password set in SQL and replaces its hash by scrypt", .postgres)
        func passwordFromSQL() async throws {
            try await withAccounts { accounts in
                let id = try await accounts.administer(
                    "SELECT tidegate.create_user('todo-abcde', 'a@b.c', 'pässwörd and a long tail of more than sixty-four bytes in total')"
                )
                let before = try await accounts.administer("SELECT hash FROM tidegate.password_hashes")
                #expect(before?.hasPrefix("$pbkdf2-sha256$i=40000$") == true)
                let wrong = await accounts.error {
                    _ = try await accounts.service.logIn(
                        .emailPassword(username: "a@b.c", password: "passwörd"),
                        accounts.settings
                    )
                }
                #expect(wrong?.code == .invalidPassword)
                for _ in 0..<2 {
                    let login = try await accounts.service.logIn(
                        .emailPassword(
                            username: "a@b.c",
                            password: "pässwörd and a long tail of more than sixty-four bytes in total"
                        ),
                        accounts.settings
                    )
                    #expect(login.userID == id)
                    let after = try await accounts.administer("SELECT hash FROM tidegate.password_hashes")
                    #expect(after?.hasPrefix("$scrypt$ln=4,r=8,p=1$") == true)
                }
            }
        }

        @Test("it sheds logins when too many passwords wait", .postgres)
        func sheds() async throws {
            let limits = AccountLimits(
                passwordCost: .init(logN: 15, r: 8, p: 1),
                concurrentHashes: 1,
                waitingHashes: 2
            )
            try await withAccounts(limits: limits) { accounts in
                let codes = await withTaskGroup(of: ErrorCode?.self) { group in
                    for index in 0..<20 {
                        group.addTask {
                            await accounts.error {
                                _ = try await accounts.service.logIn(
                                    .emailPassword(username: "u\(index)@b.c", password: "secret"),
                                    accounts.settings
                                )
                            }?.code
                        }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                #expect(codes.contains(.tooManyRequests))
                #expect(codes.contains(.invalidPassword))
                #expect(codes.allSatisfy { $0 == .tooManyRequests || $0 == .invalidPassword })
            }
        }

        @Test("it makes no user where the function that must be asked first cannot run", .postgres)
        func creationFunction() async throws {
            try await withAccounts { accounts in
                let settings = AccountFixture.settings(
                    appID: accounts.appID,
                    customUserData: CustomUserDataConfiguration(
                        serviceName: nil,
                        databaseName: "d",
                        collectionName: "c",
                        userIDField: "u",
                        onUserCreationFunctionName: "greet"
                    )
                )
                let error = await accounts.error {
                    _ = try await accounts.service.logIn(.anonymous, settings)
                }
                #expect(error?.code == .functionNotFound)
                #expect(error?.message.contains("'greet'") == true)
            }
        }
    }
}
