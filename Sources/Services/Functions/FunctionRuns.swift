public import BSON
import Errors
public import Observability
public import Postgres
import SQL

/// Runs functions that an operator asked for by `tidegate.run_function`: each once, by whichever gateway takes it.
public struct FunctionRuns: Sendable {
    private let service: FunctionService
    private let database: Database
    private let apps: AppRegistry
    private let ids: ObjectIDGenerator
    private let log: @Sendable (RequestRecord) -> Void
    private let observer: Observer?

    /// At once, by one gateway.
    private static let width = 8
    /// How long a notification that was missed stays unnoticed.
    private static let interval = Duration.seconds(10)

    /// Made of what it works with.
    ///
    /// - Parameters:
    ///   - service: Runs them.
    ///   - database: Where they are asked for.
    ///   - apps: Has the apps; a run is of the version that is stored when it is taken.
    ///   - ids: Names the runs in the log.
    ///   - log: Takes a row for the request log.
    ///   - observer: Learns of errors.
    public init(
        _ service: FunctionService,
        database: Database,
        apps: AppRegistry,
        ids: ObjectIDGenerator,
        log: @escaping @Sendable (RequestRecord) -> Void,
        observer: Observer?
    ) {
        self.service = service
        self.database = database
        self.apps = apps
        self.ids = ids
        self.log = log
        self.observer = observer
    }

    /// Takes what is asked for until its task is cancelled.
    public func run() async {
        // Each lane is woken by itself: what one of them is busy with keeps no other from looking.
        var wakes: [AsyncStream<Void>.Continuation] = []
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<Self.width {
                let (wishes, wake) = AsyncStream.makeStream(
                    of: Void.self,
                    bufferingPolicy: .bufferingNewest(1)
                )
                wakes.append(wake)
                group.addTask {
                    for await _ in wishes { while !Task.isCancelled, await takeOne() {} }
                }
            }
            group.addTask { [wakes] in
                for await _ in database.notifications(["tidegate_function_runs"]) {
                    for wake in wakes { wake.yield() }
                }
            }
            group.addTask { [wakes] in
                while !Task.isCancelled {
                    try? await Task.sleep(for: Self.interval)
                    for wake in wakes { wake.yield() }
                }
            }
            group.addTask { await trim() }
        }
    }

    /// - Returns: Whether there was one.
    private func takeOne() async -> Bool {
        let trace = RequestTrace(
            requestID: ids.next(seconds: UInt32(clamping: service.data.now() / 1000)).hex
        )
        do throws(ServiceError) {
            let limit = Int32(clamping: service.limits.runTime.components.seconds + 60)
            let rows = try await database.run(
                FunctionStatements.claimRun(seconds: limit, requestID: trace.requestID)
            )
            guard let claimed = FunctionStatements.readClaimed(rows) else { return false }
            let outcome = await run(claimed, trace)
            _ = try await database.run(FunctionStatements.finishRun(claimed.id, outcome))
            return true
        } catch {
            tell(error, trace.requestID)
            return false
        }
    }

    /// While the database is away the pool tells of it; the rest is of interest here.
    private func tell(_ error: ServiceError, _ requestID: String?) {
        if error.code != .maintenanceInProgress {
            observer?.record(.internalError(error, requestID: requestID))
        }
    }

    private func run(
        _ claimed: FunctionStatements.ClaimedRun,
        _ trace: RequestTrace
    ) async -> FunctionStatements.RunOutcome {
        var outcome = FunctionStatements.RunOutcome()
        trace.note { facts in
            facts.operation = "run_function"
            facts.logType = "FUNCTION"
        }
        do throws(ServiceError) {
            guard let app = try await apps.newest(id: claimed.appID) else {
                throw FunctionFailure.notFound(claimed.name)
            }
            trace.note { $0.clientAppID = app.clientAppID }
            guard case .array(let arguments) = try ExtendedJSON.readValue(Array(claimed.arguments.utf8))
            else {
                throw ServiceError(.invalidParameter, "the arguments must be an array")
            }
            let result = try await service.run(
                claimed.name,
                arguments: arguments,
                caller: .system,
                app: app,
                deadline: .now + service.limits.runTime,
                trace: trace
            )
            outcome.result = ExtendedJSON.canonical(result.value)
        } catch {
            outcome.error = error.message
            outcome.code = error.code.rawValue
            trace.note { facts in
                facts.errorCode = error.code.rawValue
                facts.reason = error.logText
            }
        }
        let record = trace.record(
            method: "SQL",
            route: "run_function",
            status: outcome.error == nil ? 200 : 400
        )
        outcome.messages = record.facts.function?.messages ?? []
        log(record)
        return outcome
    }

    private func trim() async {
        while !Task.isCancelled {
            // A gateway that cannot reach the database tries again an hour later.
            _ = try? await database.run(FunctionStatements.trimRuns)
            try? await Task.sleep(for: .seconds(3600))
        }
    }
}
