import Metrics
import Synchronization

/// The metrics of one observer; handles are made once and kept, since making one asks the factory.
final class ObservationMetrics: Sendable {
    private struct Series: Hashable {
        var route: String
        var method: String
        var status: Int
    }

    private let requests = Mutex<[Series: Metrics.Timer]>([:])
    private let internalErrors = Counter(label: "tidegate_internal_errors_total")
    private let slowStatements = Counter(label: "tidegate_slow_statements_total")
    private let cancelledStatements = Counter(label: "tidegate_cancelled_statements_total")
    private let connectionsOpened = Counter(label: "tidegate_database_connections_opened_total")
    private let connectionsLost = Counter(label: "tidegate_database_connections_lost_total")
    private let connectFailures = Counter(label: "tidegate_database_connect_failures_total")
    private let poolRefusals = Counter(label: "tidegate_database_pool_refusals_total")
    private let reloads = Counter(label: "tidegate_configuration_reloads_total")
    private let droppedLogRows = Dictionary(
        uniqueKeysWithValues: LogLoss.allCases.map { loss in
            let label = "tidegate_log_rows_dropped_total"
            return (loss, Counter(label: label, dimensions: [("reason", loss.rawValue)]))
        }
    )
    private let refusedReloads = Counter(label: "tidegate_configuration_refusals_total")

    func record(_ observation: Observation) {
        switch observation {
        case .requestFinished(let record):
            timer(Series(route: record.route, method: record.method, status: record.status))
                .record(duration: record.duration)
        case .internalError, .unmappedSQLState: internalErrors.increment()
        case .slowStatement: slowStatements.increment()
        case .statementCancelled: cancelledStatements.increment()
        case .connectionOpened: connectionsOpened.increment()
        case .connectionLost: connectionsLost.increment()
        case .connectFailed: connectFailures.increment()
        case .poolExhausted: poolRefusals.increment()
        case .configurationReloaded: reloads.increment()
        case .configurationRefused: refusedReloads.increment()
        case .logRowsDropped(let rows, let loss, _): droppedLogRows[loss]?.increment(by: Int64(rows))
        case .databaseNotice, .migrationApplied, .lifecycle: break
        }
    }

    private func timer(_ series: Series) -> Metrics.Timer {
        requests.withLock { timers in
            if let known = timers[series] { return known }
            let made = Metrics.Timer(
                label: "tidegate_request_seconds",
                dimensions: [
                    ("method", series.method), ("route", series.route), ("status", String(series.status)),
                ]
            )
            timers[series] = made
            return made
        }
    }
}
