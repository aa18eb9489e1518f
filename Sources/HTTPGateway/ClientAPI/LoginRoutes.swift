import Accounts
import BSON
import Errors
import HTTPTypes
import Hummingbird
import Observability
import Services

/// Logging in and registering (client-api.md §§3, 11).
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
            if request.uri.queryParameters["link"] == "true" {
                throw ServiceError(.badRequest, "linking identities is not served yet")
            }
            let body = try await ClientAPIBody(request, settings: settings, gate: gate).document
            let credentials = try Credentials.parse(
                provider: try context.parameters.require("provider"),
                body
            )
            let result = try await accounts.logIn(
                credentials,
                device: DeviceInformation(loginBody: body),
                app.accounts,
                from: settings.trustedProxies.client(of: RequestHead(request, context))
            )
            context.trace.note { $0.userID = result.userID }
            return Response.json(result.document)
        }
        router.post("\(Self.providers)/:provider/register") { request, context -> Response in
            let app = try apps.require(context)
            context.note("register \(context.knownProvider)", request, app: app, mayWrite: true, settings)
            guard try context.parameters.require("provider") == "local-userpass" else {
                return Response.empty(.notFound)
            }
            let body = try await ClientAPIBody(request, settings: settings, gate: gate)
            try await accounts.register(
                email: try body.text("email"),
                password: try body.text("password"),
                app.accounts
            )
            return Response.empty(.created)
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
