import Errors
import Hummingbird

/// `GET /health`: the process runs.
///
/// `GET /ready`: it can serve.
struct HealthRoutes {
    let isReady: @Sendable () async -> Bool

    func add(to router: Router<GatewayContext>) {
        router.get("/health") { _, _ in
            Response(
                status: .ok,
                headers: [.contentType: "application/json"],
                body: .init(byteBuffer: ByteBuffer(string: #"{"status":"ok"}"#))
            )
        }
        router.get("/ready") { _, _ in
            guard await isReady() else {
                throw ServiceError(.maintenanceInProgress, "the server is not ready")
            }
            return Response(
                status: .ok,
                headers: [.contentType: "application/json"],
                body: .init(byteBuffer: ByteBuffer(string: #"{"status":"ready"}"#))
            )
        }
    }
}
