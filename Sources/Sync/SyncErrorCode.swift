/// The numbers that a device understands; the raw value is what stands on the wire.
///
/// Codes that the client of realm-core 14 treats as unreachable (104, 202, 203, 205, 207, 214, 215, 218 … 221, 224)
/// are left out, so that nothing can send them.
///
/// Source: `sync-semantics.md` §9.3.
public enum SyncErrorCode: Int, Sendable, Hashable, CaseIterable {
    case connectionClosed = 100
    case otherError = 101
    case unknownMessage = 102
    case badSyntax = 103
    case badSessionIdent = 106
    case reuseOfSessionIdent = 107
    case boundInOtherSession = 108
    case badMessageOrder = 109
    case badDecompression = 110
    case badChangesetHeaderSyntax = 111
    case badChangesetSize = 112
    case switchToFlexibleSync = 113
    case switchToPartitionSync = 114
    case sessionClosed = 200
    case otherSessionError = 201
    case illegalRealmPath = 204
    case permissionDenied = 206
    case badClientFileIdent = 208
    case badServerVersion = 209
    case badClientVersion = 210
    case divergingHistories = 211
    case badChangeset = 212
    case badOriginFileIdent = 216
    case badClientFile = 217
    case clientFileExpired = 222
    case userMismatch = 223
    case invalidSchemaChange = 225
    case badQuery = 226
    case objectAlreadyExists = 227
    case serverPermissionsChanged = 228
    case initialSyncNotCompleted = 229
    case writeNotAllowed = 230
    case compensatingWrite = 231
    case migrateToFlexibleSync = 232
    case revertToPartitionSync = 234
    case badSchemaVersion = 235
    case schemaVersionChanged = 236

    /// Whether it ends the connection rather than one session.
    public var endsConnection: Bool { rawValue < 200 }

    /// What the device does, by the name on the wire.
    public var action: Action {
        switch self {
        case .connectionClosed, .otherError, .badSessionIdent, .boundInOtherSession, .sessionClosed,
            .initialSyncNotCompleted:
            .transient
        case .unknownMessage, .badSyntax, .reuseOfSessionIdent, .badMessageOrder, .badDecompression,
            .badChangesetHeaderSyntax, .badChangesetSize, .badOriginFileIdent:
            .protocolViolation
        case .switchToFlexibleSync, .switchToPartitionSync, .otherSessionError, .illegalRealmPath,
            .permissionDenied, .invalidSchemaChange, .badQuery, .badSchemaVersion:
            .applicationBug
        case .badClientFileIdent, .badServerVersion, .badClientVersion, .divergingHistories, .badChangeset,
            .badClientFile, .clientFileExpired, .userMismatch, .objectAlreadyExists,
            .serverPermissionsChanged:
            .clientReset
        case .writeNotAllowed, .compensatingWrite: .warning
        case .migrateToFlexibleSync: .migrateToFlexibleSync
        case .revertToPartitionSync: .revertToPartitionSync
        case .schemaVersionChanged: .migrateSchema
        }
    }

    /// Whether the device may try again, which is the opposite of fatal.
    public var tryAgain: Bool {
        switch self {
        case .writeNotAllowed: true
        default: action == .transient || action == .warning || action == .migrateSchema
        }
    }

    /// What a device does about an error; the raw value is the name on the wire.
    ///
    /// Source: `sync-semantics.md` §9.2.
    public enum Action: String, Sendable, Hashable, CaseIterable {
        case protocolViolation = "ProtocolViolation"
        case applicationBug = "ApplicationBug"
        case warning = "Warning"
        case transient = "Transient"
        case deleteRealm = "DeleteRealm"
        case clientReset = "ClientReset"
        case clientResetNoRecovery = "ClientResetNoRecovery"
        case migrateToFlexibleSync = "MigrateToFLX"
        case revertToPartitionSync = "RevertToPBS"
        case migrateSchema = "MigrateSchema"
    }
}
