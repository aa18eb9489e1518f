import Accounts
import AsyncHTTPClient
import Errors
import NIOCore
import NIOHTTP1

/// Fetches JWK sets over HTTP: no redirects, five seconds, 256 KiB.
public final class KeySetFetcher: Sendable {
    private static let maximumBytes = 256 * 1024

    private let client: HTTPClient

    /// Call ``close()`` at the end.
    public init() {
        var configuration = HTTPClient.Configuration()
        // A redirect could lead anywhere, also into the private network.
        configuration.redirectConfiguration = .disallow
        configuration.timeout = HTTPClient.Configuration.Timeout(connect: .seconds(3), read: .seconds(5))
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// The body behind an address that ``KeySetAddress`` allows.
    public func fetch(_ address: String) async throws -> [UInt8] {
        guard KeySetAddress.isAllowed(address) else {
            throw ServiceError(.restrictedHost, "the JWK address is not allowed")
        }
        var request = HTTPClientRequest(url: address)
        request.headers.add(name: "Accept", value: "application/json")
        let response = try await client.execute(request, timeout: .seconds(5))
        guard response.status == .ok else {
            throw ServiceError(.internalServerError, "the JWK address answered \(response.status.code)")
        }
        let body = try await response.body.collect(upTo: Self.maximumBytes)
        return Array(body.readableBytesView)
    }

    /// Ends the client and its connections.
    public func close() async {
        try? await client.shutdown()
    }
}
