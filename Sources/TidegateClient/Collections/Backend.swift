import Foundation

/// The door that calls go through.
enum Backend: Sendable {
    /// The client API, as a user.
    case user(User)
    /// The Data API, with a key.
    case dataAPI(DataAPIBackend)

    /// Sends one call.
    ///
    /// - Parameters:
    ///   - call: What is asked.
    ///   - key: Makes a write take effect once, however often it is sent.
    /// - Returns: The answer in the form of the MongoDB service.
    /// - Throws: ``TidegateError``.
    func perform(_ call: ServiceCall, key: String? = nil) async throws -> AnyBSON {
        let headers = key.map { ["Idempotency-Key": $0] } ?? [:]
        switch self {
        case .user(let user):
            let path = user.app.path("/functions/call")
            let answer = try await user.send("POST", path, headers: headers, body: call.clientBody)
            return try Self.value(answer)
        case .dataAPI(let api): return try await api.perform(call, headers: headers)
        }
    }

    static func value(_ answer: Transport.Answer) throws -> AnyBSON {
        do {
            return try ExtendedJSONReader.read(answer.body)
        } catch {
            throw TidegateError(.invalidAnswer, "the answer is not Extended JSON")
        }
    }

    /// Whose operations a queue keeps apart: a user's id, or nothing for an API key.
    var owner: String {
        switch self {
        case .user(let user): user.id
        case .dataAPI: ""
        }
    }
}

/// The Data API of an app, called with a key.
struct DataAPIBackend: Sendable {
    let app: App
    let apiKey: String

    func perform(_ call: ServiceCall, headers: [String: String]) async throws -> AnyBSON {
        guard call.kind != .function else {
            throw TidegateError(.invalidArgument, "a function is called as a user: the Data API has none")
        }
        let answer = try await app.transport.send(
            "POST",
            "/app/\(app.appId)/endpoint/data/v1/action/\(call.action)",
            headers: headers.merging(["apiKey": apiKey, "Accept": "application/ejson"]) { $1 },
            body: call.dataBody
        )
        let value = try Backend.value(answer)
        let member: String? =
            switch call.kind {
            case .find, .aggregate: "documents"
            case .findOne, .findOneAndUpdate, .findOneAndReplace, .findOneAndDelete: "document"
            case .count: "count"
            default: nil
            }
        guard let member else { return value }
        guard let inner = value.documentValue?[member] else {
            throw TidegateError(.invalidAnswer, "the answer has no '\(member)'")
        }
        return inner
    }
}
