import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Requests over URLSession.
final class Transport: Sendable {
    struct Answer: Sendable {
        let status: Int
        let body: [UInt8]
        let retryAfter: String?
    }

    let baseURL: URL
    let timeout: TimeInterval
    private let session: URLSession

    init(baseURL: URL, timeout: TimeInterval) {
        self.baseURL = baseURL
        self.timeout = timeout
        session = URLSession(configuration: Self.configuration(timeout: timeout))
    }

    deinit { session.finishTasksAndInvalidate() }

    /// The time limit stands here, as Foundation on Linux forgets that of a request which has a body.
    static func configuration(timeout: TimeInterval) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = timeout
        // Nothing here can be cached, and extensions have little memory.
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        return configuration
    }

    /// A request for a path of the server.
    func request(_ method: String, _ path: String, headers: [String: String], body: [UInt8]?) throws
        -> URLRequest
    {
        let base = baseURL.absoluteString
        guard let url = URL(string: (base.hasSuffix("/") ? String(base.dropLast()) : base) + path) else {
            throw TidegateError(.invalidArgument, "no URL: \(path)")
        }
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        if let body {
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            request.httpBody = Data(body)
        }
        return request
    }

    /// Sends one request.
    ///
    /// - Returns: An answer whose status says success.
    /// - Throws: ``TidegateError`` of the kinds `network`, `service`, `invalidAnswer`; `CancellationError`.
    func send(_ method: String, _ path: String, headers: [String: String] = [:], body: [UInt8]? = nil)
        async throws -> Answer
    {
        let request = try request(method, path, headers: headers, body: body)
        let data: Data
        let response: URLResponse
        do {
            (data, response) = try await session.data(for: request)
        } catch {
            try Task.checkCancellation()
            throw TidegateError(.network, "no answer: \(error.localizedDescription)")
        }
        guard let response = response as? HTTPURLResponse else {
            throw TidegateError(.invalidAnswer, "the answer is not one of HTTP")
        }
        let retryAfter = response.value(forHTTPHeaderField: "Retry-After")
        let body = [UInt8](data)
        guard (200..<300).contains(response.statusCode) else {
            throw TidegateError(status: response.statusCode, body: body, retryAfter: retryAfter)
        }
        return Answer(status: response.statusCode, body: body, retryAfter: retryAfter)
    }
}

/// Runs something for at most so long.
///
/// - Throws: ``TidegateError`` of the kind `network` when the time is over; what `body` throws.
func within<Value: Sendable>(
    _ limit: Duration?,
    _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    guard let limit else { return try await body() }
    return try await withThrowingTaskGroup(of: Value.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await Task.sleep(for: limit)
            throw TidegateError(.network, "no answer within \(limit)")
        }
        defer { group.cancelAll() }
        guard let value = try await group.next() else { throw CancellationError() }
        return value
    }
}
