import Glibc
import HTTPGateway
import Logging
import ServiceLifecycle
import Services
import UnixSignals

/// The first thing to happen when the server is told to stop: it says so, and goes on serving for a while.
///
/// Load balancers ask whether it is ready and send new connections elsewhere; clients learn from the answers to
/// close theirs. Only then do the doors stop to listen. The last of the services, so that it is the first to
/// hear of the end.
struct Draining: Service {
    let readiness: Readiness
    let delay: Duration
    let logger: Logger

    func run() async throws {
        try await gracefulShutdown()
        readiness.beginShutdown()
        guard delay > .zero else { return }
        logger.notice(
            "not ready any more, still serving",
            metadata: ["drain_delay": .stringConvertible(delay)]
        )
        try await Task.sleep(for: delay)
    }
}

/// Ends the streams of those who watch, which would never end by themselves, before the doors wait for the last
/// requests.
struct EndOfWatches: Service {
    let watches: WatchService

    func run() async throws {
        try await gracefulShutdown()
        watches.close()
    }
}

/// SIGTERM and SIGINT: the first one ends the server in order, the second one at once.
struct StopSignals: Sendable {
    let group: ServiceGroup
    let logger: Logger

    /// Waits for signals from here to the end of the process, also while the last connections are closed.
    func watch() async {
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        Task {
            var isStopping = false
            for await signal in signals {
                if isStopping {
                    logger.warning("told to stop again: ending at once")
                    _exit(128 + signal.rawValue)
                }
                isStopping = true
                await group.triggerGracefulShutdown()
            }
        }
    }
}
