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
    /// A host call that is not sent yet: the run may be over with its answer.
    private var kept: Asked?
    /// Whether the entry was called and nothing else has run since.
    private var isFirstStretch = true
    /// What the gateway had to be asked for.
    private var facts: [CallFact: [UInt8]] = [:]
    /// What came while a fact was waited for, in order.
    private var early: ArraySlice<WorkerRequest> = []
    /// The error that a function's source did not parse with, and where.
    var syntaxFault: (error: JSValueRef, place: SyntaxFault)?
    private var isLinkLost = false

    /// What a script asks of the gateway.
    struct Asked {
        let id: Int32
        let name: String
        let arguments: WireText
    }

    /// What became of a run, and of the worker that it was on.
    struct End {
        let ending: WorkerEnding
        /// Whether the worker may serve another run.
        let isSound: Bool
        /// Whether nothing of the run can go on: its context may serve another if that is as it was.
        var isQuiet = false

        init(result: Result<WireText, ScriptFailure>, isSound: Bool, isQuiet: Bool = false) {
            ending =
                switch result {
                case .success(let text): .returned(text)
                case .failure(let failure): .failed(failure)
                }
            self.isSound = isSound
            self.isQuiet = isQuiet
        }

        /// The run is over with the answer to a host call, which the gateway has yet to do.
        init(last: WorkerEnding.LastCall) {
            ending = .asked(last)
            isSound = true
            isQuiet = true
        }
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
        isFirstStretch = false
        if isSound, let last = last(in: context) { return End(last: last) }
        do { try sendKept() } catch { isLinkLost = true }
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

    /// What the gateway can end the run with: the only thing that it waits for is the answer that it returns.
    private func last(in context: ScriptContext) -> WorkerEnding.LastCall? {
        guard let kept, result == nil, pending == 1, timers.isEmpty, early.isEmpty,
            let rest = context.last(isEndpoint: request.isEndpoint)
        else { return nil }
        return WorkerEnding.LastCall(name: kept.name, arguments: kept.arguments, rest: rest)
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

    /// Asks the gateway.
    func hostCall(_ asked: Asked) throws(NativeFault) {
        try check(asked)
        try sendKept()
        try send(asked)
        pending += 1
    }

    /// The same, once it is known whether the run is over with the answer: at the end of its first stretch.
    func keep(_ asked: Asked) throws(NativeFault) {
        // Others are under way or were, so that it is not: the usual way, in the order of their making.
        guard isFirstStretch, pending == 0, asked.arguments.bytes.count < Self.keptBytes else {
            return try hostCall(asked)
        }
        try check(asked)
        kept = asked
        pending = 1
    }

    /// What surely has room in any frame.
    private static let keptBytes = 1 << 20

    /// Sends what was kept: the run is not over with it.
    func sendKept() throws(NativeFault) {
        guard let asked = kept else { return }
        kept = nil
        try send(asked)
    }

    private func send(_ asked: Asked) throws(NativeFault) {
        do {
            try link.send(.hostCall(run: record.id, call: asked.id, name: asked.name, asked.arguments))
        } catch {
            throw Self.refusal
        }
    }

    private static let refusal = NativeFault(
        "the arguments cannot be sent: a key or pattern holds a NUL, or they are too large"
    )

    private func check(_ asked: Asked) throws(NativeFault) {
        guard asked.arguments.hasZero else { return }
        // Where it stands decides, which only reading them tells.
        guard let document = (try? asked.arguments.value())?.document,
            (try? WorkerFrame.encode(document)) != nil
        else { throw Self.refusal }
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
