import Observability
import Postgres
import Synchronization

@testable import Services

/// Requests to log, and what an observer was told of the log.
final class RequestLogFixture: Sendable {
    let log: RequestLog
    /// Of the ids of its requests: no other fixture has it.
    let prefix = String(UInt64.random(in: 1 << 60...(.max)), radix: 16)
    private let observed: Observed

    private final class Observed: Sendable {
        let all = Mutex<[Observation]>([])
    }

    init(_ settings: RequestLog.Settings = .init(), capacity: Int = 20_000) {
        let observed = Observed()
        self.observed = observed
        log = RequestLog(
            settings: settings,
            capacity: capacity,
            observer: Observer { observation in observed.all.withLock { $0.append(observation) } }
        )
    }

    /// How many rows the observer was told were lost, by cause.
    var lost: [LogLoss: Int] {
        observed.all.withLock { observations in
            observations.reduce(into: [:]) { sum, observation in
                if case .logRowsDropped(let rows, let loss, _) = observation { sum[loss, default: 0] += rows }
            }
        }
    }

    /// How often a loss was worth a line in the log.
    var news: Int {
        observed.all.withLock { observations in
            observations.count { observation in
                if case .logRowsDropped(_, _, true) = observation { true } else { false }
            }
        }
    }

    /// A request that was just answered.
    func record(
        _ number: Int = 0,
        status: Int = 400,
        method: String = "POST",
        route: String = "/app/:appID/endpoint/data/:version/action/:action",
        _ change: (inout RequestTrace.Facts) -> Void = { _ in }
    ) -> RequestRecord {
        let digits = String(number, radix: 16)
        let trace = RequestTrace(
            requestID: prefix + String(repeating: "0", count: 8 - digits.count) + digits
        )
        trace.note { facts in
            facts.clientAppID = "todo-abcde"
            change(&facts)
        }
        return trace.record(method: method, route: route, status: status)
    }
}
