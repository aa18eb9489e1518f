public import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Speaks to a running server as a script with curl would: text in, status and text out.
public struct APICaller: Sendable {
    /// Where the requests go.
    public let server: RunningServer
    /// The client app id in their paths.
    public let app: String
    private let base: String

    /// Made of its parts.
    ///
    /// - Parameters:
    ///   - server: Where the requests go.
    ///   - app: The client app id in their paths.
    ///   - base: Another of the server's doors than plain HTTP.
    public init(server: RunningServer, app: String, base: String? = nil) {
        self.server = server
        self.app = app
        self.base = base ?? server.http
    }

    // A machine busy with other tests may be slow to answer. The time limit stands in the session, as Foundation
    // on Linux forgets that of a request which has a body.
    private static let session: URLSession = {
        let configuration = URLSessionConfiguration.default
        configuration.timeoutIntervalForRequest = 900
        return URLSession(configuration: configuration)
    }()

    /// One answer.
    public struct Answer: Sendable {
        /// The HTTP status.
        public let status: Int
        /// Values by lowercased name.
        public let headers: [String: String]
        /// The body.
        public let text: String

        /// Made of its parts.
        public init(status: Int, headers: [String: String], text: String) {
            self.status = status
            self.headers = headers
            self.text = text
        }

        /// The value of a header, in whatever case it is named.
        public func header(_ name: String) -> String? { headers[name.lowercased()] }

        /// The body as Foundation reads JSON, to look into it.
        public var object: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any] ?? [:]
        }

        /// `error_code` of an error's body.
        public var errorCode: String? { object["error_code"] as? String }
        /// `error` of an error's body.
        public var error: String { object["error"] as? String ?? "" }
    }

    /// Sends one request.
    public func send(
        _ method: String,
        _ path: String,
        headers: [String: String] = [:],
        body: Data? = nil
    ) async throws -> Answer {
        guard let url = URL(string: base + path) else { throw URLError(.badURL) }
        var request = URLRequest(url: url)
        request.httpMethod = method
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        request.httpBody = body
        let (data, response) = try await Self.session.data(for: request)
        guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        var fields: [String: String] = [:]
        for (name, value) in response.allHeaderFields {
            fields["\(name)".lowercased()] = "\(value)"
        }
        return Answer(
            status: response.statusCode,
            headers: fields,
            text: String(decoding: data, as: UTF8.self)
        )
    }

    /// One action of the Data API.
    ///
    /// - Parameters:
    ///   - action: Its name in the path, such as `findOne`.
    ///   - collection: The collection that is asked.
    ///   - members: The body's members besides the namespace, as JSON text without braces.
    ///   - caller: Headers that say who calls.
    ///   - database: The database of the collection.
    ///   - accept: The form of Extended JSON in the answer, as a media type.
    /// - Returns: The answer, whatever its status.
    /// - Throws: `URLError` when there is none.
    public func act(
        _ action: String,
        _ collection: String,
        _ members: String = "",
        as caller: [String: String],
        database: String = "todo",
        accept: String = "application/json"
    ) async throws -> Answer {
        let rest = members.isEmpty ? "" : "," + members
        let body =
            #"{"dataSource":"mongodb-atlas","database":"\#(database)","collection":"\#(collection)"\#(rest)}"#
        return try await act(action, raw: Data(body.utf8), as: caller, accept: accept)
    }

    /// One action with a body as it stands.
    public func act(
        _ action: String,
        raw body: Data,
        as caller: [String: String],
        accept: String = "application/json"
    ) async throws -> Answer {
        var headers = caller
        headers["Content-Type"] = "application/ejson"
        headers["Accept"] = accept
        return try await send(
            "POST",
            "/app/\(app)/endpoint/data/v1/action/\(action)",
            headers: headers,
            body: body
        )
    }

    /// A user who has just registered and logged in.
    public struct User: Sendable {
        /// 24 hexadecimal digits.
        public let id: String
        /// Empty for an anonymous user.
        public let email: String
        /// In clear; empty for an anonymous user.
        public let password: String
        /// The short-lived token that requests carry.
        public let accessToken: String
        /// What buys a new access token.
        public let refreshToken: String

        /// Made of its parts.
        public init(id: String, email: String, password: String, accessToken: String, refreshToken: String) {
            self.id = id
            self.email = email
            self.password = password
            self.accessToken = accessToken
            self.refreshToken = refreshToken
        }

        /// The header of a bearer token.
        public var bearer: [String: String] { ["Authorization": "Bearer \(accessToken)"] }
    }

    /// A new anonymous user: a login without the price of a password.
    public func newUser() async throws -> User {
        try user(
            try await send("POST", "/api/client/v2.0/app/\(app)/auth/providers/anon-user/login"),
            email: "",
            password: ""
        )
    }

    /// Registers an email and logs in.
    public func newPasswordUser() async throws -> User {
        let email = "user-\(UUID().uuidString)@example.com"
        let password = "secret-\(UUID().uuidString)"
        let provider = "/api/client/v2.0/app/\(app)/auth/providers/local-userpass"
        let registration = try await send(
            "POST",
            provider + "/register",
            headers: ["Content-Type": "application/json"],
            body: Data(#"{"email":"\#(email)","password":"\#(password)"}"#.utf8)
        )
        guard registration.status == 201 else { throw UnexpectedAnswer(answer: registration) }
        return try await logIn(email: email, password: password)
    }

    /// Logs in with an email and a password.
    public func logIn(email: String, password: String) async throws -> User {
        let answer = try await send(
            "POST",
            "/api/client/v2.0/app/\(app)/auth/providers/local-userpass/login",
            headers: ["Content-Type": "application/json"],
            body: Data(#"{"username":"\#(email)","password":"\#(password)"}"#.utf8)
        )
        return try user(answer, email: email, password: password)
    }

    private func user(_ answer: Answer, email: String, password: String) throws -> User {
        guard answer.status == 200, let id = answer.object["user_id"] as? String,
            let access = answer.object["access_token"] as? String,
            let refresh = answer.object["refresh_token"] as? String
        else { throw UnexpectedAnswer(answer: answer) }
        return User(id: id, email: email, password: password, accessToken: access, refreshToken: refresh)
    }

    /// An answer that the test did not reckon with.
    public struct UnexpectedAnswer: Error {
        /// The whole of it, for the message.
        public let answer: Answer

        /// Made of the answer.
        public init(answer: Answer) {
            self.answer = answer
        }
    }
}
