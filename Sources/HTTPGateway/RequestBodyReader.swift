import Errors
import Hummingbird
import NIOCore

/// Collects a request's body within a size and a time.
///
/// A body that drips is refused when its time is up at the next byte; one that stalls without a byte
/// is closed by the connection's idle time-out.
struct RequestBodyReader {
    let maxBytes: Int
    let timeout: Duration

    /// - Throws: `ReadSizeLimitExceeded` beyond the size, `BadRequest` beyond the time.
    func read(_ request: Request) async throws(ServiceError) -> [UInt8] {
        if let announced = request.headers[.contentLength].flatMap({ Int($0) }), announced > maxBytes {
            throw tooLarge
        }
        let due = ContinuousClock.now + timeout
        var bytes: [UInt8] = []
        do {
            for try await chunk in request.body {
                guard bytes.count + chunk.readableBytes <= maxBytes else { throw tooLarge }
                chunk.withUnsafeReadableBytes { bytes.append(contentsOf: $0) }
                if ContinuousClock.now > due {
                    throw ServiceError(.badRequest, "the request body took too long to arrive")
                }
            }
        } catch let error as ServiceError {
            throw error
        } catch {
            throw ServiceError(.badRequest, "the request body did not arrive whole", cause: error)
        }
        return bytes
    }

    private var tooLarge: ServiceError {
        ServiceError(
            .readSizeLimitExceeded,
            "request body too large",
            details: ["maxBodyBytes": "\(maxBytes)"]
        )
    }
}
