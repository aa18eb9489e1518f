/// Bounds on watches, of each gateway.
public struct WatchLimits: Sendable {
    /// Watches at once; 0 is no limit.
    public var most: Int
    /// Watches of one user at once; 0 is no limit.
    public var mostPerUser: Int
    /// Seconds that a watch may be behind the changes because its client reads slowly.
    public var lagSeconds: Int
    /// Hours that changes are kept, so that a client can go on where it was.
    public var retentionHours: Int

    /// The defaults, but for what is given.
    public init(most: Int = 5000, mostPerUser: Int = 50, lagSeconds: Int = 60, retentionHours: Int = 24) {
        self.most = most
        self.mostPerUser = mostPerUser
        self.lagSeconds = lagSeconds
        self.retentionHours = retentionHours
    }
}
