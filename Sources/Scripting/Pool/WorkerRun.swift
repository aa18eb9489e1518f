internal import BSON
import Synchronization

/// One run on one worker: answers its host calls until it is done.
struct WorkerRun: Sendable {
    let id: Int64
    let call: ScriptCall
    let deadline: ContinuousClock.Instant
    let limits: ScriptLimits
    let host: any ScriptHost

    init(
        id: Int64,
        call: ScriptCall,
        deadline: ContinuousClock.Instant,
        limits: ScriptLimits,
        host: any ScriptHost
    ) {
        self.id = id
        self.call = call
        self.deadline = deadline
        self.limits = limits
        self.host = host
        size = call.size
    }

    /// A worker that is past its deadline is killed so much later: it ends itself first, and with more to
    /// tell.
    private static let grace = Duration.seconds(2)

    /// What the caller sends, in bytes.
    let size: Int

    /// Sends it to a worker; nil when it cannot be sent, or need not be any more.
    func begin(on worker: ScriptWorker, _ bundle: ScriptBundle) -> WorkerAnswers? {
        guard deadline > .now else { return nil }
        let answers = worker.begin(id, until: deadline + Self.grace)
        worker.send(bundle)
        guard worker.send(.run(request(of: bundle))) else {
            worker.withdraw(id)
            return nil
        }
        return answers
    }

    /// Answers its host calls until it is over, and says so with `heard` once its end is known: a worker that a script has
    /// taken over may end a run whose host calls still go on, and nobody is to wait for those.
    func perform(on worker: ScriptWorker, _ answers: WorkerAnswers, heard: () -> Void) async -> RunEnd {
        let (end, mayGoOn) = await follow(answers, on: worker, heard)
        // One that may not go on has ended, or is about to; any other has been free since it said so.
        if !mayGoOn { worker.kill(during: id) }
        return end
    }

    private func follow(
        _ answers: WorkerAnswers,
        on worker: ScriptWorker,
        _ heard: () -> Void
    ) async -> (RunEnd, Bool) {
        await withTaskCancellationHandler {
            // Most runs ask for nothing, and need no tasks for what they ask.
            let first = await step(answers, on: worker)
            guard case .asks(let number, let asked, let bytes) = first else {
                heard()
                return first.end
            }
            return await withTaskGroup(of: Void.self) { group in
                defer { group.cancelAll() }
                let gate = HostCallGate(limits.concurrentHostCalls)
                var step = Step.asks(number, asked, bytes)
                while case .asks(let number, let asked, let bytes) = step {
                    group.addTask {
                        await self.answer(number, asked, on: worker, gate)
                        worker.consumed(bytes)
                    }
                    step = await self.step(answers, on: worker)
                }
                heard()
                return step.end
            }
        } onCancel: {
            worker.kill(during: id)
        }
    }

    /// What a worker tells of a run.
    private enum Step {
        case asks(Int32, HostCall, _ bytes: Int)
        case ends(RunEnd, mayGoOn: Bool)

        static func failed(_ failure: ScriptFailure) -> Step {
            .ends(.over(ScriptOutcome(result: .failure(failure))), mayGoOn: false)
        }

        var end: (RunEnd, Bool) {
            guard case .ends(let end, let mayGoOn) = self else { return Step.failed(.crash).end }
            return (end, mayGoOn)
        }
    }

    /// The next thing that the worker tells of this run.
    private func step(_ answers: WorkerAnswers, on worker: ScriptWorker) async -> Step {
        while let (answer, bytes) = await answers.next() {
            switch answer {
            case .hostCall(let run, let number, let name, let text) where run == id:
                guard let arguments = (try? text.value())?.document else { return broken(worker) }
                return .asks(number, HostCall(name: name, arguments: arguments), bytes)
            case .wants(let run, let fact) where run == id:
                worker.consumed(bytes)
                worker.send(.fact(run: id, fact, text(of: fact)))
            case .done(let run, let told, let mayGoOn) where run == id:
                worker.consumed(bytes)
                guard let end = try? told.end(responseBytes: limits.responseBytes) else {
                    return broken(worker)
                }
                return .ends(end, mayGoOn: mayGoOn)
            // It was freed by that, so that nobody would end it: no worker says so of a run.
            case .checked(let run, _) where run == id: return broken(worker)
            default: worker.consumed(bytes)
            }
        }
        return .failed(ending(of: worker))
    }

    /// Ends a worker that says what none says.
    private func broken(_ worker: ScriptWorker) -> Step {
        worker.kill()
        return .failed(.crash)
    }

    private func text(of fact: CallFact) -> [UInt8] {
        let document = fact == .user ? call.user : call.request()
        return ScriptJSONWriter.write(document.map { .document($0) } ?? .null)
    }

    /// Why a worker is gone that did not say it.
    private func ending(of worker: ScriptWorker) -> ScriptFailure {
        if ContinuousClock.now >= deadline { return .time }
        switch worker.exitCode() {
        case WorkerExit.memory: return .memory
        case WorkerExit.time: return .time
        default: return .crash
        }
    }

    private func request(of bundle: ScriptBundle) -> WorkerRequest.RunRequest {
        var function: String?
        var source: String?
        switch call.entry {
        case .named(let name): function = name
        case .source(let text): source = text
        }
        // Few functions look at them, and they cost more than most of those do.
        func told(_ fact: CallFact) -> WorkerRequest.Told {
            let looksAtIt = function.map { bundle.mentions(fact, $0) } ?? true
            return looksAtIt ? .sent(text(of: fact)) : .onDemand
        }
        let left = deadline - ContinuousClock.now
        return WorkerRequest.RunRequest(
            id: id,
            function: function,
            source: source,
            isEndpoint: call.form == .endpoint,
            keepsFirstLines: call.keepsFirstLines,
            arguments: ScriptJSONWriter.write(.array(call.arguments)),
            user: told(.user),
            request: told(.request),
            isSystem: call.runsAsSystem,
            milliseconds: Int64(max(.zero, left) / .milliseconds(1))
        )
    }

    private func answer(_ number: Int32, _ asked: HostCall, on worker: ScriptWorker, _ gate: HostCallGate)
        async
    {
        // A session's calls never queue behind calls that may wait for its locks.
        let isOfSession = asked.name.hasPrefix("session.") || asked.arguments["session"] != nil
        if !isOfSession { await gate.enter() }
        let result = await host.answer(asked)
        if !isOfSession { gate.leave() }
        if !worker.send(.reply(run: id, call: number, result.map { ScriptJSONWriter.write($0) })) {
            let error = HostError(
                "the answer is larger than a function can take",
                errorCode: "ReadSizeLimitExceeded"
            )
            worker.send(.reply(run: id, call: number, .failure(error)))
        }
    }
}

/// Lets so many through at a time.
final class HostCallGate: Sendable {
    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(_ width: Int) {
        state = Mutex(State(free: width))
    }

    func enter() async {
        if takeFree() { return }
        await withCheckedContinuation { continuation in
            // One may have come free meanwhile.
            let mayGo = state.withLock { state in
                guard state.free > 0 else {
                    state.waiting.append(continuation)
                    return false
                }
                state.free -= 1
                return true
            }
            if mayGo { continuation.resume() }
        }
    }

    func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.waiting.isEmpty else {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }

    private func takeFree() -> Bool {
        state.withLock { state in
            guard state.free > 0 else { return false }
            state.free -= 1
            return true
        }
    }
}
