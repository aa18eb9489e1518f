import Glibc
public import Logging
import Synchronization

/// Log lines for programs: one JSON object a line, on standard error.
///
/// Shape: `{"time":"2026-11-21T08:55:59.123Z","level":"warning","logger":"tidegate","source":"Postgres",
/// "message":"slow statement","request_id":"…","ms":1200.5}`. Metadata are members beside these; one whose
/// name is taken is called `metadata_NAME`.
public struct JSONLogHandler: LogHandler {
    /// What each line carries, unless it says otherwise.
    public var metadata: Logger.Metadata = [:]
    /// What is added of the task that logs.
    public var metadataProvider: Logger.MetadataProvider?
    /// The least level that is written.
    public var logLevel: Logger.Level = .info

    private let label: String
    private let write: @Sendable ([UInt8]) -> Void

    /// A handler that writes to standard error, each line in one piece.
    public init(label: String, metadataProvider: Logger.MetadataProvider? = nil) {
        self.init(label: label, metadataProvider: metadataProvider) { line in
            Self.turn.withLock { _ in Self.writeAll(line) }
        }
    }

    init(
        label: String,
        metadataProvider: Logger.MetadataProvider?,
        write: @escaping @Sendable ([UInt8]) -> Void
    ) {
        self.label = label
        self.metadataProvider = metadataProvider
        self.write = write
    }

    /// What each line carries under a key.
    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Writes one line.
    public func log(event: LogEvent) {
        var merged = metadata
        if let provided = metadataProvider?.get() { merged.merge(provided) { _, newer in newer } }
        if let given = event.metadata { merged.merge(given) { _, newer in newer } }
        var line = JSONLogLine(time: Self.now)
        line.add("level", event.level.rawValue)
        line.add("logger", label)
        line.add("source", event.source)
        line.add("message", event.message.description)
        if let error = event.error { line.add("error", String(describing: error)) }
        for (key, value) in merged.sorted(by: { $0.key < $1.key }) { line.add(key, value) }
        write(line.finished())
    }

    /// Keeps lines whole that one write does not take.
    private static let turn = Mutex(())

    private static func writeAll(_ line: [UInt8]) {
        var rest = line[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            // Nobody reads it any more; there is no other place to say so.
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    private static var now: timespec {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return now
    }
}
