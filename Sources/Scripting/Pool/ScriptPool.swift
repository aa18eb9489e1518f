internal import BSON
public import Observability
import Synchronization

/// A bounded number of worker processes, and the calls that wait for one.
///
/// A worker belongs to one app and runs one call at a time. Start with ``init(command:limits:observer:)``,
/// end with ``shutdown()``, after which no process is left.
public final class ScriptPool: Scripts {
    /// The bounds.
    public let limits: ScriptLimits
    private let fleet: WorkerFleet
    /// Whether functions that need no engine run without one.
    private let runsStraight: Bool
    private let serial = Atomic<Int64>(0)

    /// How deep the current task is inside of runs that wait for it.
    @TaskLocal static var nesting = 0

    /// Takes the program that is a worker when it is started with these arguments.
    public convenience init(
        command: [String],
        limits: ScriptLimits = ScriptLimits(),
        observer: Observer = Observer { _ in }
    ) {
        self.init(command: command, limits: limits, observer: observer, runsStraight: true)
    }

    /// The same, and says whether functions that need no engine run without one, which tests of the engine do not want.
    package init(
        command: [String],
        limits: ScriptLimits,
        observer: Observer = Observer { _ in },
        runsStraight: Bool
    ) {
        self.limits = limits
        self.runsStraight = runsStraight
        fleet = WorkerFleet(command: command, limits: limits, observer: observer)
    }

    /// Runs a function that neither needs an engine nor asks for anything.
    public func runAtOnce(_ call: ScriptCall, of bundle: ScriptBundle) -> ScriptOutcome? {
        guard runsStraight, case .named(let name) = call.entry, let function = bundle.straight(name),
            !function.asks, call.deadline > .now, limits.depth > Self.nesting,
            call.size <= min(StraightRun.argumentBytes, limits.requestBytes)
        else { return nil }
        var record = StraightRecord()
        let end = StraightRun.end(of: function, named: name, call, of: bundle, within: limits, &record)
        guard case .over(.over(let outcome))? = end else { return nil }
        return outcome
    }

    /// Runs one function to its end; cancelling the task ends the run.
    public func run(_ call: ScriptCall, of bundle: ScriptBundle, host: any ScriptHost) async -> ScriptOutcome
    {
        let outcome = await start(call, of: bundle, host: host)
        await host.end()
        return outcome
    }

    private func start(_ call: ScriptCall, of bundle: ScriptBundle, host: any ScriptHost) async
        -> ScriptOutcome
    {
        if case .named(let name) = call.entry, bundle.functions[name] == nil {
            return ScriptOutcome(result: .failure(ScriptFailure(.notFound, "function not found: '\(name)'")))
        }
        let depth = Self.nesting
        guard depth < limits.depth else {
            let message = "functions call each other more than \(limits.depth) levels deep"
            return ScriptOutcome(result: .failure(ScriptFailure(.execution, message)))
        }
        let deadline = min(call.deadline, .now + limits.runTime)
        let run = WorkerRun(id: nextID(), call: call, deadline: deadline, limits: limits, host: host)
        guard run.size <= limits.requestBytes else {
            let message = "the arguments are larger than \(limits.requestBytes >> 20) MB"
            return ScriptOutcome(result: .failure(ScriptFailure(.execution, message)))
        }
        if deadline > .now, let end = await straightEnd(run, of: bundle) {
            return await outcome(of: end, run, of: bundle)
        }
        guard
            let (worker, answers) = await fleet.lease(
                app: bundle.app,
                isNested: depth > 0,
                until: deadline,
                for: call.caller,
                { run.begin(on: $0, bundle) }
            )
        else {
            let failure: ScriptFailure =
                deadline <= .now ? .time : call.caller?.isGone ?? false ? .abandoned : .busy
            return ScriptOutcome(result: .failure(failure))
        }
        guard let answers else {
            fleet.free(worker)
            fleet.heard()
            let refusal = ScriptFailure(.execution, "the arguments cannot be handed to the function")
            return ScriptOutcome(result: .failure(deadline <= .now ? .time : refusal))
        }
        let end = await Self.$nesting.withValue(depth + 1) {
            await run.perform(on: worker, answers, heard: fleet.heard)
        }
        return await outcome(of: end, run, of: bundle)
    }

    /// What becomes of a function that needs no engine; nil for any other.
    private func straightEnd(_ run: WorkerRun, of bundle: ScriptBundle) async -> RunEnd? {
        guard runsStraight, case .named(let name) = run.call.entry, run.size <= StraightRun.argumentBytes,
            let function = bundle.straight(name)
        else { return nil }
        var record = StraightRecord()
        while true {
            let end = StraightRun.end(
                of: function,
                named: name,
                run.call,
                of: bundle,
                within: limits,
                &record
            )
            guard case .reads(let read)? = end else {
                if !record.answers.isEmpty { bundle.read(name, wasStraight: end != nil) }
                guard case .over(let end)? = end else { return nil }
                return end
            }
            switch await answer(run, to: read) {
            case .success(let value): record.answers.append(value)
            case .failure where run.deadline <= .now: return .over(read.failed(.time))
            case .failure(let error):
                guard function.catches else { return .over(read.refused(error)) }
                bundle.read(name, wasStraight: false)
                return nil
            }
            if run.deadline <= .now { return .over(read.failed(.time)) }
        }
    }

    private func answer(_ run: WorkerRun, to last: LastHostCall) async -> Result<BSONValue, HostError> {
        await Self.$nesting.withValue(Self.nesting + 1) { await run.host.answer(last.call) }
    }

    private func outcome(of end: RunEnd, _ run: WorkerRun, of bundle: ScriptBundle) async -> ScriptOutcome {
        switch end {
        case .over(let outcome): outcome
        case .asks(let last): await finish(run, with: last, of: bundle)
        }
    }

    /// Does what a run asked last; its worker serves others meanwhile.
    private func finish(_ run: WorkerRun, with last: LastHostCall, of bundle: ScriptBundle) async
        -> ScriptOutcome
    {
        let answer = await answer(run, to: last)
        if run.deadline <= .now { return last.failed(.time) }
        let value: BSONValue
        switch answer {
        case .success(let answered): value = answered
        case .failure(let error): return last.refused(error)
        }
        if let outcome = last.answered(value, responseBytes: limits.responseBytes) { return outcome }
        // What the engine makes of it, the engine says.
        let identity = ScriptCall(
            entry: .source("exports = (value) => value"),
            arguments: [value],
            user: [:],
            request: nil,
            runsAsSystem: false,
            deadline: run.deadline
        )
        switch await start(identity, of: bundle, host: run.host).result {
        case .success(let value): return last.returned(value)
        case .failure(let failure): return last.failed(failure)
        }
    }

    /// The fault of a source, or nil when it parses; nothing of it runs.
    public func check(_ source: String, file: String) async -> SyntaxFault? {
        let patience = ContinuousClock.now + .seconds(30)
        let check = WorkerCheck(id: nextID(), source: source, file: file)
        // An app of no name: such workers never hold a bundle.
        guard
            let (worker, answers) = await fleet.lease(
                app: "",
                isNested: false,
                until: patience,
                for: nil,
                { check.begin(on: $0) }
            )
        else {
            return SyntaxFault(file: file, line: 0, column: 0, message: ScriptFailure.busy.message)
        }
        defer { fleet.heard() }
        guard let answers else {
            fleet.free(worker)
            return check.unchecked
        }
        return await check.fault(from: answers, on: worker)
    }

    /// Ends all workers and waits until they are gone.
    public func shutdown() async { await fleet.shutdown() }

    /// How many workers there are, how many of them are at work, how many calls wait.
    public var counts: (workers: Int, busy: Int, waiting: Int) { fleet.counts }

    /// The processes of the workers.
    package var processIDs: [Int32] { fleet.processIDs }

    private func nextID() -> Int64 { serial.add(1, ordering: .relaxed).newValue }
}
