import Sync

/// The parts of a bootstrap, of which the last one must be known as such.
struct SyncParts {
    /// One part.
    struct Part {
        let changeset: [UInt8]
        let isLast: Bool

        /// All parts are at one version.
        func entry(_ progress: DownloadLedger.Progress, _ timestamp: Int64) -> DownloadLedger.Entry {
            DownloadLedger.Entry(
                serverVersion: progress.download.server,
                clientVersion: progress.download.client,
                timestamp: timestamp,
                originFile: 1,
                changeset: changeset
            )
        }
    }

    let queryVersion: Int64
    /// Milliseconds since 2015.
    let timestamp: Int64
    private var waiting: [[UInt8]] = []
    private var isDone = false

    init(queryVersion: Int64, timestamp: Int64) {
        self.queryVersion = queryVersion
        self.timestamp = timestamp
    }

    mutating func add(_ changeset: [UInt8]) { waiting.append(changeset) }

    /// The next part that can be sent: all but one, or all when no more will come.
    ///
    /// A bootstrap without any entry would make the client ask again for ever, so that one without content is one
    /// empty part.
    mutating func next(isLast: Bool) -> Part? {
        if waiting.count > 1 { return Part(changeset: waiting.removeFirst(), isLast: false) }
        guard isLast, !isDone else { return nil }
        isDone = true
        return Part(changeset: waiting.isEmpty ? [] : waiting.removeFirst(), isLast: true)
    }
}
