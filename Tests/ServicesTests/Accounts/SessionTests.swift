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
    @Suite("Sessions")
    struct SessionTests {
        @Test("it renews access tokens until log-out", .postgres)
        func refreshAndLogOut() async throws {
            try await withAccounts { accounts in
                let service = accounts.service
                let login = try await service.logIn(.anonymous, accounts.settings)
                let renewed = try await service.refresh(refreshToken: login.refreshToken)
                #expect(try await service.authenticate(accessToken: renewed).user.profile.id == login.userID)
                try await service.logOut(refreshToken: login.refreshToken)
                for attempt in [
                    await accounts.error { _ = try await service.refresh(refreshToken: login.refreshToken) },
                    await accounts.error { try await service.logOut(refreshToken: login.refreshToken) },
                    await accounts.error {
                        _ = try await service.authenticate(refreshToken: login.refreshToken)
                    },
                ] {
                    #expect(attempt?.code == .invalidSession)
                    #expect(attempt?.message == "invalid session: failed to find refresh token")
                }
                // A session takes its access tokens with it.
                for token in [renewed, login.accessToken] {
                    let ended = await accounts.error {
                        _ = try await service.authenticate(accessToken: token)
                    }
                    #expect(ended?.message == "invalid session: user not found")
                }
            }
        }

        @Test("it wants the right kind of token, and one at all", .postgres)
        func kinds() async throws {
            try await withAccounts { accounts in
                let service = accounts.service
                let login = try await service.logIn(.anonymous, accounts.settings)
                let wrong = await accounts.error {
                    _ = try await service.profile(accessToken: login.refreshToken)
                }
                #expect(wrong?.message == "invalid session: token type mismatch")
                let other = await accounts.error {
                    _ = try await service.refresh(refreshToken: login.accessToken)
                }
                #expect(other?.message == "invalid session: token type mismatch")
                let none = await accounts.error { _ = try await service.profile(accessToken: nil) }
                #expect(none?.code == .missingAuthReq)
                let garbage = await accounts.error { _ = try await service.profile(accessToken: "garbage") }
                #expect(garbage.map(AccountFailure.omitsCode) == true)
            }
        }

        @Test("it ends an access token after half an hour, remembered or not", .postgres)
        func expiry() async throws {
            try await withAccounts { accounts in
                try await accounts.following {
                    let login = try await accounts.service.logIn(.anonymous, accounts.settings)
                    _ = try await accounts.service.authenticate(accessToken: login.accessToken)
                    accounts.ahead.value = 1_801_000
                    let error = await accounts.error {
                        _ = try await accounts.service.authenticate(accessToken: login.accessToken)
                    }
                    #expect(error?.message == "invalid session: access token expired")
                }
            }
        }

        @Test("it ends all tokens of a disabled user at once, and for good", .postgres)
        func disabledUser() async throws {
            try await withAccounts { accounts in
                try await accounts.following {
                    let service = accounts.service
                    let id = try #require(
                        try await accounts.administer(
                            "SELECT tidegate.create_user('todo-abcde', 'a@b.c', 'secret')"
                        )
                    )
                    let credentials = Credentials.emailPassword(username: "a@b.c", password: "secret")
                    let login = try await service.logIn(credentials, accounts.settings)
                    _ = try await service.authenticate(accessToken: login.accessToken)
                    try await Task.sleep(for: .milliseconds(1100))
                    try await accounts.administer(
                        "SELECT tidegate.disable_user('todo-abcde', \(bind: .text(id)))"
                    )
                    let ended = try await AccountFixture.eventually {
                        await accounts.error {
                            _ = try await service.authenticate(accessToken: login.accessToken)
                        }?.message
                            == "invalid session: user not found"
                    }
                    #expect(ended)
                    let refresh = await accounts.error {
                        _ = try await service.refresh(refreshToken: login.refreshToken)
                    }
                    #expect(refresh?.message == "invalid session: failed to find refresh token")
                    let again = await accounts.error {
                        _ = try await service.logIn(credentials, accounts.settings)
                    }
                    #expect(again?.code == .userDisabled)
                    let guess = await accounts.error {
                        _ = try await service.logIn(
                            .emailPassword(username: "a@b.c", password: "secrets"),
                            accounts.settings
                        )
                    }
                    #expect(guess?.code == .invalidPassword)

                    try await accounts.administer(
                        "SELECT tidegate.enable_user('todo-abcde', \(bind: .text(id)))"
                    )
                    let back = try await AccountFixture.eventually {
                        await accounts.error { _ = try await service.logIn(credentials, accounts.settings) }
                            == nil
                    }
                    #expect(back)
                    let old = await accounts.error {
                        _ = try await service.authenticate(accessToken: login.accessToken)
                    }
                    #expect(old?.message == "invalid session: user not found")
                }
            }
        }

        @Test("it removes an account on its own wish; the dead refresh token says so", .postgres)
        func deletion() async throws {
            try await withAccounts { accounts in
                let service = accounts.service
                try await service.register(email: "a@b.c", password: "secret", accounts.settings)
                let credentials = Credentials.emailPassword(username: "a@b.c", password: "secret")
                let login = try await service.logIn(credentials, accounts.settings)
                try await service.deleteUser(accessToken: login.accessToken)
                let logOut = await accounts.error {
                    try await service.logOut(refreshToken: login.refreshToken)
                }
                #expect(logOut?.message == "invalid session: failed to find refresh token")
                let profile = await accounts.error {
                    _ = try await service.profile(accessToken: login.accessToken)
                }
                #expect(profile?.message == "invalid session: user not found")
                let again = await accounts.error {
                    _ = try await service.logIn(credentials, accounts.settings)
                }
                #expect(again?.code == .invalidPassword)
                // The name is free again.
                try await service.register(email: "a@b.c", password: "secret", accounts.settings)
            }
        }

        @Test("it ends refresh tokens when sessions are revoked or the password is changed in SQL", .postgres)
        func revocation() async throws {
            try await withAccounts { accounts in
                let service = accounts.service
                let id = try #require(
                    try await accounts.administer(
                        "SELECT tidegate.create_user('todo-abcde', 'a@b.c', 'secret')"
                    )
                )
                func login(_ password: String) async throws -> LoginResult {
                    try await service.logIn(
                        .emailPassword(username: "a@b.c", password: password),
                        accounts.settings
                    )
                }
                let one = try await login("secret")
                #expect(
                    try await accounts.administer(
                        "SELECT tidegate.revoke_sessions('todo-abcde', \(bind: .text(id)))"
                    ) == "1"
                )
                #expect(
                    await accounts.error { _ = try await service.refresh(refreshToken: one.refreshToken) }
                        != nil
                )
                #expect(
                    await accounts.error { _ = try await service.authenticate(accessToken: one.accessToken) }
                        != nil
                )
                let two = try await login("secret")
                try await accounts.administer(
                    "SELECT tidegate.set_password('todo-abcde', \(bind: .text(id)), 'another')"
                )
                #expect(
                    await accounts.error { _ = try await service.refresh(refreshToken: two.refreshToken) }
                        != nil
                )
                #expect(await accounts.error { _ = try await login("secret") }?.code == .invalidPassword)
                _ = try await login("another")
            }
        }

        @Test(
            "it signs with a rotated key and believes the old one for the overlap",
            .postgres,
            arguments: [true, false]
        )
        func rotation(_ overlaps: Bool) async throws {
            try await withAccounts { accounts in
                try await accounts.following {
                    let service = accounts.service
                    let login = try await service.logIn(.anonymous, accounts.settings)
                    _ = try await service.authenticate(accessToken: login.accessToken)
                    let made =
                        overlaps
                        ? try await accounts.administer("SELECT tidegate.rotate_signing_key('todo-abcde')")
                        : try await accounts.administer(
                            "SELECT tidegate.rotate_signing_key('todo-abcde', '0')"
                        )
                    let adopted = try await AccountFixture.eventually {
                        let next = try await service.logIn(.anonymous, accounts.settings)
                        return TokenSigner.claimedOrigin(of: next.accessToken)?.keyID == made
                    }
                    #expect(adopted)
                    let error = await accounts.error {
                        _ = try await service.authenticate(accessToken: login.accessToken)
                    }
                    #expect((error == nil) == overlaps)
                }
            }
        }

        @Test("it refuses tokens under another app's path, and of apps it does not know", .postgres)
        func otherApp() async throws {
            try await withAccounts { accounts in
                let login = try await accounts.service.logIn(.anonymous, accounts.settings)
                let other = AccountFixture.settings(appID: "5f0000000000000000000009")
                let error = await accounts.error {
                    _ = try await accounts.service.authenticate(accessToken: login.accessToken, other)
                }
                #expect(error?.code == .userAppDomainMismatch)
                accounts.settingsBox.value = other
                let unknown = await accounts.error {
                    _ = try await accounts.service.authenticate(accessToken: login.accessToken)
                }
                #expect(unknown?.message == "unauthorized")
            }
        }

        @Test("it carries custom user data in tokens as it is at login and at refresh", .postgres)
        func customData() async throws {
            try await withAccounts { accounts in
                let service = accounts.service
                let settings = AccountFixture.settings(
                    appID: accounts.appID,
                    customUserData: CustomUserDataConfiguration(
                        serviceName: nil,
                        databaseName: "d",
                        collectionName: "c",
                        userIDField: "u"
                    )
                )
                accounts.settingsBox.value = settings
                try await service.register(email: "a@b.c", password: "secret", settings)
                let login = try await service.logIn(
                    .emailPassword(username: "a@b.c", password: "secret"),
                    settings
                )
                #expect(try await service.authenticate(accessToken: login.accessToken).token.userData == nil)
                let document: BSONDocument = ["team": "red", "since": .date(5), "n": .int64(3)]
                accounts.customData.documents.value = [login.userID: document]
                let renewed = try await service.refresh(refreshToken: login.refreshToken)
                let caller = try await service.authenticate(accessToken: renewed)
                #expect(caller.token.userData == document)
                #expect(caller.principal.profile?.customData == document)
                #expect(
                    try await service.profile(accessToken: login.accessToken)["custom_data"]
                        == .document(document)
                )
            }
        }
    }
}
