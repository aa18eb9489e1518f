import Accounts
import BSON
import Errors
import Foundation
import Postgres
import SQL
import Synchronization

@testable import Services

/// An account service on a database of its own, with one app and a clock that moves when told.
final class AccountFixture: Sendable {
    static let clientAppID = "todo-abcde"
    static let jwtSecret = "2k66QfKeTRk3MdZ5vpDYgZCu2k66QfKeTRk3MdZ5vpDYgZCu"

    /// A value that the service reads while tests change it.
    final class Box<Value: Sendable>: Sendable {
        private let content: Mutex<Value>
        init(_ value: Value) { content = Mutex(value) }
        var value: Value {
            get { content.withLock { $0 } }
            set { content.withLock { $0 = newValue } }
        }
    }

    /// Custom user data by user id.
    final class CustomData: CustomUserDataSource {
        let documents = Box<[String: BSONDocument]>([:])

        func customUserData(
            of userID: String,
            appID: String,
            _ configuration: CustomUserDataConfiguration
        ) async throws(ServiceError) -> BSONDocument? {
            documents.value[userID]
        }
    }

    let database: Database
    let appID: String
    let service: AccountService
    let customData = CustomData()
    /// Milliseconds by which the service's clock is ahead.
    let ahead = Box<Int64>(0)
    let settingsBox: Box<AccountSettings>

    var settings: AccountSettings { settingsBox.value }

    init(
        _ database: Database,
        gateway: Database,
        limits: AccountLimits? = nil,
        keys: @escaping TokenVerifier.Fetch = { _ in throw ServiceError(.internalServerError, "no keys") }
    ) async throws {
        self.database = database
        let made = try await database.run(
            "SELECT tidegate.create_app('todo', \(bind: .text(Self.clientAppID)))"
        )
        appID = made.text(0, 0) ?? ""
        for provider in ["anon-user", "local-userpass", "api-key", "custom-token"] {
            _ = try await database.run(
                "SELECT tidegate.set_provider('todo', \(bind: .text(provider)), '{}'::text)"
            )
        }
        let box = Box(Self.settings(appID: appID))
        settingsBox = box
        let ahead = ahead
        service = AccountService(
            database: gateway,
            apps: { id in box.value.appID == id ? box.value : nil },
            ids: ObjectIDGenerator(processUnique: UInt64.random(in: 0..<1 << 40), counter: 0),
            customUserData: customData,
            limits: limits
                ?? AccountLimits(passwordCost: PasswordHash.Cost(logN: 4, r: 8, p: 1), concurrentHashes: 2),
            fetchKeys: keys,
            now: { Int64(Date().timeIntervalSince1970 * 1000) + ahead.value }
        )
    }

    /// Settings with every served provider, changed by the arguments that are given.
    static func settings(
        appID: String,
        revision: Int64 = 0,
        disabled: Set<String> = [],
        autoConfirm: Bool = true,
        jwt: CustomTokenSettings = CustomTokenSettings(algorithm: .hs256, keys: .secrets(["jwt"])),
        customUserData: CustomUserDataConfiguration? = nil,
        runAs: AccountSettings.RunAs = .caller,
        createUserOnAuth: Bool = true,
        fetchCustomUserData: Bool = false
    ) -> AccountSettings {
        let providers: [ProviderConfiguration] = [
            ProviderConfiguration(kind: .anonymous, disabled: disabled.contains("anon-user")),
            ProviderConfiguration(
                kind: .emailPassword,
                disabled: disabled.contains("local-userpass"),
                settings: .emailPassword(EmailPasswordSettings(autoConfirm: autoConfirm))
            ),
            ProviderConfiguration(kind: .apiKey, disabled: disabled.contains("api-key")),
            ProviderConfiguration(
                kind: .customToken,
                disabled: disabled.contains("custom-token"),
                settings: .customToken(jwt),
                metadataFields: [MetadataField(required: false, name: "mail", fieldName: "email")]
            ),
        ]
        return AccountSettings(
            appID: appID,
            clientAppID: clientAppID,
            revision: revision,
            providers: Dictionary(uniqueKeysWithValues: providers.map { ($0.name, $0) }),
            secrets: ["jwt": jwtSecret],
            customUserData: customUserData,
            dataAPIRunAs: runAs,
            createUserOnAuth: createUserOnAuth,
            fetchCustomUserData: fetchCustomUserData
        )
    }

    /// Runs a body while the service follows changes in the database.
    func following<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        let service = service
        let running = Task { await service.run() }
        defer { running.cancel() }
        while !service.principals.isListening { try await Task.sleep(for: .milliseconds(5)) }
        return try await body()
    }

    /// Repeats a check until it holds; fails after five minutes.
    static func eventually(_ check: () async throws -> Bool) async throws -> Bool {
        for _ in 0..<30_000 {
            if try await check() { return true }
            try await Task.sleep(for: .milliseconds(10))
        }
        return false
    }

    /// Runs an administrator's function and gives its first column.
    @discardableResult
    func administer(_ statement: SQLFragment) async throws -> String? {
        let rows = try await database.run(statement)
        return rows.rowCount > 0 ? rows.text(0, 0) : nil
    }

    /// A server API key: id and key.
    func newKey(_ name: String) async throws -> (id: String, key: String) {
        let rows = try await database.run(
            "SELECT id, key FROM tidegate.create_api_key('todo-abcde', \(bind: .text(name)))"
        )
        return (rows.text(0, 0) ?? "", rows.text(0, 1) ?? "")
    }

    func error(_ body: () async throws -> Void) async -> ServiceError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? ServiceError
        }
    }
}

extension Principal {
    var profile: UserProfile? {
        if case .user(let profile) = self { profile } else { nil }
    }
}
