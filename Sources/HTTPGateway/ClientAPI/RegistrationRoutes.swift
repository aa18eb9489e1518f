import Accounts
import BSON
import Errors
import HTTPTypes
import Hummingbird
import Services

/// Email/password registration, confirmation and reset (client-api.md §11).
///
/// A stale `Authorization` header is not looked at. Success has no body and no content type.
struct RegistrationRoutes {
    let apps: AppRegistry
    let accounts: AccountService
    let settings: GatewaySettings
    let gate: RequestGate

    /// What a request asks about, once its path and body are read.
    private struct Call {
        let body: ClientAPIBody
        let settings: AccountSettings
        let address: NetworkAddress?
    }

    func add(to router: Router<GatewayContext>) {
        add("register", .created, to: router) { call in
            try await accounts.register(
                email: try call.body.text("email"),
                password: try call.body.text("password"),
                call.settings,
                from: call.address
            )
        }
        add("confirm", .ok, to: router) { call in
            try await accounts.confirm(
                token: try call.body.text("token"),
                tokenID: try call.body.text("tokenId"),
                call.settings,
                from: call.address
            )
        }
        add("confirm/send", .ok, to: router) { call in
            try await accounts.sendConfirmation(
                email: try call.body.text("email"),
                call.settings,
                from: call.address
            )
        }
        add("confirm/call", .ok, to: router) { call in
            try await accounts.callConfirmation(
                email: try call.body.text("email"),
                call.settings,
                from: call.address
            )
        }
        add("reset", .ok, to: router) { call in
            try await accounts.reset(
                token: try call.body.text("token"),
                tokenID: try call.body.text("tokenId"),
                password: try call.body.text("password"),
                call.settings,
                from: call.address
            )
        }
        add("reset/send", .ok, to: router) { call in
            try await accounts.sendReset(
                email: try call.body.text("email"),
                call.settings,
                from: call.address
            )
        }
        add("reset/call", .ok, to: router) { call in
            try await accounts.callReset(
                email: try call.body.text("email"),
                password: try call.body.text("password"),
                arguments: try call.body.array("arguments"),
                call.settings,
                from: call.address
            )
        }
    }

    /// One route; other providers have none of these paths.
    private func add(
        _ path: String,
        _ success: HTTPResponse.Status,
        to router: Router<GatewayContext>,
        _ perform: @escaping @Sendable (Call) async throws -> Void
    ) {
        let words = path.replacing("/", with: " ")
        router.post("/api/client/v2.0/app/:appID/auth/providers/:provider/\(path)") {
            request,
            context -> Response in
            let app = try apps.require(context)
            context.note(
                "\(words) \(context.knownProvider)",
                request,
                app: app,
                mayWrite: true,
                settings
            )
            guard try context.parameters.require("provider") == "local-userpass" else {
                return Response.empty(.notFound)
            }
            let head = RequestHead(request, context)
            let call = Call(
                body: try await ClientAPIBody(request, settings: settings, gate: gate),
                settings: app.accounts,
                address: settings.trustedProxies.client(of: head)
            )
            try await RequestFacts(head, settings: settings).atHand { try await perform(call) }
            return Response.empty(success)
        }
    }
}
