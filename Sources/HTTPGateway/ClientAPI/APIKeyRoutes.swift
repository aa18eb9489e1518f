import Accounts
import BSON
import Errors
import HTTPTypes
import Hummingbird
import NIOCore
import Services

/// The API keys of the current user, by refresh token (client-api.md §7).
struct APIKeyRoutes {
    let apps: AppRegistry
    let accounts: AccountService
    let settings: GatewaySettings
    let gate: RequestGate

    private static let base = "/api/client/v2.0/auth/api_keys"

    func add(to router: Router<GatewayContext>) {
        router.post("\(Self.base)") { request, context -> Response in
            context.note("create api key", request, mayWrite: true, settings)
            let token = request.headers.bearerToken
            let body = try await ClientAPIBody(request, settings: settings, gate: gate).document
            let made = try await accounts.createKey(
                refreshToken: token,
                name: body["name"]?.string,
                identified: context.caller(apps)
            )
            var answer = made.description.document
            answer.append("key", .string(made.key))
            return Response.json(answer, status: .created)
        }
        router.get("\(Self.base)") { request, context -> Response in
            context.note("list api keys", request, settings)
            let keys = try await accounts.keys(
                refreshToken: request.headers.bearerToken,
                identified: context.caller(apps)
            )
            return Response.json(value: .array(keys.map { .document($0.document) }))
        }
        router.get("\(Self.base)/:id") { request, context -> Response in
            context.note("get api key", request, settings)
            let key = try await accounts.key(
                try context.parameters.require("id"),
                refreshToken: request.headers.bearerToken,
                identified: context.caller(apps)
            )
            return Response.json(key.document)
        }
        for (word, disabled) in [("enable", false), ("disable", true)] {
            router.put("\(Self.base)/:id/\(word)") { request, context -> Response in
                context.note("\(word) api key", request, mayWrite: true, settings)
                try await accounts.setKey(
                    try context.parameters.require("id"),
                    disabled: disabled,
                    refreshToken: request.headers.bearerToken,
                    identified: context.caller(apps)
                )
                return Response.empty(.noContent)
            }
        }
        router.delete("\(Self.base)/:id") { request, context -> Response in
            context.note("delete api key", request, mayWrite: true, settings)
            try await accounts.deleteKey(
                try context.parameters.require("id"),
                refreshToken: request.headers.bearerToken,
                identified: context.caller(apps)
            )
            return Response.empty(.noContent)
        }
    }
}

extension UserAPIKey {
    /// Ids are plain strings here, and there is no other member: SDK tests compare the whole.
    fileprivate var document: BSONDocument {
        ["_id": .string(id), "name": .string(name), "disabled": .bool(disabled)]
    }
}
