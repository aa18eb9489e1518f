public import AppDefinition
public import Errors
public import Observability
public import Postgres
import SQL
import Synchronization

/// All apps of the database, each as the newest snapshot that checks.
///
/// ``load()`` once at start, then ``run()`` as long as the process lives. ``app(clientAppID:)`` is called by every
/// request: it takes one lock for a look-up and never waits for a load.
public final class AppRegistry: Sendable {
    /// Finds what is wrong with the sources of an app's functions, but for those that are in force already.
    public typealias SourceCheck =
        @Sendable (_ app: AppConfiguration, _ inForce: AppConfiguration?) async ->
        [Finding]

    private struct State {
        var byClientAppID: [String: AppSnapshot] = [:]
        var byID: [String: AppSnapshot] = [:]
        var isLoaded = false
        var listeners: [@Sendable (_ app: String) -> Void] = []
    }

    private let store: AppStore
    private let database: Database
    private let observer: Observer?
    private let checkSources: SourceCheck?
    private let state = Mutex(State())

    /// A registry without apps; nothing is read yet.
    public init(database: Database, observer: Observer? = nil, checkSources: SourceCheck? = nil) {
        self.checkSources = checkSources
        store = AppStore(database: database)
        self.database = database
        self.observer = observer
    }

    /// Reads all apps.
    ///
    /// One whose configuration does not check keeps its old snapshot, if there is one; the
    /// reason goes to `tidegate.config_errors`.
    public func load() async throws(ServiceError) {
        let stored = try await store.loadAll()
        let present = Set(stored.map(\.id))
        for id in state.withLock({ Array($0.byID.keys) }) where !present.contains(id) { remove(id) }
        for app in stored { await install(app) }
        state.withLock { $0.isLoaded = true }
    }

    /// Follows `tidegate_config` until its task is cancelled: reloads an app that changed, and all of them after
    /// a reconnection or a failed load, since notifications may have been missed.
    public func run() async {
        for await notification in database.notifications([Self.channel]) {
            switch notification {
            case .reconnected: await loadUntilDone()
            case .received(_, let id):
                do {
                    try await reload(id: id)
                } catch {
                    observer?.record(.internalError(error, requestID: nil))
                    await loadUntilDone()
                }
            }
        }
    }

    /// Where changes are announced; the payload is the app's internal id.
    static let channel = "tidegate_config"

    /// Reads one app anew.
    public func reload(id: String) async throws(ServiceError) {
        guard let stored = try await store.load(id: id) else {
            remove(id)
            return
        }
        await install(stored)
    }

    /// The snapshot of an app at the version that the database has now; for those who come right behind a change.
    public func newest(id: String) async throws(ServiceError) -> AppSnapshot? {
        let rows = try await database.run(AppStoreStatements.version(app: id))
        guard rows.rowCount > 0, let version = rows.int(0, 0) else { return nil }
        if app(id: id).map({ $0.version < version }) ?? true { try await reload(id: id) }
        return app(id: id)
    }

    /// The snapshot of an app by the id in URLs.
    public func app(clientAppID: String) -> AppSnapshot? {
        let found = state.withLock { $0.byClientAppID[clientAppID] }
        // Swift's dictionary also finds what only looks the same, such as the Kelvin sign for a K.
        guard let found, found.clientAppID.utf8.elementsEqual(clientAppID.utf8) else { return nil }
        return found
    }

    /// The snapshot of an app by internal id.
    public func app(id: String) -> AppSnapshot? {
        state.withLock { $0.byID[id] }
    }

    /// All snapshots in force, by internal id.
    public var apps: [AppSnapshot] {
        state.withLock { $0.byID.values.sorted { $0.id < $1.id } }
    }

    /// Whether all apps have been read at least once.
    public var isLoaded: Bool { state.withLock { $0.isLoaded } }

    /// Has a closure told of each app whose snapshot changed or went, by internal id, as long as the registry lives.
    public func whenChanged(_ tell: @escaping @Sendable (_ app: String) -> Void) {
        state.withLock { $0.listeners.append(tell) }
    }

    private func tellChanged(_ id: String) {
        for tell in state.withLock({ $0.listeners }) { tell(id) }
    }

    private func loadUntilDone() async {
        var pause = Duration.milliseconds(200)
        while !Task.isCancelled {
            do {
                try await load()
                return
            } catch {
                observer?.record(.internalError(error, requestID: nil))
            }
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, .seconds(10))
        }
    }

    /// Checks what was read and puts it in force, unless something newer is.
    private func install(_ stored: AppStore.StoredApp) async {
        let current = app(id: stored.id)
        if let current, current.version >= stored.version { return }
        let parsed = AppConfigurationParser.parse(stored.tree, knownSecrets: Set(stored.tree.secrets.keys))
        var findings = stored.findings
        findings.append(contentsOf: parsed.findings)
        guard let definition = parsed.app, !findings.hasErrors else {
            await refuse(stored, findings.errors, inForce: current?.version)
            return
        }
        // Of an app that is not served at all yet, the functions that do parse are better than none.
        if let checkSources {
            let faults = await checkSources(definition, current?.definition)
            if !faults.isEmpty {
                await refuse(stored, faults, inForce: current?.version ?? stored.version)
                if current != nil { return }
            }
        }
        let snapshot = AppSnapshot(
            id: stored.id,
            clientAppID: stored.clientAppID,
            version: stored.version,
            definition: definition,
            secrets: stored.tree.secrets
        )
        state.withLock { state in
            if let old = state.byID[stored.id] {
                if old.version >= snapshot.version { return }
                state.byClientAppID[old.clientAppID] = nil
            }
            state.byID[stored.id] = snapshot
            state.byClientAppID[stored.clientAppID] = snapshot
        }
        tellChanged(stored.id)
        observer?.record(.configurationReloaded(app: stored.clientAppID, version: "\(stored.version)"))
    }

    private func refuse(_ stored: AppStore.StoredApp, _ errors: [Finding], inForce: Int64?) async {
        let reason = errors.first?.description ?? "unknown"
        observer?.record(.configurationRefused(app: stored.clientAppID, reason: reason))
        do {
            try await store.recordErrors(
                app: stored.id,
                version: stored.version,
                findings: errors,
                inForce: inForce
            )
        } catch {
            // The app goes on as it was; that the reason is not in the table is worth a log line, no more.
            observer?.record(.internalError(error, requestID: nil))
        }
    }

    private func remove(_ id: String) {
        state.withLock { state in
            guard let old = state.byID.removeValue(forKey: id) else { return }
            if state.byClientAppID[old.clientAppID]?.id == id { state.byClientAppID[old.clientAppID] = nil }
        }
        tellChanged(id)
    }
}
