import BSON
import HTTPTypes
import Hummingbird
import Services

/// Sessions, profile and the end of an account (client-api.md §5).
struct SessionRoutes {
    let accounts: AccountService

    func add(to router: Router<GatewayContext>) {
        router.post("/api/client/v2.0/auth/session") { request, _ -> Response in
            let token = try await accounts.refresh(refreshToken: request.headers.bearerToken)
            return Response.json(["access_token": .string(token)], status: .created)
        }
        router.delete("/api/client/v2.0/auth/session") { request, _ -> Response in
            try await accounts.logOut(refreshToken: request.headers.bearerToken)
            return Response.empty(.noContent)
        }
        router.get("/api/client/v2.0/auth/profile") { request, _ -> Response in
            Response.json(try await accounts.profile(accessToken: request.headers.bearerToken))
        }
        router.delete("/api/client/v2.0/auth/delete") { request, _ -> Response in
            try await accounts.deleteUser(accessToken: request.headers.bearerToken)
            return Response.empty(.noContent)
        }
    }
}
