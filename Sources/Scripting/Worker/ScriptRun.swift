internal import BSON
internal import CJavaScript

/// One run in a context: the loop that serves it until nothing is left to do.
final class ScriptRun {
    let request: WorkerRequest.RunRequest
    let record: RunRecord
    private let link: WorkerLink
    private let limits: ScriptLimits
    var timers = TimerQueue()
    /// How many host calls the gateway has not answered yet.
    private var pending = 0
    private var result: Result<BSONValue, ScriptFailure>?
    private var response: ScriptOutcome.Response?
    /// The error that a function's source did not parse with, and where.
    var syntaxFault: (error: JSValueRef, place: SyntaxFault)?
    private var isLinkLost = false

    /// What became of a run, and of the worker that it was on.
    struct End {
        let result: Result<BSONValue, ScriptFailure>
        var response: ScriptOutcome.Response?
        /// Whether the worker may serve another run.
        let isSound: Bool
        /// Whether nothing of the run can go on: its context may serve another if that is as it was.
        var isQuiet = false
    }

    init(_ request: WorkerRequest.RunRequest, record: RunRecord, link: WorkerLink, limits: ScriptLimits) {
        self.request = request
        self.record = record
        self.link = link
        self.limits = limits
    }

    /// Runs the entry to its end, and what it left behind.
    func perform(in context: ScriptContext) throws(WorkerLink.Ended) -> End {
        var isSound = context.start(
            function: request.function ?? "",
            isEndpoint: request.isEndpoint,
            arguments: request.arguments
        )
        while isSound {
            if isLinkLost { throw WorkerLink.Ended() }
            let now = ContinuousClock.now
            if now >= record.deadline { return End(result: .failure(.time), isSound: false) }
            if let timer = timers.take(at: now) {
                isSound = context.fire(timer: timer)
            } else if let result, pending == 0 {
                // Timers that are due later do not hold a run whose entry has returned.
                return End(result: result, response: response, isSound: true, isQuiet: timers.isEmpty)
            } else if result == nil, pending == 0, timers.isEmpty {
                return End(result: .failure(Self.neverSettles), isSound: true)
            } else {
                let due = min(timers.next() ?? record.deadline, record.deadline)
                isSound = try receive(within: max(.zero, due - now), context)
            }
        }
        // The engine ended it: at the deadline.
        return End(result: .failure(.time), isSound: false)
    }

    private static let neverSettles = ScriptFailure(
        .execution,
        "the function's promise never settles: nothing is left that it could wait for"
    )

    private func receive(within patience: Duration, _ context: ScriptContext) throws(WorkerLink.Ended) -> Bool
    {
        guard let message = try link.next(within: patience) else { return true }
        guard case .reply(let run, let call, let answer) = message, run == record.id else { return true }
        pending -= 1
        return switch answer {
        case .success(let value): context.reply(call: call, isAnswer: true, value)
        case .failure(let error): context.reply(call: call, isAnswer: false, .document(error.document))
        }
    }

    // MARK: What the runtime calls

    func hostCall(_ id: Int32, _ name: String, _ arguments: BSONValue) throws(NativeFault) {
        guard let arguments = arguments.document else { throw NativeFault("no run is on") }
        do {
            try link.send(.hostCall(run: record.id, call: id, HostCall(name: name, arguments: arguments)))
        } catch {
            throw NativeFault(
                "the arguments cannot be sent: a key or pattern holds a NUL, or they are too large"
            )
        }
        pending += 1
    }

    func finish(_ outcome: BSONValue) {
        guard result == nil else { return }
        let document = outcome.document
        let value = document?["value"] ?? .undefined
        guard BSONBinaryFormat.size(of: ["": value]) <= limits.responseBytes else {
            let megabytes = limits.responseBytes >> 20
            result = .failure(ScriptFailure(.execution, "the result is larger than \(megabytes) MB"))
            return
        }
        result = .success(value)
        response = document?["response"]?.document.map { ScriptOutcome.Response($0) }
    }

    func fail(_ description: BSONValue) {
        guard result == nil else { return }
        let document = description.document ?? [:]
        let host = document["host"]?.document.map { HostError($0) }
        if document["isSyntax"]?.bool ?? false, let place = syntaxFault?.place {
            let stack = "\(place.file):\(place.line):\(place.column)"
            result = .failure(ScriptFailure(.syntax, place.message, stack: stack))
            return
        }
        result = .failure(
            ScriptFailure(
                .execution,
                document["message"]?.string ?? "",
                stack: ScriptStack.frames(of: document["stack"]?.string ?? ""),
                hostError: host
            )
        )
    }
}
