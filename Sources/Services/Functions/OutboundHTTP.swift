import AsyncHTTPClient
public import BSON
import Errors
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import NIOHTTPCompression
import NIOPosix
public import Postgres
import SQL
public import Scripting

/// HTTP as functions do it: `context.http`.
///
/// A name is resolved once, and the connection goes to the address that was judged; each redirect is judged anew.
/// Source: `reference/functions.md` §4.3; `reference/peers.md` §6.3.
public final class OutboundHTTP: Sendable {
    /// An answer's body at most.
    private static let maximumBytes = 18 << 20
    private static let maximumRedirects = 10
    private static let connectTimeout = TimeAmount.seconds(10)

    private let database: Database

    /// Calls whom the list in the database lets it call.
    public init(database: Database) {
        self.database = database
    }

    /// Does what a script asks with the host call `http`.
    ///
    /// - Parameters:
    ///   - arguments: As the README of `Scripting` says.
    ///   - app: The app's id, whose list of hosts counts.
    ///   - deadline: When the script must be done.
    /// - Returns: The response whatever its status; an error where there is none.
    public func answer(
        _ arguments: BSONDocument,
        app: String,
        deadline: ContinuousClock.Instant
    ) async -> Result<BSONValue, HostError> {
        do {
            var call = try OutboundCall(arguments)
            let policy = try await policy(app)
            if let address = call.authURL {
                let opened = try await exchange(call.opening(address), policy, deadline)
                call.add(cookies: opened.cookies)
            }
            var response = try await exchange(call, policy, deadline)
            if call.usesDigest, response.status.code == 401, let password = call.password,
                let challenge = DigestChallenge(response.headers["WWW-Authenticate"])
            {
                call.authorization = challenge.answer(
                    username: call.username ?? "",
                    password: password,
                    method: call.method,
                    uri: call.target
                )
                response = try await exchange(call, policy, deadline)
            }
            return .success(.document(response.document))
        } catch let error as HostError {
            return .failure(error)
        } catch {
            return .failure(HostError("the request failed"))
        }
    }

    private func policy(_ app: String) async throws -> OutboundPolicy {
        let rows = try await database.run(
            OutboundStatements.hosts(app: app),
            plan: .generic,
            within: .seconds(10)
        )
        return OutboundPolicy(
            entries: (0..<rows.rowCount).compactMap { row in
                guard let allowed = rows.bool(row, 0), let pattern = rows.text(row, 1) else { return nil }
                return OutboundPolicy.Entry(isAllowed: allowed, pattern: OutboundPolicy.Pattern(pattern))
            }
        )
    }

    /// One request, and those that its answer leads to.
    private func exchange(
        _ call: OutboundCall,
        _ policy: OutboundPolicy,
        _ deadline: ContinuousClock.Instant
    ) async throws -> OutboundResponse {
        var call = call
        for _ in 0...Self.maximumRedirects {
            let response = try await send(call, policy, deadline)
            guard call.followsRedirects, let next = call.redirected(by: response) else { return response }
            call = try next.get()
        }
        throw HostError("stopped after \(Self.maximumRedirects) redirects")
    }

    private func send(
        _ call: OutboundCall,
        _ policy: OutboundPolicy,
        _ deadline: ContinuousClock.Instant
    ) async throws -> OutboundResponse {
        let address = try await Self.resolve(call, policy)
        let left = deadline - .now
        guard left > .zero else { throw HostError("execution time limit exceeded") }
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.dnsOverride = [call.host: address]
        configuration.decompression = .enabled(limit: .size(Self.maximumBytes))
        configuration.timeout = HTTPClient.Configuration.Timeout(connect: Self.connectTimeout)
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let result: Result<OutboundResponse, any Error>
        do {
            let response = try await client.execute(call.request, timeout: TimeAmount(left))
            let body = try await response.body.collect(upTo: Self.maximumBytes)
            result = .success(
                OutboundResponse(
                    status: response.status,
                    headers: response.headers,
                    body: Array(body.readableBytesView)
                )
            )
        } catch is NIOTooManyBytesError {
            result = .failure(
                HostError("the answer of \(call.host) is larger than \(Self.maximumBytes) bytes")
            )
        } catch {
            result = .failure(HostError("the request to \(call.host) failed: \(Self.reason(error))"))
        }
        try? await client.shutdown()
        return try result.get()
    }

    /// The one address that the connection goes to; every address of the name must be permitted.
    private static func resolve(_ call: OutboundCall, _ policy: OutboundPolicy) async throws -> String {
        let host = call.host
        let port = call.port
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        let found: [SocketAddress]
        do {
            found = try await NIOThreadPool.singleton.runIfActive { try addresses(of: host, port: port) }
        } catch {
            throw HostError("the host \(host) is not known")
        }
        var first: String?
        for address in found {
            guard let text = address.ipAddress, let known = NetworkAddress(text) else { continue }
            guard policy.permits(name.lowercased(), at: known) else {
                throw HostError(
                    "calls to \(host) are not allowed",
                    errorCode: ErrorCode.restrictedHost.rawValue
                )
            }
            first = first ?? text
        }
        guard let first else { throw HostError("the host \(host) is not known") }
        return first
    }

    /// Blocks while the name server is asked.
    private static func addresses(of host: String, port: Int) throws -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &list) == 0 else {
            throw HostError("the host \(host) is not known")
        }
        defer { freeaddrinfo(list) }
        var found: [SocketAddress] = []
        var next = list
        while let entry = next {
            next = entry.pointee.ai_next
            guard let address = entry.pointee.ai_addr else { continue }
            switch entry.pointee.ai_family {
            case AF_INET:
                found.append(
                    address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { SocketAddress($0.pointee) }
                )
            case AF_INET6:
                found.append(
                    address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                        SocketAddress($0.pointee)
                    }
                )
            default: break
            }
        }
        return found
    }

    private static func reason(_ error: any Error) -> String {
        switch error as? HTTPClientError {
        case .deadlineExceeded?, .readTimeout?: "execution time limit exceeded"
        case .connectTimeout?: "no connection within \(connectTimeout.nanoseconds / 1_000_000_000) seconds"
        case let known?: known.description
        case nil: "no connection"
        }
    }
}
