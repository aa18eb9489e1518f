import Accounts
import BSON
import Errors
import Foundation
import HTTPGateway
import Logging
import Mail
import Migrations
import Observability
import Postgres
import SQL
import Scripting
import ServiceLifecycle
import Services
import SyncBridge

/// The only place that names all parts at once: database, apps, accounts, data, gateway.
struct Composition: Sendable {
    let database: Database
    let apps: AppRegistry
    let accounts: AccountService
    let data: DataService
    let watches: WatchService
    let functions: FunctionService
    let functionRuns: FunctionRuns
    let sourceQuestions: SourceQuestions
    let triggers: TriggerService
    let sync: SyncService
    let syncDoor: SyncDoor
    let scripts: ScriptPool
    let sources: FunctionSources
    let gateway: HTTPGateway
    let keySets: KeySetFetcher
    let catalog: CollectionCatalog
    let telemetry: Telemetry
    let readiness: Readiness
    let requestLog: RequestLog
    let indexes: IndexMaintenance
    /// nil when mails have nowhere to go: they wait in the outbox.
    let mail: MailDelivery?

    /// As ``make(settings:databaseURL:logger:)``, but gives a database that is starting or recovering time to
    /// come up: after a loss of power both start at once.
    static func makeWhenReachable(
        settings: ServerSettings,
        databaseURL: String,
        logger: Logger,
        patience: Duration = .seconds(60)
    ) async throws -> Composition {
        let end = ContinuousClock.now + patience
        while true {
            do {
                return try await make(settings: settings, databaseURL: databaseURL, logger: logger)
            } catch let error as ServiceError
                where error.code == .maintenanceInProgress && ContinuousClock.now < end
            {
                let reason = error.details["reason"] ?? error.message
                logger.warning("waiting for the database", metadata: ["reason": .string(reason)])
                try await Task.sleep(for: .milliseconds(500))
            }
        }
    }

    /// Connects, checks the server, and loads every app.
    static func make(settings: ServerSettings, databaseURL: String, logger: Logger) async throws
        -> Composition
    {
        let telemetry = Telemetry.ofProcess
        let logObserver = Observer(logger: logger)
        let requestLog = RequestLog(settings: settings.requestLog, observer: logObserver)
        let observer = Observer { observation in
            logObserver.record(observation)
            switch observation {
            case .requestFinished(let record), .runFinished(let record): requestLog.take(record)
            default: break
            }
        }
        let database = Database(settings: settings.postgres(databaseURL), observer: observer)
        let scripts = FunctionWorkers.pool(settings.scripts, observer: observer)
        let sources = FunctionSources(scripts)
        let apps = AppRegistry(
            database: database,
            observer: observer,
            checkSources: { app, inForce in await sources.faults(of: app, except: inForce) }
        )
        do {
            try await database.check()
            try await apps.load()
        } catch {
            await scripts.shutdown()
            await database.close()
            throw error
        }
        let ids = ObjectIDGenerator.random()
        let catalog = CollectionCatalog(database: database)
        let data = DataService(
            database: database,
            catalog: catalog,
            ids: ids,
            limits: settings.data,
            now: Self.milliseconds
        )
        let watches = WatchService(
            database: database,
            apps: apps,
            data: data,
            limits: settings.watches,
            observer: observer,
            now: Self.milliseconds
        )
        telemetry.registry.collect {
            database.metrics + watches.metrics + [
                MetricFamily("tidegate_apps", .gauge, Double(apps.apps.count)),
                MetricFamily("tidegate_log_waiting_rows", .gauge, Double(requestLog.waiting)),
                MetricFamily("tidegate_log_lag_seconds", .gauge, requestLog.lag() / .seconds(1)),
            ]
        }
        let keySets = KeySetFetcher()
        let accounts = AccountService(
            database: database,
            apps: { apps.app(id: $0)?.accounts },
            ids: ids,
            customUserData: data,
            limits: settings.accounts,
            fetchKeys: { try await keySets.fetch($0) },
            now: Self.milliseconds
        )
        let outbound = OutboundHTTP(database: database)
        let functions = FunctionService(
            accounts: accounts,
            data: data,
            scripts: scripts,
            outbound: { await outbound.answer($0, app: $1, deadline: $2) },
            limits: settings.functions,
            observer: observer
        )
        data.serve(ServedRuleFunctions(functions))
        telemetry.registry.collect { Self.metrics(functions, scripts) }
        accounts.callFunctions(through: ServedAccountFunctions(functions) { apps.app(id: $0) })
        let readiness = Readiness { await Self.faults(database, apps) }
        let gateway = HTTPGateway(
            apps: apps,
            accounts: accounts,
            data: data,
            watches: watches,
            functions: functions,
            settings: settings.gateway,
            observer: observer,
            requestIDs: ids,
            health: { await readiness.isReady() }
        )
        let sync = SyncService(
            database: database,
            apps: apps,
            data: data,
            accounts: accounts,
            ids: ids,
            log: { requestLog.take($0) },
            observer: observer,
            now: Self.milliseconds
        )
        return Composition(
            database: database,
            apps: apps,
            accounts: accounts,
            data: data,
            watches: watches,
            functions: functions,
            functionRuns: FunctionRuns(
                functions,
                database: database,
                apps: apps,
                ids: ids,
                log: { observer.record(.runFinished($0)) },
                observer: observer
            ),
            sourceQuestions: SourceQuestions(sources, database: database, observer: observer),
            triggers: TriggerService(
                database: database,
                apps: apps,
                watches: watches,
                functions: ServedTriggerFunctions(
                    functions,
                    ids: ids,
                    log: { observer.record(.runFinished($0)) }
                ),
                owner: ids.next(seconds: UInt32(clamping: Self.milliseconds() / 1000)).hex,
                observer: observer,
                now: Self.milliseconds
            ),
            sync: sync,
            syncDoor: SyncDoor(apps: apps, accounts: accounts, sync: sync),
            scripts: scripts,
            sources: sources,
            gateway: gateway,
            keySets: keySets,
            catalog: catalog,
            telemetry: telemetry,
            readiness: readiness,
            requestLog: requestLog,
            indexes: IndexMaintenance(
                database: database,
                settings: settings.postgres(databaseURL),
                observer: observer
            ),
            mail: mail(settings.mail, database, apps, ids, observer)
        )
    }

    private static func metrics(_ functions: FunctionService, _ scripts: ScriptPool) -> [MetricFamily] {
        let counts = scripts.counts
        let states = [("busy", counts.busy), ("idle", counts.workers - counts.busy)]
        return [
            MetricFamily("tidegate_functions_running", .gauge, Double(functions.underWay)),
            MetricFamily("tidegate_function_calls_waiting", .gauge, Double(counts.waiting)),
            MetricFamily(
                "tidegate_function_workers",
                .gauge,
                states.map { MetricSeries(labels: [.init("state", $0.0)], value: .number(Double($0.1))) }
            ),
        ]
    }

    private static func mail(
        _ settings: MailSettings,
        _ database: Database,
        _ apps: AppRegistry,
        _ ids: ObjectIDGenerator,
        _ observer: Observer
    ) -> MailDelivery? {
        var carriers: [any MailCarrier] = []
        if let folder = settings.folder { carriers.append(MailFolder(path: folder)) }
        if let server = settings.server { carriers.append(server) }
        guard !carriers.isEmpty, let sender = settings.sender ?? MailSettings.developer else { return nil }
        return MailDelivery(
            database: database,
            carriers: carriers,
            sender: sender,
            ids: ids,
            apps: { apps.app(id: $0)?.accounts },
            now: milliseconds,
            observer: observer
        )
    }

    /// What keeps requests from being served, found within seconds.
    private static func faults(_ database: Database, _ apps: AppRegistry) async -> [Readiness.Fault] {
        do throws(ServiceError) {
            let due = try await Migrator(database: database).dueCount(within: .seconds(2))
            if due > 0 { return [.init(.migrations, "\(due) are due: run tidegate migrate")] }
        } catch {
            return [.init(.database, error.message)]
        }
        return apps.isLoaded ? [] : [.init(.apps, "they have not been read yet")]
    }

    /// What follows the database as long as the process lives.
    var followers: [any Service] {
        [
            Follower { await apps.run() }, Follower { await accounts.run() },
            Follower { await catalog.run() }, Follower { await requestLog.run(on: database) },
            Follower { await requestLog.sweep(on: database) }, Follower { await telemetry.run() },
            Follower { await watches.run() }, Follower { await triggers.run() },
            Follower { await sync.run() },
            Follower { await indexes.build() },
            Follower { await indexes.expire() }, Follower { await functionRuns.run() },
            Follower { await sourceQuestions.run() },
        ] + (mail.map { mail in [Follower { await mail.run() }] } ?? [])
    }

    /// Ends what ``make(settings:databaseURL:logger:)`` opened.
    func close() async {
        await scripts.shutdown()
        await keySets.close()
        await requestLog.flush(to: database)
        await database.close()
    }

    /// Milliseconds since 1970.
    @Sendable static func milliseconds() -> Int64 {
        Int64((Date().timeIntervalSince1970 * 1000).rounded(.down))
    }
}

/// A loop that ends when the server stops.
struct Follower: Service {
    let body: @Sendable () async -> Void

    func run() async throws {
        await cancelWhenGracefulShutdown { await body() }
    }
}

extension ObjectIDGenerator {
    /// A generator that no other process repeats.
    static func random() -> ObjectIDGenerator {
        ObjectIDGenerator(
            processUnique: UInt64.random(in: 0..<(1 << 40)),
            counter: UInt32.random(in: 0..<(1 << 24))
        )
    }
}
