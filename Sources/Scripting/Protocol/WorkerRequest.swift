internal import BSON

/// What `context` has of the call alone.
enum CallFact: String {
    case user, request
}

/// What the gateway tells a worker.
enum WorkerRequest {
    /// Comes first, once.
    case limits(ScriptLimits)
    /// A file of a package; follows `bundle`.
    case module(path: String, content: [UInt8])
    /// The functions that runs refer to from now on; forgets the modules of the former.
    case bundle(BSONDocument)
    case run(RunRequest)
    /// The answer to a host call of a run, as ``ScriptJSONWriter`` writes it.
    case reply(run: Int64, call: Int32, Result<[UInt8], HostError>)
    /// What a worker asked for, written likewise.
    case fact(run: Int64, CallFact, [UInt8])
    case check(id: Int64, source: String, file: String)

    /// What a worker is told of a fact when a run begins.
    enum Told {
        /// The worker asks when a script wants to see it.
        case onDemand
        case sent([UInt8])
    }

    /// One run; values are as ``ScriptJSONWriter`` writes them, so that they are read by the engine alone.
    struct RunRequest {
        let id: Int64
        /// Nil for a source without a name.
        let function: String?
        let source: String?
        let isEndpoint: Bool
        let keepsFirstLines: Bool
        let arguments: [UInt8]
        let user: Told
        let request: Told
        let isSystem: Bool
        let milliseconds: Int64
    }

    var document: BSONDocument {
        switch self {
        case .limits(let limits):
            [
                "t": "limits", "memory": .int64(Int64(limits.memoryBytes)),
                "queue": .int64(Int64(limits.queue)),
                "depth": .int64(Int64(limits.depth)), "response": .int64(Int64(limits.responseBytes)),
                "lines": .int64(Int64(limits.logLines)), "lineBytes": .int64(Int64(limits.logLineBytes)),
            ]
        case .module(let path, let content):
            [
                "t": "module", "path": .string(path),
                "content": .binary(BSONBinary(subtype: 0, bytes: content)),
            ]
        case .bundle(let bundle): ["t": "bundle", "bundle": .document(bundle)]
        case .run(let run):
            [
                "t": "run", "run": .int64(run.id), "function": run.function.map { .string($0) } ?? .null,
                "source": run.source.map { .string($0) } ?? .null, "endpoint": .bool(run.isEndpoint),
                "keepsFirst": .bool(run.keepsFirstLines), "arguments": Self.text(run.arguments),
                "user": run.user.value, "request": run.request.value, "system": .bool(run.isSystem),
                "milliseconds": .int64(run.milliseconds),
            ]
        case .reply(let run, let call, .success(let value)):
            ["t": "reply", "run": .int64(run), "call": .int32(call), "value": Self.text(value)]
        case .reply(let run, let call, .failure(let error)):
            ["t": "reply", "run": .int64(run), "call": .int32(call), "error": .document(error.document)]
        case .fact(let run, let fact, let value):
            ["t": "fact", "run": .int64(run), "name": .string(fact.rawValue), "value": Self.text(value)]
        case .check(let id, let source, let file):
            ["t": "check", "run": .int64(id), "source": .string(source), "file": .string(file)]
        }
    }

    /// Nil for what no gateway sends.
    init?(_ document: BSONDocument) {
        let id = document["run"]?.wholeNumber ?? 0
        switch document["t"]?.string {
        case "limits":
            guard let limits = ScriptLimits(document) else { return nil }
            self = .limits(limits)
        case "module":
            guard let path = document["path"]?.string, case .binary(let content)? = document["content"] else {
                return nil
            }
            self = .module(path: path, content: content.bytes)
        case "bundle":
            guard let bundle = document["bundle"]?.document else { return nil }
            self = .bundle(bundle)
        case "run":
            self = .run(
                RunRequest(
                    id: id,
                    function: document["function"]?.string,
                    source: document["source"]?.string,
                    isEndpoint: document["endpoint"]?.bool ?? false,
                    keepsFirstLines: document["keepsFirst"]?.bool ?? false,
                    arguments: Self.bytes(document["arguments"]),
                    user: Told(document["user"]),
                    request: Told(document["request"]),
                    isSystem: document["system"]?.bool ?? false,
                    milliseconds: document["milliseconds"]?.wholeNumber ?? 0
                )
            )
        case "reply":
            let call = Int32(truncatingIfNeeded: document["call"]?.wholeNumber ?? 0)
            if let error = document["error"]?.document {
                self = .reply(run: id, call: call, .failure(HostError(error)))
            } else {
                self = .reply(run: id, call: call, .success(Self.bytes(document["value"])))
            }
        case "fact":
            guard let fact = document["name"]?.string.flatMap({ CallFact(rawValue: $0) }) else { return nil }
            self = .fact(run: id, fact, Self.bytes(document["value"]))
        case "check":
            guard let source = document["source"]?.string, let file = document["file"]?.string else {
                return nil
            }
            self = .check(id: id, source: source, file: file)
        default: return nil
        }
    }
}

extension WorkerRequest {
    fileprivate static func text(_ bytes: [UInt8]) -> BSONValue {
        .binary(BSONBinary(subtype: 0, bytes: bytes))
    }

    fileprivate static func bytes(_ value: BSONValue?) -> [UInt8] {
        if case .binary(let text)? = value { text.bytes } else { [] }
    }
}

extension WorkerRequest.Told {
    fileprivate var value: BSONValue {
        switch self {
        case .onDemand: .null
        case .sent(let text): WorkerRequest.text(text)
        }
    }

    fileprivate init(_ value: BSONValue?) {
        if case .binary(let text)? = value { self = .sent(text.bytes) } else { self = .onDemand }
    }
}

extension ScriptLimits {
    /// The limits that a worker needs to know.
    fileprivate init?(_ document: BSONDocument) {
        func number(_ name: String) -> Int? { document[name]?.wholeNumber.map { Int($0) } }
        guard let memory = number("memory"), let queue = number("queue"), let depth = number("depth"),
            let response = number("response"), let lines = number("lines"), let bytes = number("lineBytes")
        else { return nil }
        self.init(
            memoryBytes: memory,
            queue: queue,
            depth: depth,
            responseBytes: response,
            logLines: lines,
            logLineBytes: bytes
        )
    }
}

extension BSONValue {
    /// The number, if it was written as one of the integer types.
    var wholeNumber: Int64? {
        switch self {
        case .int32(let number): Int64(number)
        case .int64(let number): number
        default: nil
        }
    }
}

extension HostError {
    var document: BSONDocument {
        [
            "message": .string(message), "name": .string(name),
            "code": code.map { .int32(Int32(clamping: $0)) } ?? .null,
            "errorCode": errorCode.map { .string($0) } ?? .null,
        ]
    }

    init(_ document: BSONDocument) {
        self.init(
            document["message"]?.string ?? "",
            name: document["name"]?.string ?? "Error",
            code: document["code"]?.wholeNumber.map { Int($0) },
            errorCode: document["errorCode"]?.string
        )
    }
}
