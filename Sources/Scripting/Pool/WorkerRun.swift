internal import BSON

/// One run on one worker: answers its host calls until it is done.
struct WorkerRun: Sendable {
    let id: Int64
    let call: ScriptCall
    let deadline: ContinuousClock.Instant
    let limits: ScriptLimits
    let host: any ScriptHost

    /// A worker that is past its deadline is killed so much later: it ends itself first, and with more to
    /// tell.
    private static let grace = Duration.seconds(2)

    /// What the caller sends, in bytes.
    var size: Int {
        BSONBinaryFormat.size(of: [
            "": .array(call.arguments), "u": .document(call.user),
            "r": call.request.map { .document($0) } ?? .null,
        ])
    }

    /// - Returns: The outcome, and whether the worker can serve another run.
    func perform(on worker: ScriptWorker, _ bundle: ScriptBundle) async -> (ScriptOutcome, Bool) {
        let frames = worker.listen()
        defer { worker.hush() }
        worker.send(bundle)
        guard worker.send(.run(request)) else {
            let failure = ScriptFailure(.execution, "the arguments cannot be handed to the function")
            return (ScriptOutcome(result: .failure(failure)), true)
        }
        return await withTaskCancellationHandler {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    guard (try? await Task.sleep(until: deadline + Self.grace)) != nil else { return }
                    worker.kill()
                }
                defer { group.cancelAll() }
                let gate = HostCallGate(limits.concurrentHostCalls)
                for await frame in frames {
                    guard let document = try? WorkerFrame.decode(frame), let answer = WorkerAnswer(document)
                    else {
                        worker.kill()
                        return (ScriptOutcome(result: .failure(.crash)), false)
                    }
                    switch answer {
                    case .hostCall(let run, let number, let asked) where run == id:
                        group.addTask {
                            await self.answer(number, asked, on: worker, gate)
                            worker.consumed(frame.count)
                        }
                    case .done(let run, let outcome, let mayGoOn) where run == id:
                        worker.consumed(frame.count)
                        return (outcome, mayGoOn)
                    default: worker.consumed(frame.count)
                    }
                }
                return (ScriptOutcome(result: .failure(ending(of: worker))), false)
            }
        } onCancel: {
            worker.kill()
        }
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

    private var request: WorkerRequest.RunRequest {
        var function: String?
        var source: String?
        switch call.entry {
        case .named(let name): function = name
        case .source(let text): source = text
        }
        let left = deadline - ContinuousClock.now
        return WorkerRequest.RunRequest(
            id: id,
            function: function,
            source: source,
            isEndpoint: call.form == .endpoint,
            arguments: call.arguments,
            user: call.user,
            request: call.request,
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
        if !isOfSession { await gate.leave() }
        if !worker.send(.reply(run: id, call: number, result)) {
            let error = HostError(
                "the answer is larger than a function can take",
                errorCode: "ReadSizeLimitExceeded"
            )
            worker.send(.reply(run: id, call: number, .failure(error)))
        }
    }

    /// Parses a source in a worker.
    static func check(
        _ source: String,
        file: String,
        id: Int64,
        on worker: ScriptWorker
    ) async -> (SyntaxFault?, Bool) {
        let frames = worker.listen()
        defer { worker.hush() }
        let unchecked = SyntaxFault(
            file: file,
            line: 0,
            column: 0,
            message: "the source could not be checked"
        )
        guard worker.send(.check(id: id, source: source, file: file)) else { return (unchecked, true) }
        return await withTaskCancellationHandler {
            for await frame in frames {
                worker.consumed(frame.count)
                guard let document = try? WorkerFrame.decode(frame),
                    case .checked(id, let fault)? = WorkerAnswer(document)
                else { continue }
                return (fault, true)
            }
            return (unchecked, false)
        } onCancel: {
            worker.kill()
        }
    }
}

/// Lets so many through at a time.
actor HostCallGate {
    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ width: Int) {
        free = width
    }

    func enter() async {
        if free > 0 {
            free -= 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    func leave() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}
