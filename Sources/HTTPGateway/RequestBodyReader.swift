import Errors
import HTTPTypes
import Hummingbird
import NIOCore

/// The body of a request.
enum IncomingBody {
    /// It has arrived, and is small.
    case whole(ByteBuffer)
    /// It is to be collected.
    case arriving(RequestBody)
}

/// Collects a request's body within a size; ``SlowBodyHandler`` bounds the time.
struct RequestBodyReader {
    let maxBytes: Int
    let gate: RequestGate

    /// The bytes of a body that arrived whole.
    ///
    /// - Parameters:
    ///   - headers: Those of the request.
    ///   - body: Its body.
    ///   - room: Filled for a large body; to be held as long as the body is of use.
    /// - Returns: The bytes.
    /// - Throws: `ReadSizeLimitExceeded` beyond the size, `BadRequest` for a body that was cut short,
    ///   `MaintenanceInProgress` when there is no room for it.
    func read(
        _ headers: HTTPFields,
        _ body: IncomingBody,
        _ room: inout RequestGate.Room?
    ) async throws(ServiceError) -> [UInt8] {
        switch body {
        case .whole(let buffer):
            guard buffer.readableBytes <= maxBytes else { throw tooLarge }
            return Array(buffer.readableBytesView)
        case .arriving(let body): return try await collect(headers, body, &room)
        }
    }

    private func collect(
        _ headers: HTTPFields,
        _ body: RequestBody,
        _ room: inout RequestGate.Room?
    ) async throws(ServiceError) -> [UInt8] {
        let announced = headers[.contentLength].flatMap { Int($0) }
        if let announced, announced > maxBytes { throw tooLarge }
        if let announced, announced > RequestGate.smallBody { room = try gate.room(announced) }
        var bytes: [UInt8] = []
        do {
            for try await chunk in body {
                let count = bytes.count + chunk.readableBytes
                guard count <= maxBytes else { throw tooLarge }
                // A body that did not announce its size may become as large as any.
                if room == nil, count > RequestGate.smallBody { room = try gate.room(maxBytes) }
                chunk.withUnsafeReadableBytes { bytes.append(contentsOf: $0) }
            }
        } catch let error as ServiceError {
            throw error
        } catch {
            throw ServiceError(.badRequest, "the request body did not arrive whole", cause: error)
        }
        if let announced, bytes.count < announced {
            throw ServiceError(
                .badRequest,
                "the request body took too long to arrive: \(bytes.count) of \(announced) bytes came"
            )
        }
        return bytes
    }

    private var tooLarge: ServiceError {
        ServiceError(
            .readSizeLimitExceeded,
            "request body too large: more than \(maxBytes) bytes (limit max-body-bytes)",
            details: ["limit": "max-body-bytes"]
        )
    }
}
