/// An error's sentence for its caller, and the same sentence for the log.
///
/// What is interpolated may come from a caller or out of a document, so that the log shows an ellipsis in its
/// place; text that is the program's own is marked as ``StringInterpolation/appendInterpolation(known:)``.
///
/// Shape: `"unknown user '\(name)'"` says `unknown user 'ann'` to the caller and `unknown user '…'` to the log.
public struct ErrorMessage: Sendable, Hashable, ExpressibleByStringInterpolation {
    /// With all values.
    public let text: String
    /// Without values that a caller or a document gave.
    public let logText: String

    init(text: String, logText: String) {
        self.text = text
        self.logText = logText
    }

    /// A sentence without values.
    public init(stringLiteral value: String) {
        text = value
        logText = value
    }

    /// Called by the compiler for a literal with interpolations.
    public init(stringInterpolation: StringInterpolation) {
        text = stringInterpolation.text
        logText = stringInterpolation.logText
    }

    /// One after the other.
    public static func + (left: ErrorMessage, right: ErrorMessage) -> ErrorMessage {
        ErrorMessage(text: left.text + right.text, logText: left.logText + right.logText)
    }

    /// Collects a sentence in both its forms.
    public struct StringInterpolation: StringInterpolationProtocol {
        var text = ""
        var logText = ""

        /// Called by the compiler; the capacities are estimates.
        public init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + interpolationCount * 16)
            logText.reserveCapacity(literalCapacity + interpolationCount * 3)
        }

        /// The program's own words.
        public mutating func appendLiteral(_ literal: String) {
            text += literal
            logText += literal
        }

        /// A value that somebody may not want in a log.
        public mutating func appendInterpolation(_ value: some Any) {
            text += String(describing: value)
            logText += "…"
        }

        /// A name or number that is the program's own, or an administrator's.
        public mutating func appendInterpolation(known value: some Any) {
            let known = String(describing: value)
            text += known
            logText += known
        }

        /// A sentence within a sentence.
        public mutating func appendInterpolation(_ message: ErrorMessage) {
            text += message.text
            logText += message.logText
        }
    }
}

/// A cause of an error that can say what happened without the values that a caller or a document gave.
public protocol LoggableCause: Error {
    /// One line for the log.
    var logText: String { get }
}

extension ServiceError {
    /// The message without values that a caller or a document gave, and what is known of the cause; for logs.
    public var logText: String {
        guard let cause = causeText else { return sentence.logText }
        return "\(sentence.logText): \(cause)"
    }

    /// What is known of the cause; of an error that is not ours its type, since its words may quote anything.
    public var causeText: String? {
        switch cause {
        case nil: nil
        case let cause as ServiceError: "\(cause.code.rawValue): \(cause.logText)"
        case let cause as any LoggableCause: cause.logText
        case let cause?: String(reflecting: type(of: cause))
        }
    }
}
