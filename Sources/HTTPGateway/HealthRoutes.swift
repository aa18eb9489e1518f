import Errors
import Hummingbird
import Synchronization

/// Whether the database answers, asked at most once a second however many ask us.
final class HealthCheck: Sendable {
    private struct Known {
        var ready = false
        var until = ContinuousClock.now
    }

    private let known = Mutex(Known())
    private let probe: @Sendable () async -> Bool

    init(probe: @escaping @Sendable () async -> Bool) {
        self.probe = probe
    }

    func isReady() async -> Bool {
        let (ready, isFresh) = known.withLock { ($0.ready, ContinuousClock.now < $0.until) }
        if isFresh { return ready }
        // The next second's askers get the old answer while this one asks.
        known.withLock { $0.until = ContinuousClock.now + .seconds(1) }
        let answer = await probe()
        known.withLock { $0.ready = answer }
        return answer
    }
}

/// `GET /health`: the process runs.
///
/// `GET /ready`: it can serve.
struct HealthRoutes {
    let check: HealthCheck

    func add(to router: Router<GatewayContext>) {
        router.get("/health") { _, _ in
            Response(
                status: .ok,
                headers: [.contentType: "application/json"],
                body: .init(byteBuffer: ByteBuffer(string: #"{"status":"ok"}"#))
            )
        }
        router.get("/ready") { _, _ in
            guard await check.isReady() else {
                throw ServiceError(.maintenanceInProgress, "the database does not answer")
            }
            return Response(
                status: .ok,
                headers: [.contentType: "application/json"],
                body: .init(byteBuffer: ByteBuffer(string: #"{"status":"ready"}"#))
            )
        }
    }
}
