import Errors
import HTTPGateway
import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle

/// A door for clients: takes connections in on one address, and serves them on the event loops.
///
/// The framework's own server makes everything that a connection needs before it looks at the next one, on event loops
/// that have others to serve; ``Reception`` says why that is not enough here.
struct HTTPDoor<Child: ServerChildChannel>: Service {
    let child: Child
    let host: String
    let port: Int
    /// That chose the port.
    let setting: Setting
    /// Whether it is without TLS.
    let isPlain: Bool
    let policy: ConnectionPolicy
    let loops: DoorLoops
    let logger: Logger
    /// Called with the port once it listens.
    let onOpen: @Sendable (Int) async -> Void

    func run() async throws {
        let listening: ListeningSocket
        do {
            listening = try ListeningSocket(host: host, port: port)
        } catch {
            throw ServiceError(
                .invalidSetting,
                "\(setting.name): cannot listen on \(host):\(port): \(error)"
            )
        }
        let connections = DoorConnections(
            policy.guarded(child, isPlain: isPlain),
            on: loops,
            turnstiles: policy.turnstiles,
            count: policy.connections,
            logger: logger
        )
        let reception = Reception(
            listening,
            isPlain: isPlain,
            connections: policy.connections,
            patience: policy.headTimeout
        ) { connections.receive($0) }
        reception.start()
        await onOpen(listening.port)
        // Ends the same way when it is cancelled.
        try? await gracefulShutdown()
        await reception.stop()
        await connections.end()
    }
}
