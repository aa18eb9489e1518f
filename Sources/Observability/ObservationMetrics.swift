import CoreMetrics

/// The metrics of one observer; handles are made once and kept, since making one asks the factory.
final class ObservationMetrics: Sendable {
    private let requests: RequestMetrics
    private let internalErrors: Counter
    private let slowStatements: Counter
    private let cancelledStatements: Counter
    private let connectionsOpened: Counter
    private let connectionsLost: Counter
    private let connectFailures: Counter
    private let poolRefusals: Counter
    private let listenings: Counter
    private let reloads: Counter
    private let refusedReloads: Counter
    private let droppedLogRows: [LogLoss: Counter]

    /// - Parameter factory: Where the series are kept.
    init(factory: any MetricsFactory) {
        requests = RequestMetrics(factory: factory)
        internalErrors = Counter(label: "tidegate_internal_errors_total", factory: factory)
        slowStatements = Counter(label: "tidegate_slow_statements_total", factory: factory)
        cancelledStatements = Counter(label: "tidegate_cancelled_statements_total", factory: factory)
        connectionsOpened = Counter(label: "tidegate_database_connections_opened_total", factory: factory)
        connectionsLost = Counter(label: "tidegate_database_connections_lost_total", factory: factory)
        connectFailures = Counter(label: "tidegate_database_connect_failures_total", factory: factory)
        poolRefusals = Counter(label: "tidegate_database_pool_refusals_total", factory: factory)
        listenings = Counter(label: "tidegate_notification_connects_total", factory: factory)
        reloads = Counter(label: "tidegate_configuration_reloads_total", factory: factory)
        refusedReloads = Counter(label: "tidegate_configuration_refusals_total", factory: factory)
        droppedLogRows = Dictionary(
            uniqueKeysWithValues: LogLoss.allCases.map { loss in
                let label = "tidegate_log_rows_dropped_total"
                return (
                    loss,
                    Counter(label: label, dimensions: [("reason", loss.rawValue)], factory: factory)
                )
            }
        )
    }

    func record(_ observation: Observation) {
        switch observation {
        case .requestStarted: requests.started()
        case .requestFinished(let record): requests.finished(record)
        case .runFinished(let record): requests.count(record)
        case .internalError, .unmappedSQLState: internalErrors.increment()
        case .slowStatement: slowStatements.increment()
        case .statementCancelled: cancelledStatements.increment()
        case .connectionOpened: connectionsOpened.increment()
        case .connectionLost: connectionsLost.increment()
        case .connectFailed: connectFailures.increment()
        case .listening: listenings.increment()
        case .poolExhausted: poolRefusals.increment()
        case .configurationReloaded: reloads.increment()
        case .configurationRefused: refusedReloads.increment()
        case .logRowsDropped(let rows, let loss, _): droppedLogRows[loss]?.increment(by: Int64(rows))
        case .databaseNotice, .migrationApplied, .lifecycle: break
        }
    }
}
