import Logging
import Synchronization

/// A level that all copies of a logger share.
final class LogThreshold: Sendable {
    private let level: Mutex<Logger.Level>

    init(_ level: Logger.Level) {
        self.level = Mutex(level)
    }

    var value: Logger.Level {
        get { level.withLock { $0 } }
        set { level.withLock { $0 = newValue } }
    }
}

/// A log whose level holds for every copy of its logger, and can be changed while the server runs.
struct AdjustableLog<Base: LogHandler>: LogHandler {
    private let threshold: LogThreshold
    private var base: Base

    init(_ base: Base, threshold: LogThreshold) {
        self.threshold = threshold
        self.base = base
        self.base.logLevel = .trace
    }

    var metadataProvider: Logger.MetadataProvider? {
        get { base.metadataProvider }
        set { base.metadataProvider = newValue }
    }

    var logLevel: Logger.Level {
        get { threshold.value }
        set { threshold.value = newValue }
    }

    var metadata: Logger.Metadata {
        get { base.metadata }
        set { base.metadata = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { base[metadataKey: key] }
        set { base[metadataKey: key] = newValue }
    }

    func log(event: LogEvent) {
        base.log(event: event)
    }
}
