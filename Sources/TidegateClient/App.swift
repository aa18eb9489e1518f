public import Foundation

/// Where an app's gateway is, and where its sessions are kept.
public struct AppConfiguration: Sendable {
    /// The gateway's origin, such as `https://data.example.com`.
    public var baseURL: URL
    /// The folder of sessions: of an app group, when extensions are to share them.
    public var sharedContainer: URL
    /// How long a request may go without a byte from the server, in seconds.
    public var timeout: TimeInterval

    /// Made of its parts.
    ///
    /// - Parameters:
    ///   - baseURL: The gateway's origin.
    ///   - sharedContainer: On Apple platforms what
    ///     `FileManager.containerURL(forSecurityApplicationGroupIdentifier:)` answers.
    ///   - timeout: Seconds.
    public init(baseURL: URL, sharedContainer: URL, timeout: TimeInterval = 30) {
        self.baseURL = baseURL
        self.sharedContainer = sharedContainer
        self.timeout = timeout
    }
}

/// An app that a gateway serves.
///
/// Shape: `let user = try await App(id: "todo-abcde", configuration: …).login(credentials: .anonymous)`. The main app and
/// its extensions make one each, with the same container, and have the same users.
public final class App: Sendable {
    /// The client app id, such as `todo-abcde`.
    public let appId: String
    /// As it was made with.
    public let configuration: AppConfiguration
    let transport: Transport
    let store: SessionStore
    let flights = RefreshFlights()

    /// An app; nothing is asked of the network yet.
    ///
    /// - Throws: ``TidegateError`` of the kind `storage` when the container cannot be used.
    public init(id: String, configuration: AppConfiguration) throws {
        appId = id
        self.configuration = configuration
        transport = Transport(baseURL: configuration.baseURL, timeout: configuration.timeout)
        do {
            store = try SessionStore(appID: id, folder: configuration.sharedContainer)
        } catch {
            let folder = configuration.sharedContainer.path
            throw TidegateError(.storage, "\(folder) cannot be used: \(error.localizedDescription)")
        }
    }

    /// The user who logged in last, in whatever process, and has not logged out.
    public var currentUser: User? {
        guard let content = try? store.read(), let id = content.current, content[id] != nil else {
            return nil
        }
        return User(app: self, id: id)
    }

    /// Everybody who is logged in, by id.
    public var allUsers: [String: User] {
        let sessions = (try? store.read())?.sessions ?? []
        return Dictionary(uniqueKeysWithValues: sessions.map { ($0.userID, User(app: self, id: $0.userID)) })
    }

    /// Makes a user of the app's the current one.
    ///
    /// - Throws: ``TidegateError`` of the kind `loggedOut` when the user has no session.
    public func `switch`(to user: User) async throws {
        let held = try await store.lock.acquire()
        guard try store.read()[user.id] != nil else { throw User.loggedOut }
        try store.write(held) { $0.current = user.id }
    }

    /// Logs a user in, who becomes the current one.
    ///
    /// - Throws: ``TidegateError`` with the server's code, such as `InvalidPassword`.
    public func login(credentials: Credentials) async throws -> User {
        var body = credentials.payload
        body["options"] = ["device": ["sdk": "TidegateClient", "sdkVersion": "1"]]
        let answer = try await document(
            "/auth/providers/\(credentials.provider)/login",
            body: AnyBSON.document(body)
        )
        guard let access = answer["access_token"]?.stringValue,
            let refresh = answer["refresh_token"]?.stringValue, let id = answer["user_id"]?.stringValue
        else { throw TidegateError(.invalidAnswer, "the login's answer holds no tokens") }
        let session = StoredSession(
            userID: id,
            accessToken: access,
            refreshToken: refresh,
            deviceID: answer["device_id"]?.stringValue ?? "",
            provider: credentials.provider
        )
        let held = try await store.lock.acquire()
        try store.write(held) { content in
            content[id] = session
            content.current = id
        }
        return User(app: self, id: id)
    }

    /// Registers a user of email and password.
    public func registerUser(email: String, password: String) async throws {
        _ = try await transport.send(
            "POST",
            path("/auth/providers/local-userpass/register"),
            body: AnyBSON.document(["email": .string(email), "password": .string(password)]).bytes
        )
    }

    /// A client of the Data API, for callers that have an API key and no user.
    ///
    /// - Parameters:
    ///   - apiKey: Of a server or of a user.
    ///   - serviceName: The data source.
    /// - Returns: The client.
    public func mongoClient(apiKey: String, _ serviceName: String = "mongodb-atlas") -> MongoClient {
        MongoClient(backend: .dataAPI(DataAPIBackend(app: self, apiKey: apiKey)), serviceName: serviceName)
    }

    func path(_ rest: String) -> String { "/api/client/v2.0/app/\(appId)" + rest }

    private func document(_ rest: String, body: AnyBSON) async throws -> Document {
        let answer = try await transport.send("POST", path(rest), body: body.bytes)
        guard case .document(let document) = try ExtendedJSONReader.read(answer.body) else {
            throw TidegateError(.invalidAnswer, "the answer is not a document")
        }
        return document
    }
}

extension AnyBSON {
    /// Canonical Extended JSON in UTF-8.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return bytes
    }
}
