import SQL

/// All SQL about watching, beside the functions of migration 0011.
enum WatchStatements {
    /// One row: outcome, collection id, logged since.
    static func begin(database: String, collection: String) -> SQLFragment {
        """
        SELECT outcome, collection_id, logged_since \
        FROM tidegate.begin_watch(\(bind: .text(database)), \(bind: .text(collection)))
        """
    }

    /// One row: the log's id, up to where it was trimmed, the transactions that have ended.
    static let log: SQLFragment = """
        SELECT l.id, l.trimmed_to, pg_current_snapshot()::text FROM tidegate.change_log l
        """

    /// One row: how far the log reaches, and who may still add to it.
    static let horizon: SQLFragment = "SELECT horizon, writers FROM tidegate.change_horizon()"

    /// The next changes of some collections in the order of the log: so many rows, and so many bytes.
    ///
    /// Rows: seq, transaction, collection, operation, before, its shape, after, its shape, time, and how many rows there
    /// were before the bytes were counted.
    ///
    /// - Parameters:
    ///   - collections: Whose changes.
    ///   - after: The place behind which to begin.
    ///   - end: The last place.
    ///   - transaction: Only changes of this transaction or later ones; they are found by an index.
    ///   - rows: At most so many.
    ///   - bytes: At most so many, as stored; the first change comes in any case.
    /// - Returns: One statement.
    static func page(
        of collections: [Int32],
        after: Int64,
        through end: Int64,
        since transaction: UInt64? = nil,
        rows: Int,
        bytes: Int
    ) -> SQLFragment {
        var found: SQLFragment = """
            SELECT c.seq, c.transaction, c.collection_id, c.operation, c.before, c.before_shape, c.after, c.after_shape, \
            c.at, coalesce(pg_column_size(c.before), 0) + coalesce(pg_column_size(c.after), 0) AS size \
            FROM tidegate.changes c WHERE c.collection_id = ANY (\(bind: .int4Array(collections))) \
            AND c.seq > \(bind: .int(after)) AND c.seq <= \(bind: .int(end))
            """
        if let transaction {
            found += " AND c.transaction >= \(bind: .text(String(transaction)))::text::xid8"
        }
        // A new watch begins at the log's start and skips what had ended: never a scan of the whole log by number.
        let materialized: SQLFragment = transaction == nil ? "" : "MATERIALIZED"
        return """
            WITH f AS \(materialized) (\(found)), \
            n AS (SELECT * FROM f ORDER BY seq LIMIT \(bind: .int(Int64(rows)))), \
            s AS (SELECT n.*, sum(size) OVER (ORDER BY seq) AS total FROM n) \
            SELECT seq, transaction::text, collection_id, operation, before, before_shape, after, after_shape, \
            floor(extract(epoch FROM at))::bigint, (SELECT count(*) FROM n) FROM s WHERE total - size < \(bind: .int(Int64(bytes))) ORDER BY seq
            """
    }

    /// Which of these collections are there: id, database, collection.
    static func present(_ ids: [Int32]) -> SQLFragment {
        "SELECT id, database, collection FROM tidegate.collections WHERE id = ANY (\(bind: .int4Array(ids)))"
    }

    /// The ids of collections by their names: database, collection, id.
    static func ids(of databases: [String], _ collections: [String]) -> SQLFragment {
        """
        SELECT c.database, c.collection, c.id FROM tidegate.collections c \
        JOIN unnest(\(bind: .textArray(databases)), \(bind: .textArray(collections))) AS n (d, c) \
        ON n.d = c.database AND n.c = c.collection WHERE c.mapped IS NULL
        """
    }

    /// Of these sessions, those that stand and whose users' tokens count.
    static func standing(sessions: [String], issuedAt: [Int64]) -> SQLFragment {
        """
        SELECT DISTINCT n.id, n.issued FROM unnest(\(bind: .textArray(sessions)), \(bind: .intArray(issuedAt))) AS n (id, issued) \
        JOIN tidegate.sessions s ON s.id = n.id JOIN tidegate.users u ON u.id = s.user_id AND u.app = s.app \
        WHERE s.revoked_at IS NULL AND s.expires_at > now() AND NOT u.disabled \
        AND coalesce(n.issued >= floor(extract(epoch FROM u.tokens_valid_from)), true)
        """
    }

    /// Notes that collections are watched.
    static func keep(_ databases: [String], _ collections: [String]) -> SQLFragment {
        """
        SELECT tidegate.keep_watches(\(bind: .textArray(databases)), \(bind: .textArray(collections)))
        """
    }

    /// Ends the logging of one collection that nobody watches any more.
    static func end(afterHours hours: Int) -> SQLFragment {
        "SELECT tidegate.end_watch(make_interval(hours => \(bind: .int4(Int32(clamping: hours)))))"
    }

    /// Forgets old changes.
    static func sweep(afterHours hours: Int) -> SQLFragment {
        "SELECT tidegate.sweep_changes(make_interval(hours => \(bind: .int4(Int32(clamping: hours)))))"
    }
}
