import BSON

/// What the server says to a device, as the bytes of one binary frame.
///
/// DOWNLOAD is not here: ``DownloadLedger`` alone makes it. Source: `realm-sync-protocol.md` §4.
public enum ServerMessage {
    /// Gives a file its identifier.
    public static func ident(_ session: SessionIdent, _ file: FileIdent) -> [UInt8] {
        Array("ident \(session.number) \(file.ident) \(file.salt)\n".utf8)
    }

    /// Everything that was in history when the request arrived has been sent.
    public static func mark(_ session: SessionIdent, request: Int64) -> [UInt8] {
        Array("mark \(session.number) \(request)\n".utf8)
    }

    /// The session is over, as the device asked.
    public static func unbound(_ session: SessionIdent) -> [UInt8] {
        Array("unbound \(session.number)\n".utf8)
    }

    /// Answers PING with its own number.
    public static func pong(timestamp: Int64) -> [UInt8] { Array("pong \(timestamp)\n".utf8) }

    /// A query of a device cannot be served; the session goes on.
    public static func queryError(_ session: SessionIdent, queryVersion: Int64, message: String) -> [UInt8] {
        let code = SyncErrorCode.badQuery.rawValue
        return Array(
            "query_error \(code) \(message.utf8.count) \(session.number) \(queryVersion)\n\(message)".utf8
        )
    }

    /// Something for the device's log.
    public static func log(_ session: SessionIdent?, level: String, message: String, connection: String)
        -> [UInt8]
    {
        var body: [UInt8] = []
        PlainJSON.write(
            BSONDocument([
                BSONDocument.Field(key: "co_id", value: .string(connection)),
                BSONDocument.Field(key: "level", value: .string(level)),
                BSONDocument.Field(key: "msg", value: .string(message)),
            ]),
            to: &body
        )
        return Array("log_message \(session?.number ?? 0) \(body.count)\n".utf8) + body
    }

    /// Answers a test's command.
    public static func testCommand(_ session: SessionIdent, request: Int64, body: String) -> [UInt8] {
        Array("test_command \(session.number) \(request) \(body.utf8.count)\n\(body)".utf8)
    }

    /// An error of a session, or of the connection.
    public static func error(_ session: SessionIdent?, _ error: SyncErrorReport) -> [UInt8] {
        var body: [UInt8] = []
        PlainJSON.write(error.document, to: &body)
        return Array("json_error \(error.code.rawValue) \(body.count) \(session?.number ?? 0)\n".utf8) + body
    }
}

/// An error as a device is told it.
///
/// Source: `realm-sync-protocol.md` §4.3.
public struct SyncErrorReport: Sendable {
    /// A write that was undone.
    public struct RejectedUpdate: Sendable, Hashable {
        /// The object.
        public let object: ObjectAddress
        /// Why, in words of `sync-semantics.md` §6.5.
        public let reason: String

        /// Made of its parts.
        public init(object: ObjectAddress, reason: String) {
            self.object = object
            self.reason = reason
        }
    }

    /// The writes that were undone, and where.
    public struct Rejection: Sendable, Hashable {
        /// Each object once.
        public let updates: [RejectedUpdate]
        /// The device's version that made them.
        public let clientVersion: Int64
        /// The server's version that undoes them; nil for data that devices only write.
        public let repairVersion: Int64?

        /// Made of its parts.
        public init(updates: [RejectedUpdate], clientVersion: Int64, repairVersion: Int64?) {
            self.updates = updates
            self.clientVersion = clientVersion
            self.repairVersion = repairVersion
        }
    }

    /// The number.
    public var code: SyncErrorCode
    /// For people.
    public var message: String
    /// What the device is to do; that of the code unless recovery is not allowed.
    public var action: SyncErrorCode.Action
    /// Whether the operator has forbidden devices to keep unsynced changes through a reset.
    public var forbidsRecovery: Bool
    /// For writes that were undone.
    public var rejection: Rejection?
    /// For the migration of a partition: the query that stands for it.
    public var partitionQuery: String?
    /// For a change of the schema's version.
    public var previousSchemaVersion: Int64?

    /// An error with what the device is to know.
    public init(_ fault: SyncFault, forbidsRecovery: Bool = false, rejection: Rejection? = nil) {
        code = fault.code
        message = fault.message
        let resets = fault.code.action == .clientReset
        action = resets && forbidsRecovery ? .clientResetNoRecovery : fault.code.action
        self.forbidsRecovery = forbidsRecovery
        self.rejection = rejection ?? fault.rejection
        partitionQuery = fault.partitionQuery
        previousSchemaVersion = fault.previousSchemaVersion
    }

    var document: BSONDocument {
        let resets = action == .clientReset || action == .clientResetNoRecovery
        var document: BSONDocument = [
            "action": .string(action.rawValue),
            "isRecoveryModeDisabled": .bool(forbidsRecovery),
            "logURL": "",
            "message": .string(message),
            "shouldClientReset": .bool(resets),
            "tryAgain": .bool(code.tryAgain),
        ]
        if let rejection {
            if let version = rejection.repairVersion {
                document.append("compensatingWriteServerVersion", .int64(version))
            }
            document.append("rejectedClientVersion", .int64(rejection.clientVersion))
            document.append("rejectedUpdates", .array(rejection.updates.map { .document(Self.update($0)) }))
        }
        if let partitionQuery { document.append("partitionQuery", .string(partitionQuery)) }
        if let previousSchemaVersion {
            document.append("previousSchemaVersion", .int64(previousSchemaVersion))
        }
        return document
    }

    private static func update(_ update: RejectedUpdate) -> BSONDocument {
        [
            "table": .string(update.object.table.text),
            "pk": .string(base64(ChangesetWriter.bytes(of: update.object.key))),
            "reason": .string(update.reason),
        ]
    }
}

/// Base64 with padding.
private func base64(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    Base64.append(bytes, to: &text)
    return String(decoding: text, as: UTF8.self)
}
