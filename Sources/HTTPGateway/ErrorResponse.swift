import Accounts
import BSON
import Errors
import HTTPTypes
import Hummingbird
import NIOCore
import Services

/// Renders a ``ServiceError`` as the body that the clients know:
/// `{"error": …, "error_code": …, "link": …}`, always `application/json` and nothing behind it,
/// because `realm-core` compares the whole header value (client-api.md §1).
struct ErrorResponse {
    let error: ServiceError
    let app: String?
    let requestID: String

    var response: Response {
        var headers = HTTPFields()
        headers[.contentType] = "application/json"
        if [.tooManyRequests, .maintenanceInProgress, .idempotencyKeyInUse].contains(error.code) {
            headers[.retryAfter] = error.details["retryAfter"] ?? "1"
        }
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: body)))
    }

    /// A denied insert, update or delete answers 400 although its code says 403 elsewhere (rules.md §13.2); an
    /// unknown service 404 in the client API, and 400 in the Data API (client-api.md §9.1).
    var status: HTTPResponse.Status {
        if error.cause is WriteDenial { return .badRequest }
        if error.cause is UnknownService { return .notFound }
        return error.code.status
    }

    var body: [UInt8] {
        var document = BSONDocument()
        document.append("error", .string(error.message))
        if !error.code.isBare, !AccountFailure.omitsCode(error) {
            document.append("error_code", .string(error.code.rawValue))
            if let serverCode = error.serverCode {
                document.append("code", .int32(Int32(clamping: serverCode.number)))
                document.append("codeName", .string(serverCode.name))
            }
            if let writes = error.cause as? WriteErrors {
                document.append("writeErrors", .array(writes.errors.map(\.answer)))
            }
            document.append("link", .string(link))
        }
        var bytes: [UInt8] = []
        PlainJSON.write(.document(document), to: &bytes)
        return bytes
    }

    private var link: String { "/apps/\(app ?? "")/logs?co_id=\(requestID)" }
}
