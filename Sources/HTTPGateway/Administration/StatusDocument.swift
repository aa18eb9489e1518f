import BSON
import Observability

/// `/status.json`: what the status page shows, in seconds, bytes and numbers.
struct StatusDocument {
    let telemetry: Telemetry
    let faults: [Readiness.Fault]

    /// Most rows of each table.
    private static let rows = 12

    var document: BSONDocument {
        let families = telemetry.registry.families
        let routes = telemetry.history.routes(until: families)
        let now = ContinuousClock.now
        return [
            "version": .string(Telemetry.version),
            "uptime": .double((now - telemetry.startedAt) / .seconds(1)),
            "startTime": .double(families.sum("process_start_time_seconds")),
            "interval": .double(TrafficHistory.interval / .seconds(1)),
            "faults": .array(
                faults.map { ["part": .string($0.part.rawValue), "reason": .string($0.reason)] }
            ),
            "points": .array(telemetry.history.points.map { Self.point($0, now: now) }),
            "routes": .array(Self.routes(routes)),
            "denials": .array(Self.denials(routes)),
            "requests": .double(families.sum("tidegate_requests_total")),
            "inFlight": .double(families.sum("tidegate_requests_in_flight")),
            "apps": .double(families.sum("tidegate_apps")),
            "reloads": .double(families.sum("tidegate_configuration_reloads_total")),
            "refusals": .double(families.sum("tidegate_configuration_refusals_total")),
            "pool": .document(Self.pool(families)),
            "statements": [
                "prepared": .double(families.sum("tidegate_statement_cache_size")),
                "hits": .double(families.sum("tidegate_statement_cache_hits_total")),
                "misses": .double(families.sum("tidegate_statement_cache_misses_total")),
                "evictions": .double(families.sum("tidegate_statement_cache_evictions_total")),
            ],
            "process": [
                "memory": .double(families.sum("process_resident_memory_bytes")),
                "processor": .double(families.sum("process_cpu_seconds_total")),
                "descriptors": .double(families.sum("process_open_fds")),
                "threads": .double(families.sum("process_threads")),
            ],
        ]
    }

    private static func point(_ point: TrafficPoint, now: ContinuousClock.Instant) -> BSONValue {
        [
            "age": .double((now - point.time) / .seconds(1)),
            "requests": .double(point.requestsPerSecond),
            "failures": .double(point.failuresPerSecond),
            "denials": .double(point.denialsPerSecond),
            "p50": point.median.map { .double($0) } ?? .null,
            "p99": point.percentile99.map { .double($0) } ?? .null,
            "inFlight": .double(point.inFlight),
            "waiting": .double(point.waiting),
            "leased": .double(point.leased),
            "processor": .double(point.processorShare),
            "memory": .double(point.memory),
        ]
    }

    private static func pool(_ families: [MetricFamily]) -> BSONDocument {
        var document = BSONDocument()
        for series in families.series("tidegate_database_connections") {
            document.append(series["state"], .double(series.number))
        }
        document.append("most", .double(families.sum("tidegate_database_connections_max")))
        document.append("waiting", .double(families.sum("tidegate_database_waiting")))
        document.append("acquisitions", .double(families.sum("tidegate_database_acquisitions_total")))
        document.append("refusals", .double(families.sum("tidegate_database_pool_refusals_total")))
        return document
    }

    /// The slowest first.
    private static func routes(_ routes: TrafficReading.Routes) -> [BSONValue] {
        routes.durations.filter { $0.value.count > 0 }
            .sorted { ($0.value.quantile(0.99) ?? 0) > ($1.value.quantile(0.99) ?? 0) }
            .prefix(rows)
            .map { name, durations in
                [
                    "route": .string(name.route),
                    "operation": .string(name.operation),
                    "count": .double(Double(durations.count)),
                    "mean": .double(durations.mean),
                    "p50": .double(durations.quantile(0.5) ?? 0),
                    "p99": .double(durations.quantile(0.99) ?? 0),
                ]
            }
    }

    /// The most frequent first.
    private static func denials(_ routes: TrafficReading.Routes) -> [BSONValue] {
        routes.denials.sorted { ($0.value, $1.key.code) > ($1.value, $0.key.code) }
            .prefix(rows)
            .map { denial, count in
                [
                    "code": .string(denial.code),
                    "route": .string(denial.name.route),
                    "operation": .string(denial.name.operation),
                    "count": .double(count),
                ]
            }
    }
}
