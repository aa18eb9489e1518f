public import Observability
import Synchronization

extension Database {
    /// What the pool and its prepared statements are doing, for a registry to collect.
    public var metrics: [MetricFamily] {
        let health = health
        let counts = pool.statementCounts
        let states = [("idle", health.idle), ("leased", health.leased)].map { state, count in
            MetricSeries(labels: [.init("state", state)], value: .number(Double(count)))
        }
        return [
            MetricFamily("tidegate_database_connections", .gauge, states),
            MetricFamily("tidegate_database_connections_max", .gauge, Double(pool.settings.maxConnections)),
            MetricFamily("tidegate_database_waiting", .gauge, Double(health.waiting)),
            MetricFamily("tidegate_database_acquisitions_total", .counter, Double(pool.acquisitionCount)),
            MetricFamily(
                "tidegate_statement_cache_hits_total",
                .counter,
                Double(counts.hits.load(ordering: .relaxed))
            ),
            MetricFamily(
                "tidegate_statement_cache_misses_total",
                .counter,
                Double(counts.misses.load(ordering: .relaxed))
            ),
            MetricFamily(
                "tidegate_statement_cache_evictions_total",
                .counter,
                Double(counts.evictions.load(ordering: .relaxed))
            ),
            MetricFamily("tidegate_statement_cache_size", .gauge, Double(pool.preparedCount)),
        ]
    }
}
