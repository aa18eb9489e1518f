import Foundation

/// A user who logged in; all processes that share the container have the same one.
///
/// Access tokens last half an hour and are renewed when a request needs it, by one process at a time: whoever comes
/// second finds the new one in the file. Nothing that one process does for itself takes another's session away; only a
/// logout, or the server's word that the session has ended, does.
public final class User: Sendable {
    /// 24 hexadecimal digits.
    public let id: String
    let app: App

    init(app: App, id: String) {
        self.app = app
        self.id = id
    }

    static let loggedOut = TidegateError(.loggedOut, "the user is not logged in")

    func session() throws -> StoredSession {
        guard let session = try app.store.read()[id] else { throw Self.loggedOut }
        return session
    }

    /// Whether the user has a session.
    public var isLoggedIn: Bool { (try? session()) != nil }

    /// The token that requests carry; nil after a logout.
    public var accessToken: String? { try? session().accessToken }

    /// The token that buys new ones; nil after a logout.
    public var refreshToken: String? { try? session().refreshToken }

    /// The name of the provider that the user logged in with.
    public var providerType: String? { try? session().provider }

    /// The user's custom data as it was when the access token was made; empty without any.
    public var customData: Document {
        accessToken.flatMap { AccessToken($0) }?.payload["user_data"]?.documentValue ?? [:]
    }

    /// Gets a new access token, and with it the custom data of now.
    @discardableResult
    public func refreshCustomData() async throws -> Document {
        _ = try await renew(replacing: try session().accessToken)
        return customData
    }

    /// Ends the session, for all processes; without network the session ends here alone, and the error is thrown.
    public func logOut() async throws {
        let session = try session()
        let held = try await app.store.lock.acquire()
        let ended = await Result { () async throws in
            try await app.transport.send(
                "DELETE",
                "/api/client/v2.0/auth/session",
                headers: ["Authorization": "Bearer \(session.refreshToken)"]
            )
        }
        try app.store.write(held) { content in
            content[id] = nil
            if content.current == id { content.current = content.sessions.last?.userID }
        }
        if case .failure(let error) = ended, (error as? TidegateError)?.status != 401 { throw error }
    }

    /// The app's functions, by name: `try await user.functions.sum([1, 2])`.
    public var functions: Functions { Functions(user: self) }

    /// A client of a data source, such as `mongodb-atlas`.
    public func mongoClient(_ serviceName: String) -> MongoClient {
        MongoClient(backend: .user(self), serviceName: serviceName)
    }

    // MARK: Tokens

    /// A token that is good for some seconds at least.
    func validToken() async throws -> String {
        let token = try session().accessToken
        guard let end = AccessToken(token)?.expires, end.timeIntervalSinceNow < 5 else { return token }
        return try await renew(replacing: token)
    }

    /// A token that is newer than one that the server did not take.
    func renew(replacing stale: String) async throws -> String {
        try await app.flights.join(id) { [self] in try await renewAlone(replacing: stale) }
    }

    private func renewAlone(replacing stale: String) async throws -> String {
        let held = try await app.store.lock.acquire()
        let session = try session()
        // Another process was first.
        if session.accessToken != stale { return session.accessToken }
        do {
            let answer = try await app.transport.send(
                "POST",
                "/api/client/v2.0/auth/session",
                headers: ["Authorization": "Bearer \(session.refreshToken)"]
            )
            let document = try ExtendedJSONReader.read(answer.body).documentValue
            guard let token = document?["access_token"]?.stringValue else {
                throw TidegateError(.invalidAnswer, "the answer holds no access token")
            }
            try app.store.write(held) { $0[id]?.accessToken = token }
            return token
        } catch let error as TidegateError where error.kind == .service && error.status == 401 {
            // Only the server's own word ends a session; without network it stays.
            try app.store.write(held) { content in
                content[id] = nil
                if content.current == id { content.current = nil }
            }
            throw TidegateError(.loggedOut, "the session has ended: \(error.message)")
        }
    }

    /// Sends a request as the user; once more with a new token when the server does not take the old one.
    func send(_ method: String, _ path: String, headers: [String: String] = [:], body: [UInt8]?) async throws
        -> Transport.Answer
    {
        let token = try await validToken()
        do {
            return try await app.transport.send(method, path, headers: headers.bearing(token), body: body)
        } catch let error as TidegateError where error.kind == .service && error.status == 401 {
            let newer = try await renew(replacing: token)
            return try await app.transport.send(method, path, headers: headers.bearing(newer), body: body)
        }
    }
}

extension [String: String] {
    fileprivate func bearing(_ token: String) -> Self {
        merging(["Authorization": "Bearer \(token)"]) { $1 }
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}

/// What a client reads in its own token; only the server can check it.
struct AccessToken {
    let payload: Document

    init?(_ token: String) {
        let parts = token.split(separator: ".")
        guard parts.count == 3 else { return nil }
        var text = parts[1].replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        while text.utf8.count % 4 != 0 { text += "=" }
        guard let data = Data(base64Encoded: text),
            case .document(let payload)? = try? ExtendedJSONReader.read([UInt8](data))
        else { return nil }
        self.payload = payload
    }

    var expires: Date? { payload["exp"]?.asInt.map { Date(timeIntervalSince1970: TimeInterval($0)) } }
}
