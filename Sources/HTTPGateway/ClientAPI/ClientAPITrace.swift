import Accounts
import Hummingbird
import Observability
import Services

extension GatewayContext {
    /// Takes note of what a request of the client API asks, for metrics and the request log.
    ///
    /// - Parameters:
    ///   - operation: Such as `login anon-user`; one of few.
    ///   - request: Whose sender's address is noted.
    ///   - app: The app that the path names; the others' follows from their token.
    ///   - mayWrite: Whether a success changes something, so that it is logged as a write is.
    ///   - settings: What is known of proxies.
    func note(
        _ operation: String,
        _ request: Request,
        app: AppSnapshot? = nil,
        mayWrite: Bool = false,
        _ settings: GatewaySettings
    ) {
        let address = RequestFacts(RequestHead(request, self), settings: settings).address
        trace.note { facts in
            facts.operation = operation
            facts.mayWrite = mayWrite
            facts.address = address
            if let app { facts.clientAppID = app.clientAppID }
        }
    }

    /// For services: takes note of the caller once the token is known to be ours.
    func caller(_ apps: AppRegistry) -> (_ appID: String, _ userID: String) -> Void {
        { appID, userID in
            let app = apps.app(id: appID)?.clientAppID
            trace.note { facts in
                facts.clientAppID = app
                facts.userID = userID
            }
        }
    }

    /// The provider that the path names, unless it is a word of the caller's own.
    var knownProvider: String {
        parameters.get("provider").flatMap { ProviderConfiguration.Kind(rawValue: $0) }?.rawValue ?? "unknown"
    }
}
