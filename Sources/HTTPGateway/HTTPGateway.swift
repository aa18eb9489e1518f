public import BSON
public import Hummingbird
public import Observability
public import Services

/// The HTTP door: builds the responder from the services.
public struct HTTPGateway: Sendable {
    let apps: AppRegistry
    let accounts: AccountService
    let data: DataService
    let watches: WatchService
    let functions: FunctionService
    let once: IdempotentRequests
    var settings: GatewaySettings
    let observer: Observer
    let requestIDs: ObjectIDGenerator
    let isReady: @Sendable () async -> Bool
    let gate: RequestGate

    /// Made of the services that it answers for.
    ///
    /// - Parameters:
    ///   - apps: The apps, by client app id.
    ///   - accounts: Answers logins and tokens.
    ///   - data: Answers the Data API.
    ///   - watches: Answers those who watch collections.
    ///   - functions: Runs the apps' functions.
    ///   - settings: Limits, times, and what is known of proxies.
    ///   - observer: Learns of every request.
    ///   - requestIDs: Names the requests.
    ///   - health: Whether requests can be served; everybody may ask, so the answer must cost nothing.
    public init(
        apps: AppRegistry,
        accounts: AccountService,
        data: DataService,
        watches: WatchService,
        functions: FunctionService,
        settings: GatewaySettings,
        observer: Observer,
        requestIDs: ObjectIDGenerator,
        health: @escaping @Sendable () async -> Bool
    ) {
        self.apps = apps
        self.accounts = accounts
        self.data = data
        self.watches = watches
        self.functions = functions
        once = IdempotentRequests(data: data, functions: functions)
        self.settings = settings
        self.observer = observer
        self.requestIDs = requestIDs
        isReady = health
        gate = RequestGate(settings.admission, proxies: settings.trustedProxies)
    }

    /// What new connections pass through.
    public var turnstiles: Turnstiles { gate.turnstiles }

    /// The same gateway under other settings.
    public func with(_ settings: GatewaySettings) -> HTTPGateway {
        var copy = self
        copy.settings = settings
        return copy
    }

    /// Everything that the gateway answers, as one responder for any number of servers.
    public func responder() -> some HTTPResponder<GatewayContext> & DirectResponder {
        GatewayResponder(
            inner: router().buildResponder(),
            dataAPI: dataAPI,
            endpoints: endpoints,
            frame: RequestFrame(
                apps: apps,
                limits: settings.limits,
                tellsTiming: settings.serverTiming,
                gate: gate,
                requestIDs: requestIDs,
                observer: observer
            )
        )
    }

    private var endpoints: EndpointRoutes {
        EndpointRoutes(apps: apps, accounts: accounts, functions: functions, settings: settings, gate: gate)
    }

    private var dataAPI: DataAPIRoutes {
        DataAPIRoutes(
            apps: apps,
            accounts: accounts,
            data: data,
            functions: functions,
            once: once,
            settings: settings,
            gate: gate
        )
    }

    /// The list of all routes.
    func router() -> Router<GatewayContext> {
        let router = Router(context: GatewayContext.self)
        dataAPI.add(to: router)
        LocationRoutes(apps: apps, settings: settings).add(to: router)
        LoginRoutes(apps: apps, accounts: accounts, settings: settings, gate: gate).add(to: router)
        RegistrationRoutes(apps: apps, accounts: accounts, settings: settings, gate: gate).add(to: router)
        APIKeyRoutes(apps: apps, accounts: accounts, settings: settings, gate: gate).add(to: router)
        SessionRoutes(apps: apps, accounts: accounts, settings: settings).add(to: router)
        FunctionRoutes(
            apps: apps,
            accounts: accounts,
            data: data,
            functions: functions,
            once: once,
            settings: settings,
            gate: gate
        ).add(to: router)
        endpoints.add(to: router)
        WatchRoutes(apps: apps, accounts: accounts, watches: watches, settings: settings, gate: gate)
            .add(to: router)
        DocumentRoutes().add(to: router)
        HealthRoutes(isReady: isReady).add(to: router)
        return router
    }
}
