import Foundation
import TestSupport

/// Calls of the MongoDB service, byte for byte as SDKs send them: by curl, with their headers.
///
/// Source: `reference/client-api.md` §§1, 9.
struct ServiceCall {
    let api: APICaller
    let user: APICaller.User
    let collection: String

    /// A new user, and one of the collections of the tests' app.
    static func start(_ collection: String = "Open") async throws -> ServiceCall {
        let (api, user) = try await SharedServer.user()
        return ServiceCall(api: api, user: user, collection: collection)
    }

    /// What curl got.
    struct Answer {
        let status: Int
        let contentType: String
        let text: String
        var object: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any] ?? [:]
        }
        var code: String? { object["error_code"] as? String }
        var error: String { object["error"] as? String ?? "" }
    }

    /// One call.
    ///
    /// - Parameters:
    ///   - name: The action.
    ///   - members: Of the argument besides the namespace, without braces.
    ///   - service: The data source.
    /// - Returns: Status, content type and body.
    /// - Throws: ``Unreadable`` when curl got no answer.
    func callAsFunction(_ name: String, _ members: String = "", service: String = "mongodb-atlas")
        async throws
        -> Answer
    {
        let rest = members.isEmpty ? "" : "," + members
        // realm-core writes its members in this order.
        return try await raw(
            #"{"arguments":[{"database":"todo","collection":"\#(collection)"\#(rest)}],"name":"\#(name)","service":"\#(service)"}"#
        )
    }

    /// A call with a body as it stands.
    func raw(_ body: String, token: String? = nil) async throws -> Answer {
        var arguments = [
            "-sS", "-X", "POST", "-o", "-", "-w", "\n%{http_code} %{content_type}", "-H",
            "Content-Type: application/json;charset=utf-8", "-H", "Accept: application/json",
            "--data-binary", "@-",
        ]
        let token = token ?? user.accessToken
        if !token.isEmpty { arguments += ["-H", "Authorization: Bearer \(token)"] }
        arguments.append("\(api.server.http)/api/client/v2.0/app/\(api.app)/functions/call")
        let result = try await Shell.finish(
            URL(fileURLWithPath: "/usr/bin/curl"),
            arguments,
            input: Data(body.utf8)
        )
        guard let end = result.output.lastIndex(of: "\n") else { throw Unreadable(text: result.errors) }
        let parts = result.output[result.output.index(after: end)...].split(separator: " ", maxSplits: 1)
        return Answer(
            status: parts.first.flatMap { Int($0) } ?? 0,
            contentType: parts.count > 1 ? String(parts[1]) : "",
            text: String(result.output[..<end])
        )
    }

    struct Unreadable: Error {
        let text: String
    }
}
