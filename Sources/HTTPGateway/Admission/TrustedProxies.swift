import HTTPTypes
public import Services

/// The proxies whose `X-Forwarded-…` headers count.
public struct TrustedProxies: Sendable {
    private let ranges: [NetworkRange]

    /// Nobody is trusted, but for these addresses.
    public init(_ ranges: [NetworkRange] = []) {
        self.ranges = ranges
    }

    /// Whether none is trusted.
    var isEmpty: Bool { ranges.isEmpty }

    /// Whether an address belongs to a trusted proxy.
    func contains(_ address: String) -> Bool {
        guard !isEmpty, let address = NetworkAddress(address) else { return false }
        return ranges.contains { $0.contains(address) }
    }

    /// Who calls: the socket's peer or, behind trusted proxies, the last address that none of them added;
    /// what stands before it the client may have made up.
    func clientText(_ headers: HTTPFields, peer: String) -> String {
        guard contains(peer), let header = headers[.forwardedFor] else { return peer }
        let named = header.split(separator: ",").reversed().lazy
            .map { String($0.filter { $0 != " " && $0 != "\t" }) }
        return named.first { !contains($0) } ?? peer
    }

    /// As ``clientText(_:peer:)``, as a number; what cannot be read as an address counts as the proxy's.
    func client(of request: RequestHead) -> NetworkAddress? {
        guard let peer = request.peerAddress else { return nil }
        return NetworkAddress(clientText(request.headers, peer: peer)) ?? NetworkAddress(peer)
    }
}
