/// Makes the DOWNLOAD messages of one session, and holds each number to what the client enforces.
///
/// A wrong number closes the connection with an error that the app is shown, so nothing else may make this message.
/// Source: `realm-sync-protocol.md` §4.2.
public struct DownloadLedger: Sendable {
    /// A part of the server's history.
    public struct Entry: Sendable, Hashable {
        /// The version that made it.
        public var serverVersion: Int64
        /// The receiver's own version that this change knew of.
        public var clientVersion: Int64
        /// Milliseconds since 2015-01-01T00:00:00Z.
        public var timestamp: Int64
        /// Where it was made: 1 is the server.
        public var originFile: Int64
        /// The instructions, encoded.
        public var changeset: [UInt8]

        /// Made of its parts.
        public init(
            serverVersion: Int64,
            clientVersion: Int64,
            timestamp: Int64,
            originFile: Int64,
            changeset: [UInt8]
        ) {
            self.serverVersion = serverVersion
            self.clientVersion = clientVersion
            self.timestamp = timestamp
            self.originFile = originFile
            self.changeset = changeset
        }
    }

    /// What kind of message it is; the raw value stands on the wire.
    public enum Batch: Int, Sendable, Hashable {
        case moreToCome = 0
        case lastInBatch = 1
        case steadyState = 2
    }

    /// Everything beside the entries.
    public struct Progress: Sendable, Hashable {
        /// Where the device stands when it has taken this in.
        public var download: DownloadCursor
        /// The newest version of the history.
        public var latest: VersionSalt
        /// The device's own last version that was integrated, and the server's version given with it.
        public var upload: DownloadCursor

        /// Made of its parts.
        public init(download: DownloadCursor, latest: VersionSalt, upload: DownloadCursor) {
            self.download = download
            self.latest = latest
            self.upload = upload
        }
    }

    /// What a number broke; nothing is sent then.
    public struct Violation: Error, Sendable, CustomStringConvertible {
        /// The rule.
        public let description: String
    }

    /// A body longer than this is packed.
    static let packsAbove = 1024

    private let session: SessionIdent
    private let ownFile: Int64
    private let isFlexible: Bool
    private let protocolVersion: Int
    private(set) var last: Progress
    private var bootstrapEntries = 0

    /// Begins where the device's IDENT says that it stands.
    public init(
        session: SessionIdent,
        ownFile: Int64,
        isFlexible: Bool,
        protocolVersion: Int,
        ident: ClientMessage.Ident
    ) {
        self.session = session
        self.ownFile = ownFile
        self.isFlexible = isFlexible
        self.protocolVersion = protocolVersion
        last = Progress(
            download: ident.progress,
            latest: ident.latest,
            upload: DownloadCursor(server: 0, client: ident.progress.client)
        )
    }

    /// The bytes of one message, after every rule has been checked.
    ///
    /// - Parameters:
    ///   - progress: Where the device stands afterwards.
    ///   - entries: What it gets, in the order of their versions.
    ///   - queryVersion: Of the subscription set that this answers; 0 without Flexible Sync.
    ///   - batch: Which part of a bootstrap it is, or none.
    ///   - estimate: How much of the bootstrap is done with it, 0 … 1.
    ///   - following: How many bytes of changesets follow at least; without Flexible Sync.
    /// - Returns: One frame.
    /// - Throws: ``Violation`` when the client would close the connection.
    public mutating func message(
        _ progress: Progress,
        _ entries: [Entry],
        queryVersion: Int64 = 0,
        batch: Batch = .steadyState,
        estimate: Double = 1,
        following: Int = 0
    ) throws(Violation) -> [UInt8] {
        try check(progress)
        try check(entries, progress)
        try check(batch, entries.count)
        last = progress
        let outlook =
            isFlexible ? "\(queryVersion) \(batch.rawValue) \(estimateText(estimate))" : "\(following)"
        return render(progress, entries, outlook)
    }

    private func check(_ progress: Progress) throws(Violation) {
        let rules: [(Bool, String)] = [
            (progress.download.server >= last.download.server, "the download cursor went back"),
            (progress.download.server <= progress.latest.version, "the download cursor is past the history"),
            (
                progress.download.server >= progress.upload.server,
                "the download cursor is before the upload's"
            ),
            (progress.download.client >= last.download.client, "the cursor's client version went back"),
            (
                progress.download.client <= progress.upload.client,
                "the cursor's client version is past the upload"
            ),
            (progress.latest.version >= last.latest.version, "the latest version went back"),
            (progress.upload.client >= last.upload.client, "the uploaded version went back"),
        ]
        for (holds, rule) in rules where !holds { throw Violation(description: rule) }
    }

    private func check(_ entries: [Entry], _ progress: Progress) throws(Violation) {
        var server = last.download.server
        var client = last.download.client
        for entry in entries {
            let rules: [(Bool, String)] = [
                (entry.serverVersion > 0, "an entry has no version"),
                (
                    isFlexible ? entry.serverVersion >= server : entry.serverVersion > server,
                    "an entry went back"
                ),
                (entry.serverVersion <= progress.download.server, "an entry is past the cursor"),
                (entry.clientVersion >= client, "an entry's client version went back"),
                (
                    entry.clientVersion <= progress.download.client,
                    "an entry's client version is past the cursor"
                ),
                (entry.originFile > 0 && entry.originFile != ownFile, "an entry comes from the receiver"),
            ]
            for (holds, rule) in rules where !holds { throw Violation(description: rule) }
            server = entry.serverVersion
            client = entry.clientVersion
        }
    }

    private mutating func check(_ batch: Batch, _ count: Int) throws(Violation) {
        switch batch {
        case .steadyState:
            if bootstrapEntries > 0 { throw Violation(description: "a bootstrap was interrupted") }
        case .moreToCome:
            if count == 0 { throw Violation(description: "a part of a bootstrap is empty") }
            bootstrapEntries += count
        case .lastInBatch:
            if bootstrapEntries + count == 0 { throw Violation(description: "a bootstrap is empty") }
            bootstrapEntries = 0
        }
    }

    private func render(
        _ progress: Progress,
        _ entries: [Entry],
        _ outlook: String
    ) -> [UInt8] {
        var body: [UInt8] = []
        for entry in entries {
            let size = entry.changeset.count
            body += Array(
                "\(entry.serverVersion) \(entry.clientVersion) \(entry.timestamp) \(entry.originFile) \(size) \(size) "
                    .utf8
            )
            body += entry.changeset
        }
        var head = "download \(session.number) \(progress.download.server) \(progress.download.client) "
        head += "\(progress.latest.version) \(progress.latest.salt) "
        head += "\(progress.upload.client) \(progress.upload.server) \(outlook) "
        if body.count > Self.packsAbove, let packed = Deflation.deflate(body) {
            return Array("\(head)1 \(body.count) \(packed.count)\n".utf8) + packed
        }
        return Array("\(head)0 \(body.count) 0\n".utf8) + body
    }

    /// A decimal from protocol 12 on; before it, bytes that are left: unknown, so 0.
    private func estimateText(_ estimate: Double) -> String {
        guard protocolVersion >= 12 else { return "0" }
        if estimate >= 1 { return "1.0" }
        let thousandths = max(0, Int(estimate * 1000))
        let digits = String(thousandths)
        return "0." + String(repeating: "0", count: max(0, 3 - digits.count)) + digits
    }
}
