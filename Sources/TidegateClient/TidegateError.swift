public import Foundation

/// What went wrong, as a program and as a person reads it.
public struct TidegateError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Where it went wrong.
    public enum Kind: Sendable, Hashable {
        /// The server refused; ``TidegateError/code`` is its code.
        case service
        /// No answer came: no connection, a connection that was lost, or a time limit.
        case network
        /// The answer was not one of a gateway's.
        case invalidAnswer
        /// The user's session has ended, or nobody is logged in.
        case loggedOut
        /// A document or value that cannot be read or written.
        case invalidDocument
        /// An argument that no server needs to see to be refused.
        case invalidArgument
        /// The queue or a local store cannot be read or written.
        case storage
    }

    /// Where it went wrong.
    public let kind: Kind
    /// One sentence.
    public let message: String
    /// The HTTP status of the answer; 0 without.
    public var status = 0
    /// The server's `error_code`, such as `NoMatchingRuleFound`.
    public var code: String?
    /// MongoDB's number for errors of the data, such as 11000.
    public var serverCode: Int?
    /// Ends in the id under which the server's log has the request.
    public var link: String?
    /// Seconds after which the server wants to be asked again.
    public var retryAfter: TimeInterval?

    /// Of a kind, with a sentence.
    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// The sentence, with the code when there is one.
    public var description: String { code.map { "\($0): \(message)" } ?? message }

    /// Whether the same request may succeed later: nobody decided against it.
    public var isTransient: Bool {
        switch kind {
        case .network, .invalidAnswer: true
        case .service: status >= 500 || status == 429 || status == 408 || code == "IdempotencyKeyInUse"
        case .loggedOut, .invalidDocument, .invalidArgument, .storage: false
        }
    }
}

extension TidegateError {
    /// Of an answer whose status says that it is an error.
    init(status: Int, body: [UInt8], retryAfter: String?) {
        let document = (try? ExtendedJSONReader.read(body))?.documentValue
        guard let document, let message = document["error"]?.stringValue else {
            self.init(.invalidAnswer, "status \(status), without an error that a gateway would send")
            self.status = status
            return
        }
        self.init(.service, message)
        self.status = status
        code = document["error_code"]?.stringValue
        serverCode = document["code"]?.asInt
        link = document["link"]?.stringValue
        self.retryAfter = retryAfter.flatMap { TimeInterval($0) }
    }
}

extension TidegateError: LocalizedError {
    /// As ``description``.
    public var errorDescription: String? { description }
}
