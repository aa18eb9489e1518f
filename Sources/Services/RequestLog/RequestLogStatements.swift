import BSON
import Observability
import SQL

/// The statements of ``RequestLog``.
enum RequestLogStatements {
    /// Writes rows, all in one statement.
    ///
    /// Times are sent as ages, so that every row is dated by the database's clock, whichever gateway wrote
    /// it and however long it waited.
    ///
    /// - Parameters:
    ///   - records: The requests.
    ///   - now: The moment that ages are counted from.
    ///   - mayRepeat: Whether some may be there already, and are to be left as they are.
    /// - Returns: The statement.
    static func insert(
        _ records: [RequestRecord],
        now: ContinuousClock.Instant,
        mayRepeat: Bool
    ) -> SQLFragment {
        // Looked at in place: `map` of the array would copy each record for each column.
        func column<Value>(_ value: (RequestRecord) -> Value) -> [Value] {
            records.withUnsafeBufferPointer { rows in rows.indices.map { value(rows[$0]) } }
        }
        func numbers(_ value: (RequestRecord) -> Int64) -> SQLFragment {
            .bind(.intArray(column(value)))
        }
        // An empty text stands for NULL, which an array of texts cannot hold here; a column without any has no elements
        // at all, where `unnest` has NULL for each.
        func texts(_ value: (RequestRecord) -> String?) -> SQLFragment {
            let texts = column { storable(value($0) ?? "") }
            return .bind(.textArray(texts.allSatisfy(\.isEmpty) ? [] : texts))
        }
        // Rows wait here before they are written, so that a crash loses some in any case: no commit need wait for the disk.
        return """
            WITH haste AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
            INSERT INTO tidegate.logs (at, type, app, user_id, method, route, operation, namespace, status, code,
                role, reason, duration_ms, database_ms, statements, request_id, address,
                function, arguments, messages, error, memory_time)
            SELECT now() - r.age * interval '1 microsecond', r.type, nullif(r.app, ''), nullif(r.user_id, ''),
                r.method, r.route, nullif(r.operation, ''), nullif(r.namespace, ''), r.status,
                nullif(r.code, ''), nullif(r.role, ''), nullif(r.reason, ''), r.duration / 1000.0,
                r.waited / 1000.0, r.statements, r.request_id, nullif(r.address, ''),
                nullif(r.function, ''), nullif(r.arguments, '')::json,
                CASE WHEN r.messages <> '' THEN ARRAY(SELECT json_array_elements_text(r.messages::json)) END,
                nullif(r.error, ''), CASE WHEN r.function <> '' THEN r.memory_time END
            FROM haste, unnest(\(numbers { ($0.start.duration(to: now)).microseconds }), \(texts(type)),
                \(texts { $0.facts.clientAppID }), \(texts { $0.facts.userID }), \(texts(method)),
                \(texts { $0.route }), \(texts { $0.facts.operation }), \(texts { $0.facts.namespace }),
                \(numbers { Int64($0.status) }), \(texts { $0.facts.errorCode }), \(texts { $0.facts.role }),
                \(texts { $0.facts.reason }), \(numbers { $0.duration.microseconds }),
                \(numbers { $0.stages[.database].microseconds }), \(numbers { Int64($0.facts.statements) }),
                \(texts { $0.requestID }), \(texts(address)), \(texts { $0.facts.function?.name }),
                \(texts { $0.facts.function?.arguments }), \(texts(messages)),
                \(texts { $0.facts.function?.error ?? $0.facts.failure }), \(numbers { $0.facts.function?.memoryTime ?? 0 }))
                AS r (age, type, app, user_id, method, route, operation, namespace, status, code, role, reason,
                    duration, waited, statements, request_id, address, function, arguments, messages, error,
                    memory_time)
            WHERE NOT \(bind: .bool(mayRepeat)) OR NOT EXISTS (
                SELECT FROM tidegate.logs l
                WHERE l.request_id = r.request_id AND l.at > now() - interval '1 day')
            """
    }

    /// Makes the partitions of the days that come and drops those that are over.
    static func sweep(keepingDays days: Int) -> SQLFragment {
        "SELECT tidegate.sweep_logs(make_interval(days => \(bind: .int4(Int32(clamping: days)))))"
    }

    /// The hosted service's name for what was called.
    private static func type(_ record: RequestRecord) -> String {
        if let type = record.facts.logType { return type }
        if record.route.hasPrefix("/app/") { return "ENDPOINT" }
        if record.facts.function != nil, record.route.hasSuffix("/functions/call") { return "FUNCTION" }
        return record.route.hasPrefix("/api/client/") && record.route.contains("/auth/") ? "AUTH" : "API"
    }

    /// A JSON array, since an array of arrays would have to be rectangular; empty for no lines.
    private static func messages(_ record: RequestRecord) -> String? {
        guard let lines = record.facts.function?.messages, !lines.isEmpty else { return nil }
        return ExtendedJSON.relaxed(.array(lines.map { .string(storable($0)) }))
    }

    /// HTTP/2 lets a caller send any word as the method.
    private static func method(_ record: RequestRecord) -> String {
        methods.contains(record.method) ? record.method : "OTHER"
    }

    private static let methods: Set<String> = [
        "GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "SQL", "TRIGGER",
    ]

    /// A trusted proxy passes on whatever it was told.
    private static func address(_ record: RequestRecord) -> String? {
        guard let address = record.facts.address else { return nil }
        let isAddress = address.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: ":"), UInt8(ascii: "."),
                UInt8(ascii: "a")...UInt8(ascii: "f"),
                UInt8(ascii: "A")...UInt8(ascii: "F"):
                true
            default: false
            }
        }
        return isAddress ? address : "unknown"
    }

    /// PostgreSQL has no U+0000 in a text.
    private static func storable(_ text: String) -> String {
        text.utf8.contains(0) ? text.replacing("\0", with: "\u{FFFD}") : text
    }
}

extension Duration {
    fileprivate var microseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds &* 1_000_000 &+ attoseconds / 1_000_000_000_000
    }
}
