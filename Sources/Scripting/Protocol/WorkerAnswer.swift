internal import BSON

/// What a worker tells the gateway.
enum WorkerAnswer {
    /// The script asks for something.
    case hostCall(run: Int64, call: Int32, HostCall)
    /// A run is over; `mayGoOn` is false when the worker is about to end.
    case done(run: Int64, ScriptOutcome, mayGoOn: Bool)
    case checked(run: Int64, SyntaxFault?)

    var document: BSONDocument {
        switch self {
        case .hostCall(let run, let call, let asked):
            [
                "t": "call", "run": .int64(run), "call": .int32(call), "name": .string(asked.name),
                "arguments": .document(asked.arguments),
            ]
        case .done(let run, let outcome, let mayGoOn):
            [
                "t": "done", "run": .int64(run), "goOn": .bool(mayGoOn),
                "outcome": .document(outcome.document),
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
            guard let call = document["call"]?.wholeNumber, let name = document["name"]?.string else {
                return nil
            }
            self = .hostCall(
                run: run,
                call: Int32(truncatingIfNeeded: call),
                HostCall(name: name, arguments: document["arguments"]?.document ?? [:])
            )
        case "done":
            guard let outcome = document["outcome"]?.document.flatMap({ ScriptOutcome($0) }) else {
                return nil
            }
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

extension ScriptOutcome {
    fileprivate var document: BSONDocument {
        var document: BSONDocument = [
            "messages": .array(messages.map { .string($0) }), "memoryTime": .int64(memoryTime),
            "contextRuns": .int64(Int64(contextRuns)),
        ]
        switch result {
        case .success(let value): document.append("value", value)
        case .failure(let failure):
            document.append("failure", .document(failure.document))
        }
        if let response {
            document.append(
                "response",
                .document([
                    "status": response.status.map { .int32(Int32($0)) } ?? .null,
                    "body": response.body.map { .binary(BSONBinary(subtype: 0, bytes: $0)) } ?? .null,
                    "headers": .array(
                        response.headers.map {
                            .document(["name": .string($0.name), "value": .string($0.value)])
                        }
                    ),
                ])
            )
        }
        return document
    }

    fileprivate init?(_ document: BSONDocument) {
        let result: Result<BSONValue, ScriptFailure>
        if let failure = document["failure"]?.document {
            result = .failure(ScriptFailure(failure))
        } else {
            result = .success(document["value"] ?? .undefined)
        }
        self.init(
            result: result,
            response: document["response"]?.document.map { Response($0) },
            messages: (document["messages"]?.array ?? []).compactMap(\.string),
            memoryTime: document["memoryTime"]?.wholeNumber ?? 0,
            contextRuns: Int(document["contextRuns"]?.wholeNumber ?? 0)
        )
    }
}

extension ScriptOutcome.Response {
    /// Of the document that the runtime's `endpoint.js` makes, or of one that crossed the socket.
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
    /// Nobody was free.
    static let busy = ScriptFailure(.busy, "too many functions are running; try again later")
    /// Nobody waits for it any more.
    static let abandoned = ScriptFailure(.abandoned, "the caller has gone before a worker was free")
}
