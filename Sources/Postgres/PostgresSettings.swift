/// How to reach PostgreSQL, and the bounds of the pool.
///
/// The defaults suit one gateway beside its database. The connection string may hold a password, so a
/// value of this type is never printed whole; ``safeDescription`` is for logs.
public struct PostgresSettings: Sendable {
    /// A libpq connection string or URI (`host=… dbname=…`, `postgresql://…`); `PG…` variables fill gaps.
    public var connectionString: String
    /// Most connections that are open at once.
    public var maxConnections: Int
    /// Most callers that wait for a connection; one more is refused at once.
    public var maxWaiting: Int
    /// How long a caller waits for a connection.
    public var acquireTimeout: Duration
    /// What the server itself allows one statement; callers' deadlines may be shorter.
    public var statementTimeout: Duration
    /// How long the server lets a transaction sit between statements.
    public var idleInTransactionTimeout: Duration
    /// How long one attempt to connect may take; whole seconds, at least two.
    public var connectTimeout: Duration
    /// How long a cancelled statement may go on before its connection is given up.
    public var cancelGrace: Duration
    /// From which duration on a statement is reported as slow.
    public var slowStatement: Duration
    /// About how many bytes of one reply are taken in; a statement whose rows are more is cancelled.
    public var maxResultBytes: Int
    /// Most prepared statements a connection keeps.
    public var maxPreparedStatements: Int
    /// Threads that read replies.
    public var ioThreads: Int

    /// Settings with the defaults, to be changed field by field.
    public init(connectionString: String, maxConnections: Int = 16) {
        self.connectionString = connectionString
        self.maxConnections = maxConnections
        maxWaiting = 4096
        acquireTimeout = .seconds(10)
        statementTimeout = .seconds(60)
        idleInTransactionTimeout = .seconds(60)
        connectTimeout = .seconds(10)
        cancelGrace = .seconds(5)
        slowStatement = .seconds(1)
        maxResultBytes = 256 << 20
        maxPreparedStatements = 500
        ioThreads = 1
    }
}
