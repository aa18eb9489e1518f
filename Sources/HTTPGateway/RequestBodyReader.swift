import Errors
import Hummingbird
import NIOCore

/// Collects a request's body within a size; ``SlowBodyHandler`` bounds the time.
struct RequestBodyReader {
    let maxBytes: Int

    /// The bytes of a body that arrived whole.
    ///
    /// - Throws: `ReadSizeLimitExceeded` beyond the size, `BadRequest` for a body that was cut short.
    func read(_ request: Request) async throws(ServiceError) -> [UInt8] {
        let announced = request.headers[.contentLength].flatMap { Int($0) }
        if let announced, announced > maxBytes { throw tooLarge }
        var bytes: [UInt8] = []
        do {
            for try await chunk in request.body {
                guard bytes.count + chunk.readableBytes <= maxBytes else { throw tooLarge }
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
