public import Errors
public import Scripting

/// Every refusal and failure of functions, with the text and code that clients know.
///
/// Source: `reference/functions.md` §9.
public enum FunctionFailure {
    /// No function of that name, or none that the caller may know of.
    public static func notFound(_ name: String) -> ServiceError {
        ServiceError(.functionNotFound, "function not found: '\(name)'")
    }
    /// `can_evaluate` does not hold.
    public static func notAdmitted(_ name: String) -> ServiceError {
        ServiceError(.functionExecutionError, "rule not matched for function \"\(known: name)\"")
    }
    /// The user that it would run as is not there, or disabled.
    public static func noSuchUser(_ name: String) -> ServiceError {
        ServiceError(
            .functionExecutionError,
            "function \"\(known: name)\" cannot run as its user: user not found"
        )
    }
    /// A script that names nobody.
    public static func noIdentity(_ name: String) -> ServiceError {
        ServiceError(
            .functionExecutionError,
            "run_as_user_id_script_source of function \"\(known: name)\" must return a user id or { runAsSystem: true }"
        )
    }
    /// As many run as may.
    static func tooMany(_ most: Int) -> ServiceError {
        ServiceError(
            .tooManyRequests,
            "more than \(known: most) functions of one app at once (limit max-concurrent-functions)",
            details: ["limit": "max-concurrent-functions"]
        )
    }

    /// The answer to a run that failed.
    public static func error(_ failure: ScriptFailure, name: String) -> ServiceError {
        let cause = Cause(failure: failure)
        return switch failure.reason {
        case .notFound: notFound(name)
        case .syntax: ServiceError(.functionSyntaxError, "\(failure.message)", cause: cause)
        case .time: ServiceError(.executionTimeLimitExceeded, "execution time limit exceeded", cause: cause)
        case .memory: ServiceError(.functionExecutionError, "memory limit exceeded", cause: cause)
        // Whoever has gone is told nothing, but the log.
        case .busy, .abandoned:
            ServiceError(
                .tooManyRequests,
                "too many functions at once",
                details: ["limit": "function-workers"],
                cause: cause
            )
        case .execution, .crash: ServiceError(.functionExecutionError, "\(failure.message)", cause: cause)
        }
    }

    /// Why a run has no value: the cause of the error that its caller gets.
    public struct Cause: LoggableCause, Sendable {
        /// As the engine tells it.
        public let failure: ScriptFailure

        /// The kind alone; what a script throws may quote anything, and stands in its own column of the log.
        public var logText: String { "the function failed: \(failure.reason)" }
    }
}
