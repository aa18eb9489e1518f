import Synchronization

/// Whether requests can be served, part by part; asked at most once a second however many ask us.
///
/// One probe runs at a time: those who ask meanwhile get what is known. When the server begins to shut
/// down it is not ready from that moment on, whatever the probe says.
public final class Readiness: Sendable {
    /// Something that keeps requests from being served.
    public struct Fault: Sendable, Equatable {
        /// What is not ready.
        public enum Part: String, CaseIterable, Sendable {
            /// The server itself: it shuts down.
            case server
            /// PostgreSQL.
            case database
            /// The database's schema.
            case migrations
            /// The apps' configurations.
            case apps
        }

        /// What is not ready.
        public let part: Part
        /// Why, in one sentence without secrets.
        public let reason: String

        /// A fault of a part.
        public init(_ part: Part, _ reason: String) {
            self.part = part
            self.reason = reason
        }
    }

    private struct Known {
        var faults = [Fault(.database, "it has not been asked yet")]
        var until = ContinuousClock.now
        var isProbing = false
    }

    private let hasBegunShutdown = Atomic(false)
    private let known = Mutex(Known())
    private let probe: @Sendable () async -> [Fault]

    /// - Parameter probe: Finds what is not ready; must end by itself within seconds.
    public init(probe: @escaping @Sendable () async -> [Fault]) {
        self.probe = probe
    }

    /// Not ready from now on, so that nobody sends new requests while the last ones are answered.
    public func beginShutdown() {
        hasBegunShutdown.store(true, ordering: .releasing)
    }

    /// Whether the server has been told to stop.
    public var isShuttingDown: Bool { hasBegunShutdown.load(ordering: .acquiring) }

    /// What keeps requests from being served; empty when nothing does.
    public func faults() async -> [Fault] {
        if isShuttingDown { return [Fault(.server, "it is shutting down")] }
        let (faults, isFresh) = known.withLock { known in
            let isFresh = known.isProbing || ContinuousClock.now < known.until
            if !isFresh { known.isProbing = true }
            return (known.faults, isFresh)
        }
        if isFresh { return faults }
        let found = await probe()
        known.withLock { known in
            known.faults = found
            known.until = ContinuousClock.now + .seconds(1)
            known.isProbing = false
        }
        return found
    }

    /// Whether nothing keeps requests from being served.
    public func isReady() async -> Bool {
        await faults().isEmpty
    }
}
