import HTTPTypes
import Hummingbird
import Rules

/// What rules, locations and logs may know of a request, with a trusted proxy's headers applied.
struct RequestFacts {
    let ruleRequest: RuleRequest
    /// `https://host[:port]` as the caller addressed us.
    let origin: String

    init(_ request: Request, _ context: GatewayContext, settings: GatewaySettings) {
        let peer = context.peerAddress ?? ""
        let fromProxy = settings.trustedProxies.contains(peer)
        let headers = request.headers
        let client =
            fromProxy
            ? headers[.forwardedFor].flatMap { Self.client(in: $0, trusted: settings.trustedProxies) } ?? peer
            : peer
        ruleRequest = RuleRequest(
            httpMethod: request.method.rawValue,
            headers: headers.map { (name: $0.name.canonicalName, values: [$0.value]) },
            rawQueryString: request.uri.query ?? "",
            remoteIPAddress: client,
            referrer: headers[.referer],
            userAgent: headers[.userAgent],
            webhookUrl: request.uri.path
        )
        let scheme = (fromProxy ? headers[.forwardedProto] : nil) ?? request.head.scheme ?? "http"
        let host = (fromProxy ? headers[.forwardedHost] : nil) ?? request.head.authority ?? "localhost"
        origin = "\(scheme)://\(host)"
    }

    /// The last address that no trusted proxy added; what stands before it the client may have made up.
    private static func client(in header: String, trusted: Set<String>) -> String? {
        header.split(separator: ",").map { String($0.filter { $0 != " " }) }
            .last { !trusted.contains($0) }
    }
}
