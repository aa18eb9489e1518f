import Errors
import HTTPGateway
import Postgres
import Services

/// How many connections there may be, and how long they may do nothing.
struct ConnectionLimits: Sendable {
    var most = 10_000
    /// Seconds, all of them.
    var headTimeout = 30
    var idleTimeout = 75
    var writeTimeout = 30
}

/// Who may wait for PostgreSQL, and how long.
struct QueueLimits: Sendable {
    var statements = 1000
    var seconds = 10
}

extension ServerSettings {
    /// The pool, with the request's time as the server's own limit for a statement.
    func postgres(_ url: String) -> PostgresSettings {
        var result = PostgresSettings(connectionString: url, maxConnections: poolSize)
        result.maxWaiting = queue.statements
        result.acquireTimeout = .seconds(queue.seconds)
        result.statementTimeout = gateway.requestTimeout
        result.maxResultBytes = 4 * data.resultBytes
        result.idleInTransactionTimeout = gateway.requestTimeout
        return result
    }
}

extension TrustedProxies {
    /// `10.0.0.0/8, 192.0.2.1`.
    static func parse(_ list: String) throws(ServiceError) -> TrustedProxies {
        var ranges: [NetworkRange] = []
        for part in list.split(separator: ",") {
            let text = String(part.filter { $0 != " " })
            guard let range = NetworkRange(text) else {
                throw ServiceError(
                    .invalidSetting,
                    "trusted-proxies: '\(text)' is neither an address nor a range such as 10.0.0.0/8"
                )
            }
            ranges.append(range)
        }
        return TrustedProxies(ranges)
    }
}
