public import BSON

/// What became of a run.
public struct ScriptOutcome: Sendable {
    /// What `response` of an endpoint's function holds at the end.
    public struct Response: Sendable, Hashable {
        /// `setStatusCode`; nil when it was not called.
        public var status: Int?
        /// `setBody`; nil when it was not called.
        public var body: [UInt8]?
        /// `setHeader` and `addHeader`, in their order.
        public var headers: [Header]

        /// A header of the answer.
        public struct Header: Sendable, Hashable {
            /// As the function spelled it.
            public let name: String
            /// One of its values.
            public let value: String

            /// Made of its parts.
            public init(name: String, value: String) {
                self.name = name
                self.value = value
            }
        }

        /// Made of its parts.
        public init(status: Int? = nil, body: [UInt8]? = nil, headers: [Header] = []) {
            self.status = status
            self.body = body
            self.headers = headers
        }
    }

    /// What the entry returned, or why it did not.
    public let result: Result<BSONValue, ScriptFailure>
    /// For the form `endpoint`.
    public let response: Response?
    /// What the script wrote to the console, in order; bounded in number and length by the pool's limits.
    public let messages: [String]
    /// Bytes · milliseconds that the run held, as the log tells.
    public let memoryTime: Int64
    /// How many runs its context has served, this one included; 0 for one that had none.
    public let contextRuns: Int

    /// Made of its parts.
    public init(
        result: Result<BSONValue, ScriptFailure>,
        response: Response? = nil,
        messages: [String] = [],
        memoryTime: Int64 = 0,
        contextRuns: Int = 0
    ) {
        self.result = result
        self.response = response
        self.messages = messages
        self.memoryTime = memoryTime
        self.contextRuns = contextRuns
    }
}

/// Why a run has no value.
///
/// Source of the texts: `reference/functions.md` §9.
public struct ScriptFailure: Error, Sendable, Hashable {
    /// The kind, for whoever makes an answer of it.
    public enum Reason: Sendable, Hashable {
        /// No function of this name is in the bundle.
        case notFound
        /// The script threw, or did what it must not.
        case execution
        /// A source that does not parse.
        case syntax
        /// `execution time limit exceeded`
        case time
        /// `memory limit exceeded`
        case memory
        /// The worker ended before its script did.
        case crash
        /// No worker was free in time; the caller may try again.
        case busy
        /// No worker was free as long as the caller waited; nothing ran.
        case abandoned
    }

    /// The kind.
    public let reason: Reason
    /// What the caller is told.
    public let message: String
    /// `file:line:column` of each frame, for the log alone.
    public let stack: String?
    /// What a host call failed with, when its error is what ended the script: carries codes on.
    public let hostError: HostError?

    /// Made of its parts.
    public init(_ reason: Reason, _ message: String, stack: String? = nil, hostError: HostError? = nil) {
        self.reason = reason
        self.message = message
        self.stack = stack
        self.hostError = hostError
    }
}
