internal import BSON

/// How a run ended, as the worker tells it: the gateway alone reads what the entry returned.
enum WorkerEnding {
    case returned(WireText)
    case failed(ScriptFailure)
    /// It returns the answer to a host call that the gateway has yet to do; nothing of it runs after that.
    case asked(LastCall)

    /// The host call that a run is over with.
    struct LastCall {
        let name: String
        let arguments: WireText
        /// `stack`, where the script asked, and `response` of an endpoint's function.
        let rest: WireText
    }
}

/// What became of a run, as the worker tells it.
struct WorkerOutcome {
    let ending: WorkerEnding
    let messages: [String]
    let memoryTime: Int64
    var contextRuns = 0

    /// What the gateway makes of it, of a result of at most so many bytes.
    ///
    /// - Throws: For a text that is no value: then the worker is not what it was.
    func end(responseBytes: Int) throws(ScriptTextFault) -> RunEnd {
        switch ending {
        case .returned(let text):
            let document = try Self.document(text)
            let value = document["value"] ?? .undefined
            guard BSONBinaryFormat.size(of: value) <= responseBytes else {
                return .over(outcome(.failure(.tooLarge(responseBytes))))
            }
            return .over(outcome(.success(value), response: document["response"]?.document))
        case .failed(let failure): return .over(outcome(.failure(failure)))
        case .asked(let last):
            let call = HostCall(name: last.name, arguments: try Self.document(last.arguments))
            return .asks(LastHostCall(call: call, rest: try Self.document(last.rest), outcome: self))
        }
    }

    fileprivate func outcome(_ result: Result<BSONValue, ScriptFailure>, response: BSONDocument? = nil)
        -> ScriptOutcome
    {
        ScriptOutcome(
            result: result,
            response: response.map { ScriptOutcome.Response($0) },
            messages: messages,
            memoryTime: memoryTime,
            contextRuns: contextRuns
        )
    }

    private static func document(_ text: WireText) throws(ScriptTextFault) -> BSONDocument {
        guard case .document(let document) = try text.value() else { throw ScriptTextFault(position: 0) }
        return document
    }
}

/// The end of a run, which has no use for its worker any more.
enum RunEnd {
    case over(ScriptOutcome)
    case asks(LastHostCall)
}

/// A host call whose answer is what a run returns.
struct LastHostCall {
    let call: HostCall
    /// Where the script asked, as the log shows it.
    private let stack: String?
    /// What else there is of the run.
    private let rest: ScriptOutcome
    /// What the run comes to whatever the answer is; nil for the answer.
    private let then: ScriptOutcome?

    /// Of a run that no worker had.
    init(call: HostCall, stack: String?, rest: ScriptOutcome, then: ScriptOutcome?) {
        self.call = call
        self.stack = stack
        self.rest = rest
        self.then = then
    }

    fileprivate init(call: HostCall, rest: BSONDocument, outcome: WorkerOutcome) {
        self.call = call
        stack = ScriptStack.frames(of: rest["stack"]?.string ?? "")
        self.rest = outcome.outcome(.success(.undefined), response: rest["response"]?.document)
        then = nil
    }

    /// What the caller gets for an answer of at most so many bytes; nil for one that only the engine can say what a
    /// function returns it as.
    func answered(_ value: BSONValue, responseBytes: Int) -> ScriptOutcome? {
        if let then { return then }
        guard BSONBinaryFormat.size(of: value) <= responseBytes else {
            return failed(.tooLarge(responseBytes))
        }
        return value.asReturned.map { returned($0) }
    }

    /// What the caller gets for a refusal.
    func refused(_ error: HostError) -> ScriptOutcome {
        failed(ScriptFailure(.execution, error.message, stack: stack, hostError: error))
    }

    /// The same for a value as a function returned it.
    func returned(_ value: BSONValue) -> ScriptOutcome { outcome(.success(value), response: rest.response) }

    /// The same for a failure.
    func failed(_ failure: ScriptFailure) -> ScriptOutcome { outcome(.failure(failure), response: nil) }

    private func outcome(_ result: Result<BSONValue, ScriptFailure>, response: ScriptOutcome.Response?)
        -> ScriptOutcome
    {
        ScriptOutcome(
            result: result,
            response: response,
            messages: rest.messages,
            memoryTime: rest.memoryTime,
            contextRuns: rest.contextRuns
        )
    }
}
