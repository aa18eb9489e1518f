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
    private var result: Result<WireText, ScriptFailure>?
    /// What the gateway had to be asked for.
    private var facts: [CallFact: [UInt8]] = [:]
    /// What came while a fact was waited for, in order.
    private var early: ArraySlice<WorkerRequest> = []
    /// The error that a function's source did not parse with, and where.
    var syntaxFault: (error: JSValueRef, place: SyntaxFault)?
    private var isLinkLost = false

    /// What became of a run, and of the worker that it was on.
    struct End {
        let result: Result<WireText, ScriptFailure>
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
                return End(result: result, isSound: true, isQuiet: timers.isEmpty)
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
        var message = early.popFirst()
        if message == nil { message = try link.next(within: patience) }
        guard case .reply(let run, let call, let answer)? = message, run == record.id else { return true }
        pending -= 1
        switch answer {
        case .success(let value): return context.reply(call: call, isAnswer: true, json: value)
        case .failure(let error):
            let content = ScriptJSONWriter.write(.document(error.document))
            return context.reply(call: call, isAnswer: false, json: content)
        }
    }

    // MARK: What the runtime calls

    func hostCall(_ id: Int32, _ name: String, _ arguments: WireText) throws(NativeFault) {
        let refusal = NativeFault(
            "the arguments cannot be sent: a key or pattern holds a NUL, or they are too large"
        )
        if arguments.hasZero {
            // Where it stands decides, which only reading them tells.
            guard let document = (try? arguments.value())?.document,
                (try? WorkerFrame.encode(document)) != nil
            else { throw refusal }
        }
        do {
            try link.send(.hostCall(run: record.id, call: id, name: name, arguments))
        } catch {
            throw refusal
        }
        pending += 1
    }

    /// A fact of the call, for which the gateway is asked when it did not send it.
    func fact(_ fact: CallFact) throws(NativeFault) -> [UInt8] {
        let told = fact == .user ? request.user : request.request
        if case .sent(let text) = told { return text }
        if let text = facts[fact] { return text }
        let text = try ask(for: fact)
        facts[fact] = text
        return text
    }

    private func ask(for fact: CallFact) throws(NativeFault) -> [UInt8] {
        do {
            try link.send(.wants(run: record.id, fact))
            // The gateway answers at once; past the deadline the worker is ended.
            while let message = try link.next(within: max(.zero, record.deadline - .now)) {
                if case .fact(record.id, fact, let text) = message { return text }
                early.append(message)
            }
        } catch {
            isLinkLost = true
        }
        throw NativeFault("context.\(fact.rawValue) cannot be told")
    }

    func finish(_ outcome: WireText) {
        guard result == nil else { return }
        // What is larger than a frame is larger than a result may be, too.
        let isSendable = outcome.bytes.count < WorkerFrame.bytesLimit - 1 << 20
        result = isSendable ? .success(outcome) : .failure(.tooLarge(limits.responseBytes))
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
