/// The one error that crosses rooms and reaches callers.
public struct ServiceError: Error, Sendable {
    /// For programs: stable, documented in `openapi/`.
    public let code: ErrorCode
    /// For people: one sentence, safe for any caller, and the same for the log.
    public let sentence: ErrorMessage
    /// The MongoDB server's number, for errors about the query language and the data.
    public let serverCode: ServerErrorCode?
    /// For repair: argument or field path → fact.
    ///
    /// Safe for any caller.
    public let details: [String: String]
    /// For the log alone: no encoder reads it.
    public let cause: (any Error)?

    /// For people: one sentence, safe for any caller.
    public var message: String { sentence.text }

    /// Made of its parts.
    public init(
        _ code: ErrorCode,
        _ message: ErrorMessage,
        serverCode: ServerErrorCode? = nil,
        details: [String: String] = [:],
        cause: (any Error)? = nil
    ) {
        self.code = code
        sentence = message
        self.serverCode = serverCode
        self.details = details
        self.cause = cause
    }

    /// An error as MongoDB itself would raise it: `MongoDBError` with the server's number.
    public static func mongo(
        _ serverCode: ServerErrorCode,
        _ message: ErrorMessage,
        details: [String: String] = [:]
    ) -> ServiceError {
        ServiceError(.mongoDBError, message, serverCode: serverCode, details: details)
    }

    /// As ``mongo(_:_:details:)`` for the codes that have a number but no name.
    public static func mongo(_ number: Int, _ message: ErrorMessage) -> ServiceError {
        .mongo(ServerErrorCode(number), message)
    }
}

extension ServiceError: CustomStringConvertible {
    /// Code and message, for logs and the terminal.
    public var description: String { "\(code.rawValue): \(message)" }
}
