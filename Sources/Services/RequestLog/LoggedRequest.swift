public import Errors
public import Postgres
import SQL

/// One row of `tidegate.logs`, for people.
public struct LoggedRequest: Sendable, Identifiable {
    /// The request's id.
    public let id: String
    /// One line: when, what became of it, what it asked, how long it took, for whom, why.
    ///
    /// Names come from callers; what would steer a terminal is taken out of them.
    public let line: String

    /// Which rows are wanted.
    public struct Selection: Sendable {
        /// Internal id, client app id or name; nil for all apps.
        public var app: String?
        /// Whether failures alone are wanted.
        public var errorsOnly = false
        /// The caller's id.
        public var userID: String?
        /// How far back, as PostgreSQL reads an interval: `1 hour`, `2 days`.
        public var since = "1 hour"
        /// How many at the most, the newest.
        public var limit = 100

        /// The last hour of all apps.
        public init() {}
    }

    /// The newest rows of a selection, oldest first.
    ///
    /// - Throws: `invalidParameter`, whose cause names the argument, for an app that does not exist and the like.
    public static func list(_ selection: Selection, in database: Database) async throws(ServiceError)
        -> [LoggedRequest]
    {
        read(try await database.run(RequestLogStatements.list(selection))).reversed()
    }

    /// The row of one request.
    ///
    /// - Throws: `invalidParameter` for what is no request id.
    public static func find(_ requestID: String, in database: Database) async throws(ServiceError)
        -> [LoggedRequest]
    {
        read(try await database.run(RequestLogStatements.find(requestID)))
    }

    private static func read(_ rows: ResultSet) -> [LoggedRequest] {
        (0..<rows.rowCount).map { row in
            let line = (1..<rows.columns.count).compactMap { rows.text(row, $0) }.joined(separator: "  ")
            return LoggedRequest(id: rows.text(row, 0) ?? "", line: String(line.map(printable)))
        }
    }

    private static func printable(_ character: Character) -> Character {
        let isControl = character.unicodeScalars.contains { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: true
            default: false
            }
        }
        return isControl ? "\u{FFFD}" : character
    }
}

extension RequestLogStatements {
    /// The columns of a line: the id, then what is shown; a NULL is left out.
    private static let columns: SQLFragment = """
        SELECT l.request_id, to_char(l.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
            l.status::text, l.app, coalesce(l.operation, l.method || ' ' || l.route), l.namespace,
            l.duration_ms || ' ms', 'user ' || l.user_id, 'role ' || l.role, 'from ' || l.address, l.code, l.reason,
            'co_id ' || l.request_id
        """

    /// The newest rows of a selection.
    static func list(_ selection: LoggedRequest.Selection) -> SQLFragment {
        columns
            + """
             FROM tidegate.list_logs(\(optional(selection.app)), \(bind: .text(selection.since))::text::interval,
                \(bind: .bool(selection.errorsOnly)), \(optional(selection.userID)),
                \(bind: .int4(Int32(clamping: selection.limit)))) AS l
            """
    }

    /// The row of one request.
    static func find(_ requestID: String) -> SQLFragment {
        columns + " FROM tidegate.find_request(\(bind: .text(requestID))) AS l"
    }

    private static func optional(_ text: String?) -> SQLFragment {
        guard let text else { return "NULL::text" }
        return .bind(.text(text))
    }
}
