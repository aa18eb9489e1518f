public import Accounts
public import BSON
public import Errors
public import Postgres
import SQL
import Synchronization

/// Where the custom user data documents come from; `DataService` looks them up as the system.
public protocol CustomUserDataSource: Sendable {
    /// The document of a user, nil when there is none.
    ///
    /// A field that holds the id as text wins over one that holds it as an ObjectId; among several the
    /// first inserted. Source: `reference/client-api.md` §4.
    func customUserData(
        of userID: String,
        appID: String,
        _ configuration: CustomUserDataConfiguration
    ) async throws(ServiceError) -> BSONDocument?
}

/// Bounds and prices of what accounts cost.
public struct AccountLimits: Sendable {
    /// How dear a new password hash is.
    public var passwordCost: PasswordHash.Cost
    /// Password hashes at once; each takes 128 MiB at the standard cost.
    public var concurrentHashes: Int
    /// Logins that may wait for a hash; more are refused with 429.
    public var waitingHashes: Int
    /// Failed logins that one address may make in a minute; 0 is no limit.
    public var failedLoginsPerAddress: Int
    /// Failed logins of one account, from one address, in a minute; 0 is no limit.
    public var failedLoginsPerAccount: Int
    /// Mails that one account may be sent in an hour; 0 is no limit.
    public var mailsPerAccount: Int
    /// Mails that one address may ask for in an hour; 0 is no limit.
    public var mailsPerAddress: Int
    /// Users, tokens and credentials that are remembered, each.
    public var rememberedEntries: Int

    /// Made of its parts.
    public init(
        passwordCost: PasswordHash.Cost = .standard,
        concurrentHashes: Int = PasswordQueue.standardWidth,
        waitingHashes: Int = 64,
        failedLoginsPerAddress: Int = 60,
        failedLoginsPerAccount: Int = 20,
        mailsPerAccount: Int = 6,
        mailsPerAddress: Int = 60,
        rememberedEntries: Int = 20_000
    ) {
        self.passwordCost = passwordCost
        self.concurrentHashes = concurrentHashes
        self.waitingHashes = waitingHashes
        self.failedLoginsPerAddress = failedLoginsPerAddress
        self.failedLoginsPerAccount = failedLoginsPerAccount
        self.mailsPerAccount = mailsPerAccount
        self.mailsPerAddress = mailsPerAddress
        self.rememberedEntries = rememberedEntries
    }
}

/// A caller of the client API whose access token is good.
public struct AuthenticatedUser: Sendable {
    /// The claims of the token.
    public let token: AccessToken
    /// The user as stored now.
    public let user: User
    /// The app whose token it is.
    public let settings: AccountSettings

    /// The caller for rules, with the custom data of the login.
    public var principal: Principal { .user(user.profile.with(customData: token.userData)) }
}

/// Who callers are: checks credentials and tokens, makes users and sessions.
///
/// Run ``run()`` as long as the process lives: it hears of changes in the database. Until it listens,
/// everything is asked of the database and nothing is remembered.
public final class AccountService: Sendable {
    let database: Database
    let apps: @Sendable (_ appID: String) -> AccountSettings?
    let ids: ObjectIDGenerator
    let customUserData: (any CustomUserDataSource)?
    let limits: AccountLimits
    let passwords: PasswordQueue
    let principals: PrincipalCache
    let credentials: CredentialCache
    let foreignTokens: TokenVerifier
    let throttle: LoginThrottle
    /// Mails that were asked for from an address, as all gateways count them; those to an account are counted where
    /// they are queued.
    let mailsByAddress: TokenBuckets?
    /// Milliseconds since 1970.
    let now: @Sendable () -> Int64
    let functions = Mutex<(any AccountFunctions)?>(nil)

    /// How long one statement may take.
    static let statementLimit: Duration = .seconds(10)

    /// A service that remembers nothing yet.
    ///
    /// - Parameters:
    ///   - database: Where accounts are kept.
    ///   - apps: The settings in force of an app by its internal id.
    ///   - ids: Makes ids of users and sessions.
    ///   - customUserData: nil leaves custom user data out.
    ///   - limits: Bounds on memory and work.
    ///   - fetchKeys: Fetches a JWK set; ``KeySetFetcher/fetch(_:)``, or a test's own.
    ///   - now: Milliseconds since 1970.
    public init(
        database: Database,
        apps: @escaping @Sendable (_ appID: String) -> AccountSettings?,
        ids: ObjectIDGenerator,
        customUserData: (any CustomUserDataSource)? = nil,
        limits: AccountLimits = AccountLimits(),
        fetchKeys: @escaping TokenVerifier.Fetch,
        now: @escaping @Sendable () -> Int64
    ) {
        self.database = database
        self.apps = apps
        self.ids = ids
        self.customUserData = customUserData
        self.limits = limits
        self.now = now
        passwords = PasswordQueue(width: limits.concurrentHashes, capacity: limits.waitingHashes)
        principals = PrincipalCache(capacity: limits.rememberedEntries)
        credentials = CredentialCache(capacity: limits.rememberedEntries)
        foreignTokens = TokenVerifier(fetch: fetchKeys, now: now)
        throttle = LoginThrottle(
            perAddress: limits.failedLoginsPerAddress,
            perAccount: limits.failedLoginsPerAccount,
            now: { now() &* 1_000_000 }
        )
        mailsByAddress =
            limits.mailsPerAddress > 0
            ? TokenBuckets(
                .init(
                    tokens: limits.mailsPerAddress,
                    per: 3600 * 1_000_000_000,
                    burst: limits.mailsPerAddress
                )
            ) : nil
    }

    /// Follows `tidegate_users` until cancelled, and removes what has ended once an hour.
    public func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.follow() }
            group.addTask { await self.removeEnded() }
        }
    }

    private func follow() async {
        for await notification in database.notifications(["tidegate_users", Self.attemptsChannel]) {
            switch notification {
            case .reconnected:
                credentials.forgetAll()
                principals.beginAnew(isListening: true)
            case .received(Self.attemptsChannel, let payload): heardOfAttempts(payload)
            case .received(_, let payload): heard(payload)
            }
        }
        principals.beginAnew(isListening: false)
        credentials.forgetAll()
    }

    /// `<app id>:<user id>`, or `<app id>:` for the app's signing keys.
    private func heard(_ payload: String) {
        guard let colon = payload.firstIndex(of: ":") else { return }
        let appID = String(payload[..<colon])
        let userID = String(payload[payload.index(after: colon)...])
        if userID.isEmpty {
            principals.forgetKeys(appID: appID)
        } else {
            forget(UserKey(appID: appID, userID: userID))
        }
    }

    /// Drops what is remembered of a user.
    func forget(_ key: UserKey) {
        credentials.forget(key)
        principals.forget(key)
    }

    private func removeEnded() async {
        while !Task.isCancelled {
            // A gateway that cannot reach the database tries again an hour later.
            _ = try? await query(SessionStatements.removeExpired)
            _ = try? await query(AccountStatements.expireAnonymousUsers)
            _ = try? await query(RegistrationStatements.trim)
            _ = try? await query(AttemptStatements.trim)
            _ = try? await query(IdempotencyStatements.trim)
            try? await Task.sleep(for: .seconds(3600))
        }
    }

    // What the parts of the service share

    var seconds: Int64 { now() / 1000 }

    func newID() -> ObjectID {
        ids.next(seconds: UInt32(truncatingIfNeeded: seconds))
    }

    func newIdentityID() -> String {
        var random = SystemRandomNumberGenerator()
        return UserProfile.Identity.makeID(newID(), random: &random)
    }

    /// Runs one statement under the service's time limit; each has one sensible plan, by a key.
    func query(_ statement: SQLFragment) async throws(ServiceError) -> ResultSet {
        try await database.run(statement, plan: .generic, within: Self.statementLimit)
    }

    /// A user, from memory or from the database.
    func user(_ key: UserKey) async throws(ServiceError) -> User? {
        if let user = principals.user(key, now: now()) { return user }
        let generation = principals.generation()
        let rows = try await query(
            AccountStatements.user(appID: key.appID, userID: key.userID)
        )
        guard let user = try AccountStatements.readUser(rows, appID: key.appID) else { return nil }
        principals.store(user, read: generation, now: now())
        return user
    }

    /// Signs with, and checks by, an app's keys; a key name that is not known is looked for once.
    func signer(appID: String, keyID: String? = nil) async throws(ServiceError) -> TokenSigner {
        if let keys = principals.signingKeys(appID: appID, now: now()),
            keyID.map({ keys.contains(keyID: $0) }) ?? true
        {
            return TokenSigner(keys)
        }
        let generation = principals.generation()
        let rows = try await query(
            SessionStatements.signingKeys(appID: appID)
        )
        let keys = try SessionStatements.readSigningKeys(rows, appID: appID)
        principals.store(keys, read: generation, now: now())
        return TokenSigner(keys)
    }

    /// The custom user data document, when the app has such documents.
    func customData(of userID: String, _ settings: AccountSettings) async throws(ServiceError)
        -> BSONDocument?
    {
        guard let configuration = settings.customUserData, let customUserData else { return nil }
        return try await customUserData.customUserData(of: userID, appID: settings.appID, configuration)
    }
}
