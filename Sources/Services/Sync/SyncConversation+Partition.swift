import AppDefinition
import BSON
import MQL
public import Sync

// Partition-based sync: the same history, with a view that is one partition and no queries.
//
// Source: `sync-semantics.md` §16, `realm-sync-protocol.md` §5.6.
extension SyncConversation {
    /// How many parts are read in one snapshot, which a device that reads slowly holds as long.
    private static let partsAtOnce: Int64 = 16

    /// There is more than a snapshot is held for.
    private struct IsLong: Error {}

    /// Sends classes and documents to a file that has nothing.
    func begin(_ filters: [ByteText: Filter]) async throws {
        guard let app = live?.app else { return }
        try await download(filters, SyncRemainder(filters.keys), opening: app.schema.instructions)
        try await follow()
    }

    /// Sends to a file what it does not have, or has in another form, since it was open last.
    func resume(_ change: RoleChange?, _ filters: [ByteText: Filter]) async throws {
        var rest = live?.record?.rest ?? SyncRemainder()
        if let change {
            rest.add(change.tables)
            try await bring(rest, filters)
        }
        try await remember()
        if !rest.isEmpty { try await download(filters, rest, opening: []) }
        try await follow()
        try await catchUp(always: true)
    }

    /// Sends what a device does not have of its partition, class by class in the order of keys.
    ///
    /// A device takes in each message by itself, and may stop between any two: each has a version of its own, at which the
    /// device has all documents up to a key, as they are then. What it has is its view until the next message, by which
    /// it is told what changes meanwhile, and with which it goes on in another session. What fits in one message is one, at
    /// the version of its snapshot.
    private func download(
        _ filters: [ByteText: Filter],
        _ start: SyncRemainder,
        opening: [Instruction]
    ) async throws {
        var rest = start
        var isFirst = live?.cursor == 0
        repeat {
            guard let live else { return }
            var bootstrap = SyncBootstrap(
                service: service,
                app: live.app,
                old: SyncView(permissions: live.view.permissions),
                new: SyncView(permissions: live.view.permissions, filters: rest.missing(of: filters))
            )
            bootstrap.isOrdered = true
            if isFirst { bootstrap.opening = opening }
            let versions = isFirst ? 0 : Self.partsAtOnce
            var (version, last): (Int64, Int64) = (0, 0)
            do {
                try await bootstrap.run(reserving: versions) { newest in
                    if !isFirst { try await read(through: newest) }
                    version = isFirst ? newest : newest + 1
                    last = newest + versions
                } part: { changeset, end in
                    rest = rest.following(end)
                    try await bring(changeset, at: version, rest, filters)
                    version += 1
                    if version > last, end != nil { throw IsLong() }
                }
                rest = SyncRemainder()
            } catch is IsLong {}
            // A message is due even to a device that can have nothing.
            if isFirst, self.live?.cursor == 0 { try await bring([], at: version, rest, filters) }
            isFirst = false
        } while !rest.isEmpty
        if self.live?.record?.rest.isEmpty == false, let cursor = self.live?.cursor {
            let view = whole(filters)
            self.live?.views.change(to: view, at: cursor)
            self.live?.record?.reaches(cursor, rest)
            try await remember()
        }
    }

    private func whole(_ filters: [ByteText: Filter]) -> SyncView {
        SyncView(permissions: live?.view.permissions ?? [:], filters: filters)
    }

    /// Sends one part of a partition, after which a device has it but for a rest.
    private func bring(
        _ changeset: [UInt8],
        at version: Int64,
        _ rest: SyncRemainder,
        _ filters: [ByteText: Filter]
    ) async throws {
        let view = whole(rest.present(of: filters))
        live?.cursor = version
        live?.views.change(to: view, at: version)
        live?.record?.reaches(version, rest)
        try await remember()
        guard var live else { return }
        // How much follows is not known, but that something does.
        let following = rest.isEmpty ? 0 : SyncBootstrap.partBytes
        try await tell(&live, [entry(live, changeset)], head: live.cursor, following: following)
        self.live = live
    }

    /// Parts of a partition that the device got in earlier sessions, and that it may have changed something without.
    func recallStages(_ filters: [ByteText: Filter], after base: Int64, _ live: inout Live) {
        var before: [ByteText: Filter] = [:]
        for stage in live.record?.stages ?? [] {
            if stage.version > base {
                let view = SyncView(permissions: live.view.permissions, filters: before)
                live.views.recall(view, until: stage.version)
            }
            before = stage.rest.present(of: filters)
        }
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

    /// Sends all classes with all properties, as if they had just come, in front of what the device has missed.
    ///
    /// Versions only rise here: where nothing has come since that concerns the device, this is a version of its own.
    ///
    /// - Parameters:
    ///   - rest: What the device does not have, and will get.
    ///   - filters: What it is to have in the end.
    /// - Throws: ``SyncFault`` when sync was terminated, and what the database and the socket say.
    private func bring(_ rest: SyncRemainder, _ filters: [ByteText: Filter]) async throws {
        guard let start = live?.cursor, let app = live?.app, let view = live?.view else { return }
        self.live?.views.current.filters = rest.present(of: filters)
        let bootstrap = SyncBootstrap(
            service: service,
            app: app,
            old: SyncView(permissions: view.permissions),
            new: SyncView(permissions: view.permissions)
        )
        let (end, own) = try await bootstrap.reserve()
        let owed = app.schema.instructions
        self.live?.owed = owed
        try await read(through: end)
        guard var live else { return }
        if !live.owed.isEmpty {
            live.owed = []
            live.cursor = own
            try await tell(&live, [entry(live, ChangesetWriter.write(Changeset(owed)))], head: live.cursor)
        }
        live.record?.next = (SyncRememberedView(whole(filters), app), live.cursor, start)
        if !rest.isEmpty {
            // What it has it did not get by stages, nor anything now.
            if live.record?.stages.isEmpty == true { live.record?.reaches(0, rest) }
            live.record?.reaches(live.cursor, rest)
        }
        self.live = live
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
