import Accounts
import AppDefinition
public import BSON
import Errors
import MQL
public import Observability
public import Postgres
import QueryCompiler
import SQL
public import Sync
import Synchronization

/// Device Sync: what devices are told and what they may write, whatever the socket.
///
/// Run ``run()`` as long as the process lives. A ``SyncConversation`` is one device's file on one connection.
public final class SyncService: Sendable {
    struct State {
        var apps: [String: SyncedVersions] = [:]
        var feeds: [String: SyncFeed] = [:]
        /// The sessions of an app's devices.
        var followers: [String: [UInt64: SyncLease]] = [:]
        /// Which session has a file open.
        var files: [SyncFileKey: SyncLease] = [:]
        /// Files that are closed here while others may still be told that they are open, by what holds them.
        var unreleased: [String: SyncFileKey] = [:]
        var connections: [UInt64: SyncPresence] = [:]
        var lastID: UInt64 = 0
    }

    let database: Database
    let apps: AppRegistry
    let data: DataService
    let accounts: AccountService
    /// Milliseconds since 1970.
    let now: @Sendable () -> Int64
    let observer: Observer?
    let state = Mutex(State())
    /// This process among all that serve devices.
    let gateway: String
    /// What operators read of devices.
    let log: SyncLog
    private let turns = Mutex<[String: Turns]>([:])
    /// Bootstraps hold a connection each and need others beside it, as does everybody else.
    let bootstraps: Turns

    /// How long one step may take in the database.
    static let timeLimit = Duration.seconds(60)

    /// How much of the history is read at a time, in bytes of changesets and documents, beside one version: the
    /// database prints each as two, and one version more must fit.
    var pageBytes: Int { database.maxResultBytes / 16 }
    /// How many versions at most.
    private static let pageVersions = 200

    /// A service that no device has found yet.
    ///
    /// - Parameters:
    ///   - database: Where the history is.
    ///   - apps: The apps in force.
    ///   - data: The only way to documents.
    ///   - accounts: Knows users as they are now.
    ///   - ids: Names this process among all that serve devices, and rows of the log.
    ///   - log: Takes a row of the log.
    ///   - observer: Learns of failures.
    ///   - now: Milliseconds since 1970.
    public init(
        database: Database,
        apps: AppRegistry,
        data: DataService,
        accounts: AccountService,
        ids: ObjectIDGenerator,
        log: @escaping @Sendable (RequestRecord) -> Void,
        observer: Observer? = nil,
        now: @escaping @Sendable () -> Int64
    ) {
        self.database = database
        self.apps = apps
        self.data = data
        self.accounts = accounts
        gateway = ids.next(seconds: UInt32(clamping: now() / 1000)).hex
        self.log = SyncLog(
            newID: { ids.next(seconds: UInt32(clamping: now() / 1000)).hex },
            app: { apps.app(id: $0)?.clientAppID },
            take: log
        )
        self.observer = observer
        self.now = now
        bootstraps = Turns(atOnce: max(1, database.maxConnections / 3))
        // Whoever tells it holds it no longer than the process does.
        apps.whenChanged { [weak self] app in
            self?.forget(app)
            self?.recheck(app)
        }
    }

    /// Follows the database until cancelled: history grows by what others than devices change, too.
    public func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.followDatabase() }
            group.addTask { await self.tick() }
            group.addTask { await self.trim() }
            group.addTask { await self.watchForms() }
        }
        // A task of its own, since this one is cancelled.
        await Task { _ = try? await run(SyncStatements.endGateway(gateway)) }.value
    }

    private func followDatabase() async {
        for await notification in database.notifications([
            "tidegate_changes", "tidegate_sync", "tidegate_sync_files", "tidegate_config", "tidegate_users",
        ]) {
            switch notification {
            case .received("tidegate_sync", let app): await refresh(app)
            case .received("tidegate_sync_files", let payload): await heardOfFile(payload)
            case .received("tidegate_users", let payload): await heardOfUser(payload)
            case .received("tidegate_config", let app):
                forget(app)
                wake(app)
            case .received(_, let collection):
                for app in synced where Int32(collection).map({ app.follows($0) }) ?? true {
                    await integrate(app)
                }
            case .reconnected:
                await checkSessions { _ in true }
                for app in synced {
                    forget(app.snapshot.id)
                    await integrate(app)
                    await refresh(app.snapshot.id)
                    wake(app.snapshot.id)
                }
            }
        }
    }

    private func integrate(_ app: SyncedApp) async {
        do {
            try await SyncPending(service: self, app: app).integrate()
        } catch {
            report(error)
        }
    }

    private func refresh(_ app: String) async {
        guard let feed = state.withLock({ $0.feeds[app] }) else { return }
        do {
            try await feed.refresh(self)
        } catch {
            report(error)
        }
    }

    func report(_ error: any Error) {
        let known =
            error as? ServiceError ?? ServiceError(.internalServerError, "sync failed", cause: error)
        observer?.record(.internalError(known, requestID: nil))
    }

    /// What a device is told of a failure; one of ours is reported, and the device tries again.
    public func fault(_ error: any Error) -> SyncFault {
        if let fault = error as? SyncFault { return fault }
        if error is CancellationError { return SyncFault(.sessionClosed, "Session closed") }
        report(error)
        return SyncFault(.sessionClosed, "Session closed: the server could not go on; try again")
    }

    /// Milliseconds since 2015.
    var timestamp: Int64 { SyncTime.since2015(now()) }

    func run(_ statement: SQLFragment) async throws(ServiceError) -> ResultSet {
        try await database.run(statement, plan: .generic, within: Self.timeLimit)
    }

    // MARK: History

    /// Reads a part of an app's history; at least one version, if there is one.
    func history(of app: String, after: Int64, through: Int64) async throws -> [SyncHistoryEntry] {
        let rows = try await run(
            SyncStatements.history(
                app,
                after: after,
                through: through,
                versions: Self.pageVersions,
                bytes: pageBytes
            )
        )
        return try SyncHistoryReader.entries(rows)
    }

    /// Runs one change of an app's history at a time, so that waiting for it takes no connection.
    func inTurn<Value: Sendable>(_ app: String, _ body: () async throws -> Value) async throws -> Value {
        let turns = turns.withLock { turns in
            if let known = turns[app] { return known }
            let made = Turns()
            turns[app] = made
            return made
        }
        await turns.begin()
        defer { turns.end() }
        return try await body()
    }

    // MARK: Conversations

    func nextID() -> UInt64 {
        state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
    }

    func follow(_ presence: SyncPresence, _ tell: @escaping @Sendable () -> Void) -> SyncLease {
        let lease = SyncLease(id: nextID(), presence: presence, tell: tell)
        state.withLock { $0.followers[presence.caller.app, default: [:]][lease.id] = lease }
        return lease
    }

    func unfollow(_ lease: SyncLease) {
        let app = lease.presence.caller.app
        state.withLock { state in
            state.followers[app]?[lease.id] = nil
            if state.followers[app]?.isEmpty == true { state.followers[app] = nil }
        }
    }

    private func followers(_ app: String) -> [SyncLease] {
        state.withLock { $0.followers[app].map { Array($0.values) } ?? [] }
    }

    var leases: [SyncLease] { state.withLock { $0.followers.values.flatMap(\.values) } }

    func wake(_ app: String) {
        for lease in followers(app) { lease.wake() }
    }

    /// The app has another configuration: each session looks what that means for it.
    private func recheck(_ app: String) {
        for lease in followers(app) { lease.recheck(.rules) }
    }
}

/// A device's file among all apps.
struct SyncFileKey: Hashable {
    let app: String
    let ident: Int64
}
