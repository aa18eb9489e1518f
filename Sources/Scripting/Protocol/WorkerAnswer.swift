internal import BSON

/// What a worker tells the gateway.
enum WorkerAnswer {
    /// The script asks for something; the text is a document.
    case hostCall(run: Int64, call: Int32, name: String, WireText)
    /// The script wants to see what it was not sent, and waits for it.
    case wants(run: Int64, CallFact)
    /// A run is over; `mayGoOn` is false when the worker is about to end.
    case done(run: Int64, WorkerOutcome, mayGoOn: Bool)
    case checked(run: Int64, SyntaxFault?)

    /// The run that is over with it, unless the worker ends with it, too.
    var freedBy: Int64? {
        switch self {
        case .done(let run, _, mayGoOn: true), .checked(let run, _): run
        case .done, .hostCall, .wants: nil
        }
    }

    var document: BSONDocument {
        switch self {
        case .hostCall(let run, let call, let name, let text):
            [
                "t": "call", "run": .int64(run), "call": .int32(call), "name": .string(name),
                "text": text.binary,
            ]
        case .wants(let run, let fact): ["t": "fact", "run": .int64(run), "name": .string(fact.rawValue)]
        case .done(let run, let outcome, let mayGoOn):
            [
                "t": "done", "run": .int64(run), "goOn": .bool(mayGoOn),
                "messages": .array(outcome.messages.map { .string($0) }),
                "memoryTime": .int64(outcome.memoryTime), "contextRuns": .int64(Int64(outcome.contextRuns)),
                outcome.ending.name: outcome.ending.content,
            ]
        case .checked(let run, let fault):
            [
                "t": "checked", "run": .int64(run),
                "fault": fault.map {
                    .document([
                        "file": .string($0.file), "line": .int64(Int64($0.line)),
                        "column": .int64(Int64($0.column)), "message": .string($0.message),
                    ])
                } ?? .null,
            ]
        }
    }

    /// Nil for what no worker sends.
    init?(_ document: BSONDocument) {
        guard let run = document["run"]?.wholeNumber else { return nil }
        switch document["t"]?.string {
        case "call":
            guard let call = document["call"]?.wholeNumber, let name = document["name"]?.string,
                case .binary(let text)? = document["text"]
            else { return nil }
            let number = Int32(truncatingIfNeeded: call)
            self = .hostCall(run: run, call: number, name: name, WireText(text))
        case "fact":
            guard let fact = document["name"]?.string.flatMap({ CallFact(rawValue: $0) }) else { return nil }
            self = .wants(run: run, fact)
        case "done":
            guard let outcome = WorkerOutcome(document) else { return nil }
            self = .done(run: run, outcome, mayGoOn: document["goOn"]?.bool ?? false)
        case "checked":
            let fault = document["fault"]?.document.map { fault in
                SyntaxFault(
                    file: fault["file"]?.string ?? "",
                    line: Int(fault["line"]?.wholeNumber ?? 0),
                    column: Int(fault["column"]?.wholeNumber ?? 0),
                    message: fault["message"]?.string ?? ""
                )
            }
            self = .checked(run: run, fault)
        default: return nil
        }
    }
}

extension WorkerEnding {
    fileprivate var name: String {
        switch self {
        case .returned: "text"
        case .failed: "failure"
        case .asked: "last"
        }
    }

    fileprivate var content: BSONValue {
        switch self {
        case .returned(let text): text.binary
        case .failed(let failure): .document(failure.document)
        case .asked(let last):
            ["name": .string(last.name), "arguments": last.arguments.binary, "rest": last.rest.binary]
        }
    }

    fileprivate init?(_ document: BSONDocument) {
        if case .binary(let text)? = document["text"] {
            self = .returned(WireText(text))
        } else if let failure = document["failure"]?.document {
            self = .failed(ScriptFailure(failure))
        } else if let last = document["last"]?.document, let name = last["name"]?.string,
            case .binary(let arguments)? = last["arguments"], case .binary(let rest)? = last["rest"]
        {
            self = .asked(LastCall(name: name, arguments: WireText(arguments), rest: WireText(rest)))
        } else {
            return nil
        }
    }
}

extension WorkerOutcome {
    fileprivate init?(_ document: BSONDocument) {
        guard let ending = WorkerEnding(document) else { return nil }
        self.ending = ending
        messages = (document["messages"]?.array ?? []).compactMap(\.string)
        memoryTime = document["memoryTime"]?.wholeNumber ?? 0
        contextRuns = Int(document["contextRuns"]?.wholeNumber ?? 0)
    }
}

extension ScriptOutcome.Response {
    /// Of the document that the runtime's `endpoint.js` makes.
    init(_ document: BSONDocument) {
        self.init(status: document["status"]?.wholeNumber.map { Int($0) })
        if case .binary(let body)? = document["body"] { self.body = body.bytes }
        for case .document(let header) in document["headers"]?.array ?? [] {
            headers.append(Header(name: header["name"]?.string ?? "", value: header["value"]?.string ?? ""))
        }
    }
}

extension ScriptFailure {
    private static let reasons: [(Reason, String)] = [
        (.notFound, "notFound"), (.execution, "execution"), (.syntax, "syntax"), (.time, "time"),
        (.memory, "memory"), (.crash, "crash"), (.busy, "busy"),
        (.abandoned, "abandoned"),
    ]

    fileprivate var document: BSONDocument {
        [
            "reason": .string(Self.reasons.first { $0.0 == reason }?.1 ?? "execution"),
            "message": .string(message), "stack": stack.map { .string($0) } ?? .null,
            "host": hostError.map { .document($0.document) } ?? .null,
        ]
    }

    fileprivate init(_ document: BSONDocument) {
        let name = document["reason"]?.string
        self.init(
            Self.reasons.first { $0.1 == name }?.0 ?? .execution,
            document["message"]?.string ?? "",
            stack: document["stack"]?.string,
            hostError: document["host"]?.document.map { HostError($0) }
        )
    }

    /// The run took too long.
    static let time = ScriptFailure(.time, "execution time limit exceeded")
    /// The worker grew too large.
    static let memory = ScriptFailure(.memory, "memory limit exceeded")
    /// The worker ended before its script did.
    static let crash = ScriptFailure(.crash, "the process that ran the function ended unexpectedly")
    /// The result has more than so many bytes.
    static func tooLarge(_ bytes: Int) -> ScriptFailure {
        ScriptFailure(.execution, "the result is larger than \(bytes >> 20) MB")
    }
    /// Nobody was free.
    static let busy = ScriptFailure(.busy, "too many functions are running; try again later")
    /// Nobody waits for it any more.
    static let abandoned = ScriptFailure(.abandoned, "the caller has gone before a worker was free")
}
