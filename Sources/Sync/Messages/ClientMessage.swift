public import BSON

/// What a device says.
///
/// Source: `realm-sync-protocol.md` §3.
public enum ClientMessage: Sendable, Hashable {
    case bind(SessionIdent, Bind)
    case ident(SessionIdent, Ident)
    case query(SessionIdent, SubscriptionSet)
    case upload(SessionIdent, Upload)
    case mark(SessionIdent, request: Int64)
    case unbind(SessionIdent)
    case ping(timestamp: Int64)
    /// A device could not take in what it was sent.
    case error(SessionIdent?, code: Int64, message: String)
    case testCommand(SessionIdent, request: Int64, body: ByteText)

    /// The begin of a session.
    public struct Bind: Sendable, Hashable {
        /// Of Flexible Sync, or the partition in extended JSON.
        public enum Target: Sendable, Hashable {
            case flexible(schemaVersion: Int64, isReset: Bool, migratedPartition: ByteText?)
            case partition(ByteText)
        }

        /// What is to be synced.
        public var target: Target
        /// Whether the device's file has no identifier yet.
        public var needsIdent: Bool

        /// Made of its parts.
        public init(target: Target, needsIdent: Bool) {
            self.target = target
            self.needsIdent = needsIdent
        }
    }

    /// Who the file is and where it stands.
    public struct Ident: Sendable, Hashable {
        /// The file's identifier and its secret.
        public var file: FileIdent
        /// How far the device has integrated the server's history.
        public var progress: DownloadCursor
        /// The newest version that the device has heard of.
        public var latest: VersionSalt
        /// The active subscription set, in Flexible Sync.
        public var query: SubscriptionSet?

        /// Made of its parts.
        public init(
            file: FileIdent,
            progress: DownloadCursor,
            latest: VersionSalt,
            query: SubscriptionSet? = nil
        ) {
            self.file = file
            self.progress = progress
            self.latest = latest
            self.query = query
        }
    }

    /// Changes of a device, or the acknowledgement of the server's.
    public struct Upload: Sendable, Hashable {
        /// Every version up to it is in the message or empty.
        public var clientVersion: Int64
        /// The server's version that the device had integrated then.
        public var serverVersion: Int64
        /// History from here on is to be kept.
        public var lockedServerVersion: Int64
        /// In the order of their versions.
        public var changesets: [UploadedChangeset]
    }
}

/// A file on a device, as the server knows it.
public struct FileIdent: Sendable, Hashable {
    /// From 2; 1 is the server itself.
    public var ident: Int64
    /// What only the file and the server know.
    public var salt: Int64

    /// Made of its parts.
    public init(ident: Int64, salt: Int64) {
        self.ident = ident
        self.salt = salt
    }
}

/// A version of the server's history with the salt of its epoch.
public struct VersionSalt: Sendable, Hashable {
    /// From 1; 0 is before the begin.
    public var version: Int64
    /// Another one after a restored backup or a terminated sync.
    public var salt: Int64

    /// Made of its parts.
    public init(version: Int64, salt: Int64) {
        self.version = version
        self.salt = salt
    }
}

/// How far a device has come in the server's history.
public struct DownloadCursor: Sendable, Hashable {
    /// The server's version.
    public var server: Int64
    /// The device's own version that the server had integrated at that point.
    public var client: Int64

    /// Made of its parts.
    public init(server: Int64, client: Int64) {
        self.server = server
        self.client = client
    }
}

/// What a device wants to hold: a query per class.
public struct SubscriptionSet: Sendable, Hashable {
    /// Rises with every set of the file; 0 is the empty one at the begin.
    public var version: Int64
    /// The JSON object as it came: `{"Item":"(complexity < 5)"}`.
    public var body: ByteText

    /// Made of its parts.
    public init(version: Int64, body: ByteText) {
        self.version = version
        self.body = body
    }
}

/// One transaction of a device, still encoded.
public struct UploadedChangeset: Sendable, Hashable {
    /// The device's version.
    public var clientVersion: Int64
    /// The server's version that the device had integrated before.
    public var serverVersion: Int64
    /// Milliseconds since 2015-01-01T00:00:00Z, by the device's clock.
    public var timestamp: Int64
    /// 0 for the device itself.
    public var originFile: Int64
    /// The instructions.
    public var bytes: [UInt8]
}
