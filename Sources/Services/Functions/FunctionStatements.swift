import BSON
import Errors
import Postgres
import SQL

/// All SQL of functions but that of their data.
enum FunctionStatements {
    /// The names of all databases that have a collection.
    static let databases: SQLFragment =
        "SELECT DISTINCT database FROM tidegate.collections ORDER BY database"

    /// The names of a database's collections.
    static func collections(database: String) -> SQLFragment {
        """
        SELECT collection FROM tidegate.collections WHERE database = \(bind: .text(database)) ORDER BY collection
        """
    }

    /// The kept files of some paths, each with the digest of its bytes.
    static func archives(app: String, _ paths: [String]) -> SQLFragment {
        """
        SELECT path, encode(sha256(body), 'hex') FROM tidegate.other_files \
        WHERE app = \(bind: .text(app)) AND path = ANY (\(bind: .textArray(paths)))
        """
    }

    /// The bytes of a kept file, in hexadecimal digits.
    static func file(app: String, path: String) -> SQLFragment {
        """
        SELECT encode(body, 'hex') FROM tidegate.other_files \
        WHERE app = \(bind: .text(app)) AND path = \(bind: .text(path))
        """
    }

    /// A run that this gateway has taken.
    struct ClaimedRun {
        let id: Int64
        let appID: String
        let name: String
        /// Extended JSON.
        let arguments: String
    }

    /// What became of a run.
    struct RunOutcome {
        /// Canonical Extended JSON.
        var result: String?
        var error: String?
        var code: String?
        var messages: [String] = []
    }

    /// Takes the run that has waited longest; it counts as lost after so many seconds.
    static func claimRun(seconds: Int32, requestID: String) -> SQLFragment {
        """
        SELECT run, app, name, arguments \
        FROM tidegate.claim_function_run(\(bind: .int4(seconds)), \(bind: .text(requestID)))
        """
    }

    /// The row of ``claimRun(seconds:requestID:)``, nil when nothing waits.
    static func readClaimed(_ rows: ResultSet) -> ClaimedRun? {
        guard rows.rowCount > 0, let id = rows.int(0, 0), let appID = rows.text(0, 1),
            let name = rows.text(0, 2), let arguments = rows.text(0, 3)
        else { return nil }
        return ClaimedRun(id: Int64(id), appID: appID, name: name, arguments: arguments)
    }

    /// A source that somebody is about to set, and that this gateway is to parse.
    struct AskedSource {
        /// The number under which the answer is awaited.
        let question: Int64
        let name: String
        let source: String
        let script: String?
    }

    /// Takes a source that is to be parsed, and says that somebody listens.
    static let takeSource: SQLFragment = "SELECT question, name, source, script FROM tidegate.take_source()"

    /// The row of ``takeSource``, nil when nobody asks.
    static func readAsked(_ rows: ResultSet) -> AskedSource? {
        guard rows.rowCount > 0, let question = rows.int(0, 0), let name = rows.text(0, 1),
            let source = rows.text(0, 2)
        else { return nil }
        return AskedSource(question: Int64(question), name: name, source: source, script: rows.text(0, 3))
    }

    /// Tells who asked under a number whether the engine had the time to parse the source, and what is wrong with it.
    static func answerSource(_ question: Int64, isParsed: Bool, fault: String?) -> SQLFragment {
        """
        SELECT tidegate.answer_source(\(bind: .int(question)), \(bind: .bool(isParsed)), \(optional(fault)))
        """
    }

    /// Writes what became of a run.
    static func finishRun(_ id: Int64, _ outcome: RunOutcome) -> SQLFragment {
        """
        SELECT tidegate.finish_function_run(\(bind: .int(id)), \(optional(outcome.result))::json, \
        \(optional(outcome.error)), \(optional(outcome.code)), \
        \(bind: .textArray(outcome.messages.map(storable))))
        """
    }

    /// Removes what ended long ago.
    static let trimRuns: SQLFragment = "SELECT tidegate.trim_function_runs()"

    private static func optional(_ text: String?) -> SQLFragment {
        text.map { .bind(.text(storable($0))) } ?? "NULL"
    }

    /// PostgreSQL has no U+0000 in a text.
    private static func storable(_ text: String) -> String {
        text.utf8.contains(0) ? text.replacing("\0", with: "\u{FFFD}") : text
    }
}

extension FunctionHost {
    /// The first column of a statement.
    func names(_ statement: SQLFragment) async throws(ServiceError) -> BSONValue {
        let rows = try await service.data.database.run(statement, plan: .generic, deadline: call.deadline)
        return .array((0..<rows.rowCount).map { .string(rows.text($0, 0) ?? "") })
    }
}
