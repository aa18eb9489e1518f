import HTTPTypes
import Rules
import Services

/// What rules, locations and logs may know of a request, with a trusted proxy's headers applied.
///
/// All but the address is made when somebody asks: few rules look at the request.
struct RequestFacts: Sendable {
    /// The client's address, as far as it can be trusted.
    let address: String
    private let head: HTTPRequest
    private let isFromProxy: Bool

    init(_ request: RequestHead, settings: GatewaySettings) {
        let peer = request.peerAddress ?? ""
        head = request.http
        isFromProxy = !settings.trustedProxies.isEmpty && settings.trustedProxies.contains(peer)
        address = isFromProxy ? settings.trustedProxies.clientText(head.headerFields, peer: peer) : peer
    }

    /// The content of `%%request`.
    var ruleRequest: RuleRequest {
        let target = (head.path ?? "").split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let headers = head.headerFields
        return RuleRequest(
            httpMethod: head.method.rawValue,
            headers: headers.map { (name: $0.name.canonicalName, values: [$0.value]) },
            rawQueryString: target.count > 1 ? String(target[1]) : "",
            remoteIPAddress: address,
            referrer: headers[.referer],
            userAgent: headers[.userAgent],
            webhookUrl: target.first.map(String.init) ?? "/"
        )
    }

    /// Does something in the course of which functions may want to know of the request.
    func atHand<Value: Sendable>(
        _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        let request = RequestAtHand { functionRequest(action: "") }
        return try await RequestAtHand.$current.withValue(request) { try await body() }
    }

    /// `https://host[:port]` as the caller addressed us.
    var origin: String {
        let headers = head.headerFields
        let scheme = (isFromProxy ? headers[.forwardedProto] : nil) ?? head.scheme ?? "http"
        let host = (isFromProxy ? headers[.forwardedHost] : nil) ?? head.authority ?? "localhost"
        return "\(scheme)://\(host)"
    }
}
