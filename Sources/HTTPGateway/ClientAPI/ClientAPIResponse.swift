import BSON
import Errors
import HTTPTypes
import Hummingbird
import NIOCore

extension Response {
    /// Canonical EJSON under exactly `application/json`, as every client of this API wants it.
    static func json(_ document: BSONDocument, status: HTTPResponse.Status = .ok) -> Response {
        json(value: .document(document), status: status)
    }

    /// As ``json(_:status:)`` for any value.
    static func json(value: BSONValue, status: HTTPResponse.Status = .ok) -> Response {
        var bytes: [UInt8] = []
        ExtendedJSON.writeCanonical(value, to: &bytes)
        return Response(
            status: status,
            headers: [.contentType: "application/json"],
            body: .init(byteBuffer: ByteBuffer(bytes: bytes))
        )
    }

    /// A status alone, without body and content type: `realm-web` refuses any other type.
    static func empty(_ status: HTTPResponse.Status) -> Response {
        Response(status: status)
    }
}

/// The body of a client API request: an EJSON document, or nothing.
struct ClientAPIBody {
    let document: BSONDocument

    /// Logins and the like are small.
    private static let maxBytes = 1 << 20

    /// An empty body reads as an empty document, whatever its content type says.
    init(_ request: Request, settings: GatewaySettings, gate: RequestGate) async throws(ServiceError) {
        var room: RequestGate.Room?
        let reader = RequestBodyReader(maxBytes: min(settings.limits.bodyBytes, Self.maxBytes), gate: gate)
        try self.init(
            try await reader.read(request.headers, .arriving(request.body), &room),
            limits: settings.limits.read
        )
    }

    /// A body that has been read.
    init(_ bytes: [UInt8], limits: ReadLimits) throws(ServiceError) {
        guard !bytes.isEmpty else {
            document = BSONDocument()
            return
        }
        do {
            document = try ExtendedJSON.readDocument(bytes, limits: limits)
        } catch {
            throw ServiceError(
                .invalidParameter,
                "invalid json in request body: \(error.sentence)",
                serverCode: error.serverCode,
                details: error.details
            )
        }
    }

    /// A member that must be a string.
    func text(_ name: String) throws(ServiceError) -> String {
        guard case .string(let text)? = document[name] else {
            throw ServiceError(
                .invalidParameter,
                "'\(name)' is a required string",
                details: [name: "must be a string"]
            )
        }
        return text
    }

    /// A member that must be an array, if it is there.
    func array(_ name: String) throws(ServiceError) -> [BSONValue] {
        guard let value = document[name], !value.isNull else { return [] }
        guard let elements = value.array else {
            throw ServiceError(
                .invalidParameter,
                "'\(name)' must be an array",
                details: [name: "must be an array"]
            )
        }
        return elements
    }
}
