import Errors
public import Observability
public import Postgres

/// Parses the sources that somebody is about to set in SQL (`tidegate.set_function`), before they are set.
///
/// Who asks is in the middle of a transaction, which can notify nobody: so this looks again and again, more often while
/// somebody sets one function after the other.
public struct SourceQuestions: Sendable {
    private let sources: FunctionSources
    private let database: Database
    private let observer: Observer?

    /// Between two looks: what who asks waits for on average is half of it.
    private static let interval = Duration.milliseconds(200)
    /// The same, for so many looks after a question.
    private static let shortInterval = Duration.milliseconds(20)
    private static let shortIntervals = 50
    /// After a look that failed.
    private static let pause = Duration.seconds(1)

    /// - Parameters:
    ///   - sources: Parses them.
    ///   - database: Where they are asked about.
    ///   - observer: Learns of errors.
    public init(_ sources: FunctionSources, database: Database, observer: Observer?) {
        self.sources = sources
        self.database = database
        self.observer = observer
    }

    /// Answers until its task is cancelled.
    public func run() async {
        var shortIntervals = 0
        while !Task.isCancelled {
            do throws(ServiceError) {
                if try await answerOne() {
                    shortIntervals = Self.shortIntervals
                } else {
                    try? await Task.sleep(for: shortIntervals > 0 ? Self.shortInterval : Self.interval)
                    shortIntervals = max(0, shortIntervals - 1)
                }
            } catch {
                // While the database is away the pool tells of it.
                if error.code != .maintenanceInProgress {
                    observer?.record(.internalError(error, requestID: nil))
                }
                try? await Task.sleep(for: Self.pause)
            }
        }
    }

    /// - Returns: Whether somebody asked.
    private func answerOne() async throws(ServiceError) -> Bool {
        guard let asked = FunctionStatements.readAsked(try await database.run(FunctionStatements.takeSource))
        else { return false }
        var isParsed = true
        var fault: String?
        do throws(ServiceError) {
            try await sources.check(asked.name, source: asked.source, script: asked.script)
        } catch {
            isParsed = error.code == .functionSyntaxError
            if isParsed { fault = error.message }
        }
        _ = try await database.run(
            FunctionStatements.answerSource(asked.question, isParsed: isParsed, fault: fault)
        )
        return true
    }
}
