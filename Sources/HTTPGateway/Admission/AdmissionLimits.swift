/// How many requests may come, at once and in time; 0 is no limit.
public struct AdmissionLimits: Sendable {
    /// Requests under way at once.
    public var concurrentRequests: Int
    /// Requests of one user under way at once.
    public var concurrentRequestsPerUser: Int
    /// Bytes of the bodies of all requests under way; only bodies above 64 KiB count.
    public var bufferedBodyBytes: Int
    /// Requests of one user in a second, in the long run.
    public var requestsPerSecondPerUser: Int
    /// Requests that one user may save up.
    public var requestBurstPerUser: Int
    /// Requests of one address in a second that no good credentials come with.
    public var requestsPerSecondPerAddress: Int
    /// Requests that one address may save up.
    public var requestBurstPerAddress: Int

    /// The defaults, but for what is given.
    ///
    /// Source: data-api.md §11, 10,000 at once; the hosted service had no other bound.
    public init(
        concurrentRequests: Int = 10_000,
        concurrentRequestsPerUser: Int = 0,
        bufferedBodyBytes: Int = 512 << 20,
        requestsPerSecondPerUser: Int = 0,
        requestBurstPerUser: Int = 1000,
        requestsPerSecondPerAddress: Int = 0,
        requestBurstPerAddress: Int = 1000
    ) {
        self.concurrentRequests = concurrentRequests
        self.concurrentRequestsPerUser = concurrentRequestsPerUser
        self.bufferedBodyBytes = bufferedBodyBytes
        self.requestsPerSecondPerUser = requestsPerSecondPerUser
        self.requestBurstPerUser = requestBurstPerUser
        self.requestsPerSecondPerAddress = requestsPerSecondPerAddress
        self.requestBurstPerAddress = requestBurstPerAddress
    }
}
