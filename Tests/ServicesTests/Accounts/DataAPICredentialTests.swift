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
    @Suite("Data API credentials")
    struct DataAPICredentialTests {
        static let refusal = "invalid session: error finding user for endpoint"

        @Test("it accepts each kind of credential header", .postgres)
        func kinds() async throws {
            try await withAccounts { accounts in
                try await accounts.following {
                    let service = accounts.service
                    let settings = accounts.settings
                    try await service.register(email: "a@b.c", password: "secret", settings)
                    let key = try await accounts.newKey("k1")
                    let login = try await service.logIn(.anonymous, settings)
                    let token = try ForeignToken.hs256(subject: "u1", audience: "todo-abcde")
                    // Twice each: by a full check, and from memory.
                    for _ in 0..<2 {
                        let byKey = try await service.authenticate(
                            RequestCredentials(apiKey: key.key),
                            settings
                        )
                        #expect(byKey.profile?.kind == .server)
                        let byPassword = try await service.authenticate(
                            RequestCredentials(email: "a@b.c", password: "secret"),
                            settings
                        )
                        #expect(byPassword.profile?.data == ["email": "a@b.c"])
                        let byToken = try await service.authenticate(RequestCredentials(jwt: token), settings)
                        #expect(byToken.profile?.identities.map(\.id) == ["u1"])
                        let byBearer = try await service.authenticate(
                            RequestCredentials(bearer: login.accessToken, apiKey: "ignored"),
                            settings
                        )
                        #expect(byBearer.profile?.id == login.userID)
                    }
                    #expect(
                        try await accounts.administer(
                            "SELECT last_used_at IS NOT NULL FROM tidegate.api_keys"
                        ) == "t"
                    )
                }
            }
        }

        @Test(
            "it refuses bad credentials with one text, and a bad bearer token without trying the rest",
            .postgres
        )
        func refusals() async throws {
            try await withAccounts { accounts in
                let key = try await accounts.newKey("k1")
                try await accounts.service.register(email: "a@b.c", password: "secret", accounts.settings)
                for credentials in [
                    RequestCredentials(apiKey: "nope"),
                    RequestCredentials(email: "a@b.c", password: "wrong!"),
                    RequestCredentials(email: "x@b.c", password: "secret"), RequestCredentials(jwt: "nope"),
                    RequestCredentials(jwt: try ForeignToken.hs256(subject: "u", audience: "other")),
                    RequestCredentials(
                        jwt: try ForeignToken.hs256(subject: "u", audience: "todo-abcde", expires: -1)
                    ),
                    RequestCredentials(
                        jwt: try ForeignToken.hs256(
                            subject: "u",
                            audience: "todo-abcde",
                            header: #"{"alg":"none"}"#
                        )
                    ),
                ] {
                    let error = await accounts.error {
                        _ = try await accounts.service.authenticate(credentials, accounts.settings)
                    }
                    #expect(error?.code == .invalidSession)
                    #expect(error?.message == Self.refusal)
                }
                for bearer in ["", "garbage", key.key] {
                    let error = await accounts.error {
                        _ = try await accounts.service.authenticate(
                            RequestCredentials(bearer: bearer, apiKey: key.key),
                            accounts.settings
                        )
                    }
                    #expect(error?.code == .invalidSession)
                    #expect(error?.message == "invalid session")
                }
            }
        }

        @Test("it forgets a key, a password and a user as soon as they change", .postgres)
        func forgets() async throws {
            try await withAccounts { accounts in
                try await accounts.following {
                    let service = accounts.service
                    let key = try await accounts.newKey("k1")
                    let id = try #require(
                        try await accounts.administer(
                            "SELECT tidegate.create_user('todo-abcde', 'a@b.c', 'secret')"
                        )
                    )
                    let byKey = RequestCredentials(apiKey: key.key)
                    let byPassword = RequestCredentials(email: "a@b.c", password: "secret")
                    func accepted(_ credentials: RequestCredentials) async -> Bool {
                        await accounts.error {
                            _ = try await service.authenticate(credentials, accounts.settings)
                        } == nil
                    }
                    for credentials in [byKey, byPassword] {
                        #expect(await accepted(credentials))
                        // The stronger hash counts as a change; the next check is remembered.
                        #expect(
                            try await AccountFixture.eventually {
                                guard await accepted(credentials) else { return false }
                                let login = try credentials.choice()
                                guard case .login(let login) = login else { return false }
                                return service.credentials.user(
                                    service.credentials.digest(login, accounts.settings),
                                    now: service.now()
                                ) != nil
                            }
                        )
                    }
                    try await accounts.administer(
                        "SELECT tidegate.disable_api_key('todo-abcde', \(bind: .text(key.id)))"
                    )
                    #expect(try await AccountFixture.eventually { await !accepted(byKey) })
                    try await accounts.administer(
                        "SELECT tidegate.enable_api_key('todo-abcde', \(bind: .text(key.id)))"
                    )
                    #expect(await accepted(byKey))
                    try await accounts.administer(
                        "SELECT tidegate.revoke_api_key('todo-abcde', \(bind: .text(key.id)))"
                    )
                    #expect(try await AccountFixture.eventually { await !accepted(byKey) })

                    try await accounts.administer(
                        "SELECT tidegate.set_password('todo-abcde', \(bind: .text(id)), 'another')"
                    )
                    #expect(try await AccountFixture.eventually { await !accepted(byPassword) })
                    let better = RequestCredentials(email: "a@b.c", password: "another")
                    #expect(await accepted(better))
                    try await accounts.administer(
                        "SELECT tidegate.disable_user('todo-abcde', \(bind: .text(id)))"
                    )
                    #expect(try await AccountFixture.eventually { await !accepted(better) })
                    try await accounts.administer(
                        "SELECT tidegate.enable_user('todo-abcde', \(bind: .text(id)))"
                    )
                    #expect(try await AccountFixture.eventually { await accepted(better) })
                    try await accounts.administer(
                        "SELECT tidegate.delete_user('todo-abcde', \(bind: .text(id)))"
                    )
                    #expect(try await AccountFixture.eventually { await !accepted(better) })
                }
            }
        }

        @Test("it forgets credentials when the app's settings change", .postgres)
        func settingsChange() async throws {
            try await withAccounts { accounts in
                try await accounts.following {
                    let key = try await accounts.newKey("k1")
                    _ = try await accounts.service.authenticate(
                        RequestCredentials(apiKey: key.key),
                        accounts.settings
                    )
                    let off = AccountFixture.settings(
                        appID: accounts.appID,
                        revision: 1,
                        disabled: ["api-key"]
                    )
                    let error = await accounts.error {
                        _ = try await accounts.service.authenticate(RequestCredentials(apiKey: key.key), off)
                    }
                    #expect(error?.message == Self.refusal)
                    let digest = accounts.service.credentials.digest(.apiKey(key.key), accounts.settings)
                    let other = accounts.service.credentials.digest(
                        .apiKey(key.key),
                        AccountFixture.settings(appID: accounts.appID, revision: 2)
                    )
                    #expect(digest != other)
                }
            }
        }

        @Test("it remembers a foreign token no longer than the token says", .postgres)
        func tokenExpiry() async throws {
            try await withAccounts { accounts in
                try await accounts.following {
                    let token = try ForeignToken.hs256(subject: "u1", audience: "todo-abcde", expires: 30)
                    _ = try await accounts.service.authenticate(
                        RequestCredentials(jwt: token),
                        accounts.settings
                    )
                    accounts.ahead.value = 31_000
                    let error = await accounts.error {
                        _ = try await accounts.service.authenticate(
                            RequestCredentials(jwt: token),
                            accounts.settings
                        )
                    }
                    #expect(error?.message == Self.refusal)
                }
            }
        }

        @Test("it makes no user of a foreign token unless told to", .postgres)
        func createUserOnAuth() async throws {
            try await withAccounts { accounts in
                let settings = AccountFixture.settings(appID: accounts.appID, createUserOnAuth: false)
                let token = try ForeignToken.hs256(subject: "u1", audience: "todo-abcde")
                let error = await accounts.error {
                    _ = try await accounts.service.authenticate(RequestCredentials(jwt: token), settings)
                }
                #expect(error?.message == Self.refusal)
                #expect(try await accounts.administer("SELECT count(*) FROM tidegate.users") == "0")
                _ = try await accounts.service.authenticate(RequestCredentials(jwt: token), accounts.settings)
                _ = try await accounts.service.authenticate(RequestCredentials(jwt: token), settings)
                #expect(try await accounts.administer("SELECT count(*) FROM tidegate.users") == "1")
            }
        }

        @Test("it checks one password for all who present it at once", .postgres)
        func sharedCheck() async throws {
            let limits = AccountLimits(
                passwordCost: .init(logN: 14, r: 8, p: 1),
                concurrentHashes: 1,
                waitingHashes: 1
            )
            try await withAccounts(limits: limits) { accounts in
                try await accounts.following {
                    try await accounts.service.register(email: "a@b.c", password: "secret", accounts.settings)
                    let codes = await withTaskGroup(of: ErrorCode?.self) { group in
                        for _ in 0..<50 {
                            group.addTask {
                                await accounts.error {
                                    _ = try await accounts.service.authenticate(
                                        RequestCredentials(email: "a@b.c", password: "secret"),
                                        accounts.settings
                                    )
                                }?.code
                            }
                        }
                        return await group.reduce(into: []) { $0.append($1) }
                    }
                    #expect(codes.allSatisfy { $0 == nil })
                }
            }
        }

        @Test("it runs as whom the configuration says, whatever the request carries", .postgres)
        func runAs() async throws {
            try await withAccounts { accounts in
                let service = accounts.service
                func settings(_ runAs: AccountSettings.RunAs) -> AccountSettings {
                    AccountFixture.settings(appID: accounts.appID, runAs: runAs)
                }
                guard case .system = try await service.authenticate(RequestCredentials(), settings(.system))
                else {
                    return #expect(Bool(false), "not the system")
                }
                let login = try await service.logIn(.anonymous, accounts.settings)
                let principal = try await service.authenticate(
                    RequestCredentials(apiKey: "bad"),
                    settings(.user(id: login.userID))
                )
                #expect(principal.profile?.id == login.userID)
                let unknown = await accounts.error {
                    _ = try await service.authenticate(
                        RequestCredentials(),
                        settings(.user(id: "5f0000000000000000000001"))
                    )
                }
                #expect(unknown?.message == Self.refusal)
                let script = await accounts.error {
                    _ = try await service.authenticate(RequestCredentials(), settings(.script))
                }
                #expect(script?.message.contains("run_as_user_id_script_source") == true)
            }
        }

        @Test("it loads custom user data for rules only when told to", .postgres, arguments: [true, false])
        func customData(_ fetches: Bool) async throws {
            try await withAccounts { accounts in
                let settings = AccountFixture.settings(
                    appID: accounts.appID,
                    customUserData: CustomUserDataConfiguration(
                        serviceName: nil,
                        databaseName: "d",
                        collectionName: "c",
                        userIDField: "u"
                    ),
                    fetchCustomUserData: fetches
                )
                let key = try await accounts.newKey("k1")
                let id = try #require(
                    try await accounts.service.authenticate(RequestCredentials(apiKey: key.key), settings)
                        .profile?.id
                )
                accounts.customData.documents.value = [id: ["team": "red"]]
                let principal = try await accounts.service.authenticate(
                    RequestCredentials(apiKey: key.key),
                    settings
                )
                #expect(principal.profile?.customData == (fetches ? ["team": "red"] : nil))
            }
        }
    }
}
