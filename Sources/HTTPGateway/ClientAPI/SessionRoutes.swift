import BSON
import HTTPTypes
import Hummingbird
import Services

/// Sessions, profile and the end of an account (client-api.md §5).
struct SessionRoutes {
    let apps: AppRegistry
    let accounts: AccountService
    let settings: GatewaySettings

    func add(to router: Router<GatewayContext>) {
        router.post("/api/client/v2.0/auth/session") { request, context -> Response in
            context.note("refresh", request, settings)
            let token = try await accounts.refresh(
                refreshToken: request.headers.bearerToken,
                identified: context.caller(apps)
            )
            return Response.json(["access_token": .string(token)], status: .created)
        }
        router.delete("/api/client/v2.0/auth/session") { request, context -> Response in
            context.note("logout", request, mayWrite: true, settings)
            try await accounts.logOut(
                refreshToken: request.headers.bearerToken,
                identified: context.caller(apps)
            )
            return Response.empty(.noContent)
        }
        router.get("/api/client/v2.0/auth/profile") { request, context -> Response in
            context.note("profile", request, settings)
            let profile = try await accounts.profile(
                accessToken: request.headers.bearerToken,
                identified: context.caller(apps)
            )
            return Response.json(profile)
        }
        router.delete("/api/client/v2.0/auth/delete") { request, context -> Response in
            context.note("delete user", request, mayWrite: true, settings)
            try await accounts.deleteUser(
                accessToken: request.headers.bearerToken,
                identified: context.caller(apps)
            )
            return Response.empty(.noContent)
        }
    }
}
