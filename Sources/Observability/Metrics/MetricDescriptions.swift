/// What each metric of ours means, in one sentence: the `HELP` lines.
enum MetricDescriptions {
    /// Empty for a metric that somebody else reports.
    static func help(_ name: String) -> String { table[name] ?? "" }

    private static let table: [String: String] = [
        "tidegate_requests_total": "Requests answered, by method, route, operation and status.",
        "tidegate_request_duration_seconds":
            "Time from a request's head to its answer, by route and operation.",
        "tidegate_request_stage_seconds":
            "Time that requests spent in each stage; only stages that were entered.",
        "tidegate_requests_in_flight": "Requests that are being answered now.",
        "tidegate_denials_total": "Requests answered with an error, by its code and by route.",
        "tidegate_compiled_operations_total":
            "Operations by how much of their filter SQL decides: exact, superset or none.",
        "tidegate_statements_per_request": "Statements sent to PostgreSQL for one request.",
        "tidegate_internal_errors_total": "Failures that are the server's own fault.",
        "tidegate_slow_statements_total": "Statements that took longer than a second.",
        "tidegate_cancelled_statements_total": "Statements stopped at the server.",
        "tidegate_database_connections_opened_total": "Connections to PostgreSQL that were made.",
        "tidegate_database_connections_lost_total": "Connections to PostgreSQL that broke.",
        "tidegate_database_connect_failures_total": "Attempts to connect to PostgreSQL that failed.",
        "tidegate_database_pool_refusals_total":
            "Times that callers were refused or gave up waiting for a connection.",
        "tidegate_database_acquisitions_total": "Times that a connection was asked for.",
        "tidegate_database_connections": "Connections to PostgreSQL, by state.",
        "tidegate_database_connections_max": "Connections to PostgreSQL that there may be.",
        "tidegate_database_waiting": "Callers that wait for a connection.",
        "tidegate_statement_cache_hits_total": "Statements that were prepared already.",
        "tidegate_statement_cache_misses_total": "Statements that had to be prepared.",
        "tidegate_statement_cache_evictions_total": "Prepared statements dropped to make room.",
        "tidegate_statement_cache_size": "Prepared statements held, over all connections.",
        "tidegate_notification_connects_total":
            "Times that listening for notifications began, or began again.",
        "tidegate_configuration_reloads_total": "Configurations of apps that were taken in force.",
        "tidegate_configuration_refusals_total": "Configurations of apps that did not check.",
        "tidegate_apps": "Apps that are served.",
        "tidegate_log_waiting_rows": "Rows that are not yet in the request log.",
        "tidegate_log_lag_seconds": "Age of the oldest row that is not yet in the request log.",
        "tidegate_log_rows_dropped_total": "Rows of the request log that were not written, by reason.",
        "tidegate_watches": "Clients that watch a collection.",
        "tidegate_watch_events_total": "Events sent to clients that watch.",
        "tidegate_watch_failures_total": "Watches ended with an error.",
        "tidegate_functions_running": "Functions under way, those included that wait for a worker.",
        "tidegate_function_workers": "Processes that run functions, by state.",
        "tidegate_function_calls_waiting": "Calls of functions that wait for a worker.",
        "tidegate_build_info": "Always 1; the version is in the label.",
        "process_resident_memory_bytes": "Memory in use.",
        "process_virtual_memory_bytes": "Address space in use.",
        "process_cpu_seconds_total": "Time on processors, of the process and the kernel for it.",
        "process_open_fds": "Open file descriptors.",
        "process_max_fds": "Most file descriptors that may be open.",
        "process_threads": "Threads.",
        "process_start_time_seconds": "When the process began, in seconds since 1970.",
    ]
}
