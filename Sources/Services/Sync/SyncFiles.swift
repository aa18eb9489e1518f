import Accounts
import Errors
import SQL
import Sync

/// What a device says of its file, held against what the server knows.
///
/// Source: `realm-sync-protocol.md` §§3.2, 3.4.
enum SyncFiles {
    /// What is remembered of a file.
    struct Known {
        let upload: DownloadCursor
        let permissions: String?
        /// The version of the schemas that it is made with.
        let schemaVersion: Int64
    }

    static func meet(
        _ service: SyncService,
        _ app: SyncedApp,
        _ ident: ClientMessage.Ident,
        _ caller: SyncCaller,
        partition: SyncPartition?
    ) async throws -> Known {
        let rows = try await service.run(SyncStatements.meet(caller.app, file: ident.file.ident))
        let unknown = SyncFault(.badClientFileIdent, "Bad client file identifier (IDENT)")
        guard rows.rowCount == 1, let salt = rows.int(0, 0), let client = rows.int(0, 2),
            let server = rows.int(0, 3),
            let version = rows.int(0, 6), let trimmed = rows.int(0, 7), let schemaVersion = rows.int(0, 10)
        else { throw unknown }
        guard Int64(salt) == ident.file.salt else { throw unknown }
        guard rows.text(0, 1) == caller.token.userID else {
            throw SyncFault(.userMismatch, "User mismatch for client file identifier (IDENT)")
        }
        guard rows.text(0, 9) == partition?.text else {
            throw SyncFault(
                .badClientFileIdent,
                "Bad client file identifier (IDENT): the file is of another partition"
            )
        }
        if let reason = rows.text(0, 8) { throw mustReset(reason) }
        let progress = ident.progress
        guard progress.server == 0 || progress.server >= Int64(trimmed) else {
            throw SyncFault(.clientFileExpired, "Client file has expired due to log compaction")
        }
        guard progress.server <= ident.latest.version, ident.latest.version <= Int64(version) else {
            throw SyncFault(.badServerVersion, "Bad server version (IDENT)")
        }
        guard progress.client <= Int64(client) else {
            throw SyncFault(.badClientVersion, "Bad client version (IDENT)")
        }
        guard ident.latest.version == 0 || ident.latest.salt == app.salt else {
            throw SyncFault(.divergingHistories, "Diverging histories (IDENT)")
        }
        return Known(
            upload: DownloadCursor(server: Int64(server), client: Int64(client)),
            permissions: rows.text(0, 4),
            schemaVersion: Int64(schemaVersion)
        )
    }

    /// A device must begin anew, and why.
    static func mustReset(_ reason: String) -> SyncFault {
        SyncFault(.badClientFile, "Synchronization no longer possible for client-side file: \(reason)")
    }

    /// Holds the versions of an upload against those that were told.
    ///
    /// - Throws: ``SyncFault`` with `badServerVersion` or `badClientVersion`.
    static func check(_ upload: ClientMessage.Upload, _ known: DownloadCursor, cursor: Int64)
        throws(SyncFault)
    {
        let server = SyncFault(.badServerVersion, "Bad server version (UPLOAD)")
        let client = SyncFault(.badClientVersion, "Bad client version (UPLOAD)")
        guard upload.serverVersion <= cursor, upload.lockedServerVersion <= cursor else { throw server }
        var last = DownloadCursor(server: 0, client: 0)
        for changeset in upload.changesets {
            guard changeset.clientVersion > last.client else { throw client }
            guard changeset.serverVersion >= last.server, changeset.serverVersion <= upload.serverVersion
            else {
                throw server
            }
            last = DownloadCursor(server: changeset.serverVersion, client: changeset.clientVersion)
        }
        guard upload.clientVersion >= last.client else { throw client }
    }
}
