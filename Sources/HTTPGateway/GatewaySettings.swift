/// How the HTTP door behaves; a value from the command line.
public struct GatewaySettings: Sendable {
    /// The status of a successful insert.
    ///
    /// Sources disagree (data-api.md §3), clients may too.
    public enum InsertStatus: Int, Sendable {
        case created = 201
        case ok = 200
    }

    /// How much one request may hold.
    public var limits: RequestLimits
    /// How many requests may come, at once and in time.
    public var admission: AdmissionLimits
    /// How long a request may take to arrive in full, once its head is here.
    public var bodyTimeout: Duration
    /// How long a request may run.
    public var requestTimeout: Duration
    /// What `insertOne` and `insertMany` answer with.
    public var insertStatus: InsertStatus
    /// Origin that clients are told to use (`https://api.example.com`); nil derives it per request.
    public var publicURL: String?
    /// Addresses of proxies whose `X-Forwarded-*` headers count.
    public var trustedProxies: TrustedProxies
    /// Whether answers tell where their time went; whoever may not know that can learn from it.
    public var serverTiming: Bool

    /// The defaults, but for what is given.
    public init(
        limits: RequestLimits = RequestLimits(),
        admission: AdmissionLimits = AdmissionLimits(),
        bodyTimeout: Duration = .seconds(30),
        requestTimeout: Duration = .seconds(300),
        insertStatus: InsertStatus = .created,
        publicURL: String? = nil,
        trustedProxies: TrustedProxies = TrustedProxies(),
        serverTiming: Bool = false
    ) {
        self.limits = limits
        self.admission = admission
        self.bodyTimeout = bodyTimeout
        self.requestTimeout = requestTimeout
        self.insertStatus = insertStatus
        self.publicURL = publicURL
        self.trustedProxies = trustedProxies
        self.serverTiming = serverTiming
    }
}
