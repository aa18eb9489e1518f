import CLibpq
import Errors
import Glibc

/// Opens a session, blocking, and makes it what statements rely on.
struct OpenedSession: ~Copyable {
    private var handle: OpaquePointer?

    /// Connects, checks the server and sets the session up: one round trip after the handshake.
    ///
    /// - Throws: `invalidSetting` for a server that is too old or not UTF-8; `maintenanceInProgress` with
    ///   libpq's reason for anything else.
    ///
    /// - Parameters:
    ///   - settings: Where to connect, and the session's limits.
    ///   - extra: Commands in the same round trip.
    ///   - alone: A command that must not share its transaction, as `CREATE DATABASE`.
    init(
        _ settings: PostgresSettings,
        extra: [String] = [],
        alone: String? = nil
    ) throws(ServiceError) {
        guard let handle = Self.connect(settings) else {
            throw .connectionLost("out of memory")
        }
        do throws(ServiceError) {
            PQsetNoticeProcessor(handle, { _, _ in }, nil)
            guard PQstatus(handle) == CONNECTION_OK else { throw Self.unreachable(handle) }
            try Self.check(handle)
            let script = (Self.preparation(settings) + extra).joined(separator: "; ")
            try Self.execute(script, handle, within: settings.connectTimeout)
            if let alone { try Self.execute(alone, handle, within: .seconds(600)) }
        } catch {
            PQfinish(handle)
            throw error
        }
        self.handle = handle
    }

    deinit {
        if let handle { PQfinish(handle) }
    }

    /// Hands the connection over.
    consuming func take() -> OpaquePointer {
        guard let taken = handle.take() else { preconditionFailure("a session is handed over once") }
        return taken
    }

    private static func connect(_ settings: PostgresSettings) -> OpaquePointer? {
        // Later entries win, and `dbname` expands in place: what stands before it are defaults.
        let parameters: [(String, String)] = [
            ("connect_timeout", String(max(2, settings.connectTimeout.components.seconds))),
            ("application_name", "tidegate"), ("keepalives_idle", "30"), ("keepalives_interval", "10"),
            ("keepalives_count", "3"), ("tcp_user_timeout", "30000"),
            ("dbname", settings.connectionString), ("client_encoding", "UTF8"),
        ]
        var keywords = parameters.map { UnsafePointer(strdup($0.0)) }
        var values = parameters.map { UnsafePointer(strdup($0.1)) }
        defer { for text in keywords + values { free(UnsafeMutablePointer(mutating: text)) } }
        keywords.append(nil)
        values.append(nil)
        return PQconnectdbParams(keywords, values, 1)
    }

    /// PostgreSQL 15 for the jsonpath and `MERGE` that statements use; UTF-8 because text is sent so.
    private static func check(_ handle: OpaquePointer) throws(ServiceError) {
        let version = PQserverVersion(handle)
        guard version >= 150_000 else {
            throw ServiceError(
                .invalidSetting,
                "PostgreSQL 15 or newer is needed; the server is \(version / 10000)"
            )
        }
        let encoding = PQparameterStatus(handle, "server_encoding").map { String(cString: $0) } ?? "unknown"
        guard encoding == "UTF8" else {
            throw ServiceError(.invalidSetting, "the database's encoding must be UTF8; it is \(encoding)")
        }
    }

    private static func preparation(_ settings: PostgresSettings) -> [String] {
        [
            "SET search_path = pg_catalog", "SET TimeZone = 'UTC'", "SET DateStyle = 'ISO, YMD'",
            "SET IntervalStyle = 'iso_8601'", "SET bytea_output = 'hex'", "SET extra_float_digits = 1",
            "SET standard_conforming_strings = on", "SET jit = off", "SET client_min_messages = warning",
            "SET plan_cache_mode = force_custom_plan",
            // A gateway that is gone cannot use the answer; Linux servers notice while the statement runs.
            "SET client_connection_check_interval = '5s'",
            "SET statement_timeout = \(milliseconds(settings.statementTimeout))",
            "SET idle_in_transaction_session_timeout = \(milliseconds(settings.idleInTransactionTimeout))",
        ]
    }

    /// As `PQexec`, but with an end: whoever opens sessions opens those of all callers, and must not wait for
    /// ever for a server that let us in and then fell silent.
    private static func execute(
        _ command: String,
        _ handle: OpaquePointer,
        within limit: Duration
    ) throws(ServiceError) {
        let end = Timeline.adding(limit, to: Timeline.now)
        guard PQsendQuery(handle, command) == 1 else { throw unreachable(handle) }
        while true {
            while PQisBusy(handle) == 1 {
                let left = (end - Timeline.now) / 1_000_000
                guard left > 0 else {
                    throw unreachable("the server accepted the connection, but does not answer")
                }
                var socket = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
                _ = poll(&socket, 1, Int32(clamping: left))
                guard socket.revents == 0 || PQconsumeInput(handle) == 1 else { throw unreachable(handle) }
            }
            guard let result = PQgetResult(handle) else { return }
            defer { PQclear(result) }
            guard PQresultStatus(result) == PGRES_COMMAND_OK else { throw unreachable(handle) }
        }
    }

    private static func milliseconds(_ duration: Duration) -> Int64 {
        min(max(0, Timeline.nanoseconds(duration) / 1_000_000), Int64(Int32.max))
    }

    private static func unreachable(_ handle: OpaquePointer) -> ServiceError {
        let reason = PQerrorMessage(handle).map { String(cString: $0) } ?? "unknown reason"
        return unreachable(reason.split(separator: "\n").joined(separator: " "))
    }

    private static func unreachable(_ reason: String) -> ServiceError {
        ServiceError(
            .maintenanceInProgress,
            "the database cannot be reached",
            cause: PostgresFailure(sqlState: .connectionFailure, message: reason)
        )
    }
}
