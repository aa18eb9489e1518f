import AppDefinition
import BSON
import Errors
import HTTPTypes
import Hummingbird
import NIOCore
import Scripting
import Services

/// What an endpoint answers, made of what its function returned and of what it did to its response.
///
/// Source: data-api.md §9.5.
struct EndpointResponse {
    let result: FunctionResult
    let endpoint: EndpointDefinition
    let form: ResponseForm
    let gate: RequestGate

    func response() throws(ServiceError) -> Response {
        guard endpoint.respondsWithResult else { return Response(status: .noContent) }
        let made = result.response ?? ScriptOutcome.Response()
        var headers = try headers(made)
        var bytes: [UInt8] = []
        if let body = made.body {
            bytes = body
            if headers[.contentType] == nil { headers[.contentType] = "application/json" }
        } else if result.value != .undefined {
            form.write(result.value, to: &bytes)
            if headers[.contentType] == nil { headers[.contentType] = form.contentType }
        }
        let status = made.status ?? 200
        guard (200...599).contains(status) else {
            throw ServiceError(
                .functionExecutionError,
                "response.setStatusCode: \(known: status) is no status of an answer"
            )
        }
        // These have no body, whatever the function set.
        let isEmpty = bytes.isEmpty || status == 204 || status == 304
        return Response(
            status: .init(code: status),
            headers: headers,
            body: isEmpty ? .init() : .paced(bytes, gate)
        )
    }

    /// Those that say how an answer travels are the server's alone.
    private static let reserved: Set<HTTPField.Name> = [
        .connection, .contentLength, .transferEncoding, .upgrade, .trailer, .te, .keepAlive, .date, .server,
    ]

    private func headers(_ made: ScriptOutcome.Response) throws(ServiceError) -> HTTPFields {
        var headers = HTTPFields()
        for header in made.headers {
            guard let name = HTTPField.Name(header.name), HTTPField.isValidValue(header.value) else {
                throw ServiceError(
                    .functionExecutionError,
                    "response.setHeader: '\(header.name)' has a name or value that no header can have"
                )
            }
            if Self.reserved.contains(name) { continue }
            headers.append(HTTPField(name: name, value: header.value))
        }
        return headers
    }
}

extension HTTPField.Name {
    fileprivate static let keepAlive = staticName("Keep-Alive")
}
