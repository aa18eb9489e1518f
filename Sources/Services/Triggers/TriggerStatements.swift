import SQL

/// All SQL about triggers at work, beside the functions of migration 0017.
enum TriggerStatements {
    /// How long a gateway has a trigger to itself without a sign of life.
    static let leaseSeconds = 15

    /// Has the collections logged that triggers follow.
    static let keepListeners: SQLFragment = "SELECT tidegate.keep_trigger_listeners()"

    /// One row: a collection's id, and behind which change all of its changes are logged; none for one that is not
    /// there or has no log.
    static func collection(database: String, _ collection: String) -> SQLFragment {
        """
        SELECT c.id, c.logged_since FROM tidegate.collections c \
        WHERE c.database = \(bind: .text(database)) AND c.collection = \(bind: .text(collection)) \
        AND 'trigger' = ANY (c.listeners)
        """
    }

    /// One row: the number of the last change.
    static let newestChange: SQLFragment = "SELECT horizon FROM tidegate.change_horizon()"

    /// Takes a trigger that no living gateway runs.
    ///
    /// One row: where to go on, and how many runs failed in a row; none where another gateway runs it, or it is
    /// suspended or gone.
    static func claim(
        _ key: TriggerKey,
        owner: String,
        source: String,
        start: Int64,
        skipsPause: Bool
    ) -> SQLFragment {
        """
        INSERT INTO tidegate.trigger_states AS s (app, name, source, position, owner, lease_until) \
        SELECT t.app, t.name, \(bind: .text(source)), \(bind: .int(start)), \(bind: .text(owner)), \
        clock_timestamp() + make_interval(secs => \(bind: .int4(Int32(leaseSeconds)))) \
        FROM tidegate.triggers t WHERE t.app = \(bind: .text(key.app)) AND t.name = \(bind: .text(key.name)) \
        ON CONFLICT ON CONSTRAINT trigger_states_pkey DO UPDATE SET owner = excluded.owner, \
        lease_until = excluded.lease_until, source = excluded.source, paused = false, \
        position = CASE WHEN s.source = excluded.source AND NOT (s.paused AND \(bind: .bool(skipsPause))) \
        THEN s.position ELSE excluded.position END \
        WHERE s.suspended_at IS NULL AND (s.owner IS NULL OR s.owner = excluded.owner \
        OR s.lease_until < clock_timestamp()) RETURNING s.position, s.failures
        """
    }

    /// What a gateway tells of a trigger that it runs.
    struct Progress {
        var position: Int64
        var handled: Int64 = 0
        var failed: Int64 = 0
        var failures: Int
        var lastError: String?
        var hasRun = false
    }

    /// Notes what was done, and keeps the trigger; no row when it is no longer this gateway's.
    static func advance(_ key: TriggerKey, owner: String, _ progress: Progress) -> SQLFragment {
        """
        UPDATE tidegate.trigger_states s SET position = \(bind: .int(progress.position)), \
        handled = s.handled + \(bind: .int(progress.handled)), failed = s.failed + \(bind: .int(progress.failed)), \
        failures = \(bind: .int4(Int32(clamping: progress.failures))), \
        last_error = coalesce(\(bind: progress.lastError.map { .text($0) } ?? .null)::text, s.last_error), \
        last_error_at = CASE WHEN \(bind: .bool(progress.lastError != nil)) THEN clock_timestamp() ELSE s.last_error_at END, \
        last_run_at = CASE WHEN \(bind: .bool(progress.hasRun)) THEN clock_timestamp() ELSE s.last_run_at END, \
        lease_until = clock_timestamp() + make_interval(secs => \(bind: .int4(Int32(leaseSeconds)))) \
        WHERE s.app = \(bind: .text(key.app)) AND s.name = \(bind: .text(key.name)) \
        AND s.owner = \(bind: .text(owner)) AND s.suspended_at IS NULL RETURNING true
        """
    }

    /// Stops a trigger until an operator lets it go on.
    static func suspend(_ key: TriggerKey, owner: String, reason: String) -> SQLFragment {
        """
        UPDATE tidegate.trigger_states s SET suspended_at = clock_timestamp(), \
        suspended_reason = \(bind: .text(reason)), owner = NULL, lease_until = NULL \
        WHERE s.app = \(bind: .text(key.app)) AND s.name = \(bind: .text(key.name)) AND s.owner = \(bind: .text(owner))
        """
    }

    /// Gives a trigger back, so that another gateway takes it at once.
    static func release(_ key: TriggerKey, owner: String) -> SQLFragment {
        """
        UPDATE tidegate.trigger_states s SET owner = NULL, lease_until = NULL \
        WHERE s.app = \(bind: .text(key.app)) AND s.name = \(bind: .text(key.name)) AND s.owner = \(bind: .text(owner))
        """
    }

    /// The oldest events of an authentication trigger: id, operation, providers as JSON, account, seconds since 1970.
    static func authEvents(_ key: TriggerKey, limit: Int) -> SQLFragment {
        """
        SELECT e.id, e.operation, to_json(e.providers)::text, e.account::text, \
        floor(extract(epoch FROM e.at) * 1000)::bigint FROM tidegate.auth_events e \
        WHERE e.app = \(bind: .text(key.app)) AND e.name = \(bind: .text(key.name)) \
        ORDER BY e.id LIMIT \(bind: .int4(Int32(clamping: limit)))
        """
    }

    /// Forgets an event that has been handled.
    static func forget(_ key: TriggerKey, through id: Int64) -> SQLFragment {
        """
        DELETE FROM tidegate.auth_events e WHERE e.app = \(bind: .text(key.app)) \
        AND e.name = \(bind: .text(key.name)) AND e.id <= \(bind: .int(id))
        """
    }
}

/// Which trigger of which app.
struct TriggerKey: Sendable, Hashable {
    let app: String
    let name: String
}
