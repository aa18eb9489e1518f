import Accounts
import BSON
import Errors
import HTTPTypes
import Hummingbird
import Observability
import Services

/// Logging in and linking (client-api.md §§3, 8).
struct LoginRoutes {
    let apps: AppRegistry
    let accounts: AccountService
    let settings: GatewaySettings
    let gate: RequestGate

    private static let providers = "/api/client/v2.0/app/:appID/auth/providers"

    func add(to router: Router<GatewayContext>) {
        router.post("\(Self.providers)/:provider/login") { request, context -> Response in
            let app = try apps.require(context)
            context.note("login \(context.knownProvider)", request, app: app, mayWrite: true, settings)
            let body = try await ClientAPIBody(request, settings: settings, gate: gate).document
            let provider = try context.parameters.require("provider")
            // Before what it would want to be told.
            if let kind = ProviderConfiguration.Kind(rawValue: provider),
                app.accounts.enabledProvider(kind) == nil
            {
                throw AccountFailure.providerNotFound(provider)
            }
            let credentials = try Credentials.parse(provider: provider, body)
            let head = RequestHead(request, context)
            let address = settings.trustedProxies.client(of: head)
            let device = DeviceInformation(loginBody: body)
            let result = try await RequestFacts(head, settings: settings).atHand {
                guard request.uri.queryParameters["link"] == "true" else {
                    return try await accounts.logIn(
                        credentials,
                        device: device,
                        app.accounts,
                        from: address
                    )
                }
                return try await accounts.link(
                    credentials,
                    accessToken: request.headers.bearerToken,
                    device: device,
                    app.accounts,
                    from: address,
                    identified: context.caller(apps)
                )
            }
            context.trace.note { $0.userID = result.userID }
            return Response.json(result.document)
        }
        // The flow through a browser window begins and ends here (client-api.md §3.3).
        router.get("\(Self.providers)/:provider/login") { request, context -> Response in
            let app = try apps.require(context)
            context.note("redirect \(context.knownProvider)", request, app: app, settings)
            throw AccountFailure.redirectFlowNotServed
        }
        router.get("/api/client/v2.0/auth/callback") { request, context -> Response in
            context.note("redirect callback", request, settings)
            throw AccountFailure.redirectFlowNotServed
        }
    }
}

extension AppRegistry {
    /// The app that the path names.
    func require(_ context: GatewayContext) throws(ServiceError) -> AppSnapshot {
        let id = context.parameters.get("appID") ?? ""
        guard let app = app(clientAppID: id) else { throw ServiceError.unknownApp(id) }
        return app
    }
}
