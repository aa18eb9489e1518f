import Errors
import HTTPTypes
public import Services

/// Decides about requests for sockets, and serves those that were opened.
public struct SyncDoor: Sendable {
    private let apps: AppRegistry
    private let accounts: AccountService
    let sync: SyncService

    /// - Parameters:
    ///   - apps: The apps in force.
    ///   - accounts: Says who callers are.
    ///   - sync: Serves their devices.
    public init(apps: AppRegistry, accounts: AccountService, sync: SyncService) {
        self.apps = apps
        self.accounts = accounts
        self.sync = sync
    }

    private static let prefix = "/api/client/v2.0/app/"
    private static let suffix = "/realm-sync"

    /// The app id in the path of a request for a socket; nil for all other requests.
    static func app(of request: HTTPRequest) -> String? {
        guard request.method == .get, let path = request.path?.split(separator: "?").first,
            path.hasPrefix(prefix), path.hasSuffix(suffix)
        else { return nil }
        let name = path.dropFirst(prefix.count).dropLast(suffix.count)
        return name.isEmpty || name.contains("/") ? nil : String(name)
    }

    /// Decides about a request.
    func decide(_ request: HTTPRequest, app name: String) async -> SyncUpgrade {
        guard request.headerFields[.upgrade]?.lowercased() == "websocket",
            let key = request.headerFields[.secWebSocketKey],
            request.headerFields[.secWebSocketVersion] == "13"
        else { return .refused(.upgradeRequired, "a websocket is needed here") }
        guard let list = request.headerFields[.secWebSocketProtocol], let spoken = SyncUpgrade.best(of: list)
        else {
            return .refused(.badRequest, "unsupported protocol")
        }
        guard let app = apps.app(clientAppID: name) else { return .refused(.notFound, "app not found") }
        do {
            let caller = try await accounts.authenticate(accessToken: Self.token(request), app.accounts)
            var fields = HTTPFields()
            fields[.upgrade] = "websocket"
            fields[.connection] = "Upgrade"
            fields[.secWebSocketAccept] = SyncUpgrade.accept(key)
            fields[.secWebSocketProtocol] = spoken.name
            return .accepted(
                fields,
                SyncCaller(
                    app: app.id,
                    token: caller.token,
                    protocolVersion: spoken.version,
                    isFlexible: spoken.isFlexible
                )
            )
        } catch {
            // The device gets itself a new token, or logs its user out when it gets none.
            let isOurs = error.code == .internalServerError || error.code == .maintenanceInProgress
            return .refused(isOurs ? .serviceUnavailable : .unauthorized, error.message)
        }
    }

    private static func token(_ request: HTTPRequest) -> String? {
        guard let query = request.path?.split(separator: "?", maxSplits: 1).dropFirst().first else {
            return nil
        }
        return query.split(separator: "&").lazy.compactMap { pair -> String? in
            let parts = pair.split(separator: "=", maxSplits: 1)
            return parts.count == 2 && parts[0] == "baas_at" ? String(parts[1]) : nil
        }.first
    }
}
