import AppDefinition
import BSON
import Errors
public import Observability
public import Postgres
import SQL
import Synchronization

/// Runs the triggers of all apps.
///
/// Run ``run()`` as long as the process lives. Any number of gateways may: each trigger is run by one of them, which
/// gives a sign of life every few seconds; when that stays out, another one goes on where it was.
public final class TriggerService: Sendable {
    private struct Running {
        let version: String
        let task: Task<Void, Never>
        let wake: TriggerWake
    }

    let watches: WatchService
    let functions: any TriggerFunctions
    /// Names this gateway among others.
    let owner: String
    /// Milliseconds since 1970.
    let now: @Sendable () -> Int64
    private let database: Database
    private let apps: AppRegistry
    private let observer: Observer?
    private let running = Mutex<[TriggerKey: Running]>([:])

    /// Runs nothing yet.
    ///
    /// - Parameters:
    ///   - database: Where the events are.
    ///   - apps: The apps in force.
    ///   - watches: Reads the change log.
    ///   - functions: Runs what triggers lead to.
    ///   - owner: Names this gateway among others.
    ///   - observer: Learns of failures.
    ///   - now: Milliseconds since 1970.
    public init(
        database: Database,
        apps: AppRegistry,
        watches: WatchService,
        functions: any TriggerFunctions,
        owner: String,
        observer: Observer? = nil,
        now: @escaping @Sendable () -> Int64
    ) {
        self.database = database
        self.apps = apps
        self.watches = watches
        self.functions = functions
        self.owner = owner
        self.observer = observer
        self.now = now
    }

    /// Runs triggers until cancelled.
    public func run() async {
        watches.onChanges { [weak self] in self?.wakeAll() }
        let (changes, changed) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        apps.whenChanged { _ in changed.yield() }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.follow() }
            group.addTask {
                // Not by the notification of it, which may come before the app is in force.
                for await _ in changes { await self.reconcile() }
            }
            group.addTask {
                while !Task.isCancelled {
                    await self.reconcile()
                    try? await Task.sleep(for: TriggerRunner.beat)
                }
            }
        }
        let ended = running.withLock { running in
            defer { running = [:] }
            return Array(running.values)
        }
        for one in ended { one.task.cancel() }
        for one in ended { await one.task.value }
    }

    private func follow() async {
        for await _ in database.notifications(["tidegate_auth_events", "tidegate_triggers"]) { wakeAll() }
    }

    private func wakeAll() {
        for one in running.withLock({ Array($0.values) }) { one.wake.wake() }
    }

    /// Starts what has come, and ends what has gone or changed.
    private func reconcile() async {
        var wanted: [TriggerKey: (version: String, trigger: TriggerDefinition, source: TriggerSource)] = [:]
        var hasAny = false
        for app in apps.apps {
            for trigger in app.definition.triggers {
                hasAny = true
                guard !trigger.isDisabled, trigger.functionName != nil, let source = trigger.source else {
                    continue
                }
                wanted[TriggerKey(app: app.id, name: trigger.name)] = (
                    "\(trigger.functionName ?? "") \(ExtendedJSON.canonical(.document(trigger.config)))",
                    trigger,
                    source
                )
            }
        }
        let (ended, missing) = running.withLock { running -> ([Running], [TriggerKey]) in
            var ended: [Running] = []
            for (key, one) in running where wanted[key]?.version != one.version {
                ended.append(one)
                running[key] = nil
            }
            return (ended, wanted.keys.filter { running[$0] == nil })
        }
        for one in ended { one.task.cancel() }
        for one in ended { await one.task.value }
        if !ended.isEmpty || !missing.isEmpty || hasAny {
            do {
                _ = try await run(TriggerStatements.keepListeners)
            } catch {
                // Somebody writes, or the database is away: the next round tries again.
                if error.postgresFailure?.sqlState != .lockNotAvailable { report(error) }
            }
        }
        for key in missing {
            guard let (version, trigger, source) = wanted[key] else { continue }
            let wake = TriggerWake()
            let runner = TriggerRunner(
                service: self,
                key: key,
                trigger: trigger,
                source: source,
                wake: wake
            )
            running.withLock { running in
                guard running[key] == nil else { return }
                running[key] = Running(version: version, task: Task { await runner.run() }, wake: wake)
            }
        }
    }

    // MARK: What runners need

    func app(_ id: String) -> AppSnapshot? { apps.app(id: id) }

    func run(_ statement: SQLFragment) async throws(ServiceError) -> ResultSet {
        try await database.run(statement, plan: .custom, within: .seconds(30))
    }

    func report(_ error: ServiceError) {
        // While the database is away the pool tells of it.
        if error.code != .maintenanceInProgress { observer?.record(.internalError(error, requestID: nil)) }
    }

    /// Lets another gateway have a trigger.
    func give(_ key: TriggerKey) async {
        // The runner has been cancelled; this must be said all the same.
        let release = Task { [self] in _ = try? await run(TriggerStatements.release(key, owner: owner)) }
        await release.value
    }
}
