import AppDefinition
import BSON
import Errors
import HTTPTypes
import Hummingbird
import Services

/// `GET /api/client/v2.0/app/{id}/location`: where all further requests go (client-api.md §2).
struct LocationRoutes {
    let apps: AppRegistry
    let settings: GatewaySettings

    func add(to router: Router<GatewayContext>) {
        router.get("/api/client/v2.0/app/:appID/location") { request, context -> Response in
            let app = try apps.require(context)
            context.note("location", request, app: app, settings)
            let origin =
                settings.publicURL ?? RequestFacts(RequestHead(request, context), settings: settings).origin
            return Response.json([
                "deployment_model": .string(app.definition.deploymentModel),
                "location": .string(app.definition.location),
                "hostname": .string(origin),
                "ws_hostname": .string(Self.webSocketOrigin(of: origin)),
            ])
        }
    }

    /// `https://host` is `wss://host`.
    private static func webSocketOrigin(of origin: String) -> String {
        origin.hasPrefix("http") ? "ws" + origin.dropFirst("http".count) : origin
    }
}
