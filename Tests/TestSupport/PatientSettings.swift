public import Postgres

extension PostgresSettings {
    /// For tests: no wait ends because this process, full of tests, was slow to go on.
    ///
    /// - Parameters:
    ///   - connectionString: As libpq takes it.
    ///   - maxConnections: At most so many.
    /// - Returns: The defaults with waits of a quarter of an hour.
    public static func patient(_ connectionString: String, maxConnections: Int = 16) -> PostgresSettings {
        var settings = PostgresSettings(connectionString: connectionString, maxConnections: maxConnections)
        settings.acquireTimeout = .seconds(900)
        settings.statementTimeout = .seconds(900)
        settings.idleInTransactionTimeout = .seconds(900)
        settings.connectTimeout = .seconds(60)
        return settings
    }
}
