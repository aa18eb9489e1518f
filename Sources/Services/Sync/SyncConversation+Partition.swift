import AppDefinition
import BSON
import MQL
public import Sync

// Partition-based sync: the same history, with a view that is one partition and no queries.
//
// Source: `sync-semantics.md` §16, `realm-sync-protocol.md` §5.6.
extension SyncConversation {
    /// Sends classes and documents to a file that has nothing.
    ///
    /// All of it is one change: the device takes in each by itself, and could stop between two of one version.
    func begin(_ filters: [ByteText: Filter]) async throws {
        guard let live else { return }
        var next = live.view
        next.filters = filters
        var bootstrap = SyncBootstrap(service: service, app: live.app, old: live.view, new: next)
        bootstrap.opening = live.app.schema.instructions
        bootstrap.partLimit = .max
        var changeset: [UInt8] = []
        try await bootstrap.run(reserving: false) { newest, _ in
            self.live?.cursor = newest
        } part: { part in
            changeset = part
        }
        guard var live = self.live else { return }
        live.views.change(to: next, at: live.cursor)
        try await tell(&live, [entry(live, changeset)], head: live.cursor)
        self.live = live
        try await follow()
    }

    /// What has changed for a device in its classes; its user's permissions change nothing that it holds.
    func schemaChange(_ record: SyncPermissionsRecord, to view: SyncRememberedView) -> RoleChange? {
        let isOther =
            record.next != nil
            || view.parts.contains { table, part in record.last.parts[table]?.schema != part.schema }
        // While it is not known whether the device has a class, it gets its objects again.
        let new = view.parts.keys.filter { record.now.parts[$0] == nil }
        return isOther ? RoleChange(tables: Set(new), isSchema: true) : nil
    }

    /// Sends all classes with all properties, as if they had just come, in front of what the device has missed, and
    /// the objects of those classes that are new to it.
    ///
    /// Versions only rise here: where nothing has come since that concerns the device, this is a version of its own.
    func bring(_ change: RoleChange, _ filters: [ByteText: Filter]) async throws {
        guard let start = live?.cursor, let app = live?.app, let view = live?.view else { return }
        let new = filters.filter { change.tables.contains($0.key) }
        self.live?.views.current.filters = filters.filter { !change.tables.contains($0.key) }
        var bootstrap = SyncBootstrap(
            service: service,
            app: app,
            old: SyncView(permissions: view.permissions),
            new: SyncView(permissions: view.permissions, filters: new)
        )
        bootstrap.opening = app.schema.instructions
        bootstrap.partLimit = .max
        var (end, own) = (start, start)
        var owed: [Instruction] = []
        try await bootstrap.run(reserving: true) { newest, reached in
            (end, own) = (newest, reached)
        } part: { part in
            owed = try ChangesetReader.read(part[...]).instructions
        }
        self.live?.owed = owed
        try await read(through: end)
        guard var live else { return }
        if !live.owed.isEmpty {
            live.owed = []
            live.cursor = own
            try await tell(&live, [entry(live, ChangesetWriter.write(Changeset(owed)))], head: live.cursor)
        }
        var whole = live.view
        whole.filters = filters
        live.views.change(to: whole, at: live.cursor)
        live.record?.next = (SyncRememberedView(whole, app), live.cursor, start)
        self.live = live
        try await follow()
        try await catchUp(always: true)
    }

    /// What a device is told of a fault: one that is unknown because the app syncs in another way by now, which this
    /// gateway may not have heard of yet, is to come again and change over, not to reset.
    public func explained(_ fault: SyncFault) async -> SyncFault {
        guard fault.code == .badClientFileIdent, (try? await service.apps.reload(id: caller.app)) != nil,
            let definition = service.apps.app(id: caller.app)?.definition.sync,
            definition.isPartitioned == caller.isFlexible
        else { return fault }
        return SyncFault(.sessionClosed, "Session closed: the app syncs in another way")
    }

    /// A change of the server's at the version where the device stands then.
    private func entry(_ live: Live, _ changeset: [UInt8]) -> DownloadLedger.Entry {
        DownloadLedger.Entry(
            serverVersion: live.cursor,
            clientVersion: live.integrated,
            timestamp: service.timestamp,
            originFile: 1,
            changeset: changeset
        )
    }
}

extension SyncedApp {
    /// The partition of a session; nil in Flexible Sync that was never anything else.
    ///
    /// A file that has changed over to Flexible Sync still makes its objects in its partition.
    /// Source: `sync-semantics.md` §17.2.
    ///
    /// - Throws: ``SyncFault`` when the device speaks another kind of sync than the app, or names no partition.
    func partition(of target: ClientMessage.Bind.Target) throws(SyncFault) -> SyncPartition? {
        switch (target, definition.partition) {
        case (.partition(let text), let partition?) where definition.isPartitioned:
            return try SyncPartition(text, of: partition)
        case (.partition(let text), let partition?):
            var fault = SyncFault(
                .migrateToFlexibleSync,
                "Server migrated from PBS to FLX - migrate client to FLX (BIND)"
            )
            fault.partitionQuery = try SyncPartition(text, of: partition).query
            throw fault
        case (.partition, nil):
            throw SyncFault(
                .switchToFlexibleSync,
                "Wrong wire protocol, switch to the flexible sync wire protocol"
            )
        case (.flexible(_, _, let migrated), let partition):
            guard !definition.isPartitioned else {
                // Only a device that has changed over may be told to change back.
                throw migrated == nil
                    ? SyncFault(
                        .switchToPartitionSync,
                        "Wrong wire protocol, switch to the partition-based sync wire protocol"
                    )
                    : SyncFault(
                        .revertToPartitionSync,
                        "Server rolled back to PBS after FLX migration - revert FLX client migration (BIND)"
                    )
            }
            guard let migrated, let partition else { return nil }
            return try SyncPartition(migrated, of: partition)
        }
    }
}
