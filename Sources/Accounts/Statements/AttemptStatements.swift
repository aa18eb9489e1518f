public import SQL

/// All SQL about attempts that gateways count together, migration `0020_account_limits.sql`.
public enum AttemptStatements {
    /// Takes a token of each bucket.
    ///
    /// - Parameters:
    ///   - keys: 32 hexadecimal digits each.
    ///   - steps: Microseconds in which each gets a token.
    ///   - bursts: How many tokens each holds.
    /// - Returns: A statement whose rows tell a bucket's place in the list, and in how many microseconds it is full.
    public static func charge(keys: [String], steps: [Int64], bursts: [Int32]) -> SQLFragment {
        """
        SELECT place::bigint, remaining FROM tidegate.charge_attempts(
            \(bind: .textArray(keys)), \(bind: .intArray(steps)), \(bind: .int4Array(bursts)))
        """
    }

    /// Forgets buckets that are full.
    public static let trim: SQLFragment = "SELECT tidegate.trim_attempts()"
}
