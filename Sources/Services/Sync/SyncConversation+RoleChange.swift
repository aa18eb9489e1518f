import AppDefinition
import BSON
import Errors
import MQL
import SQL
import Sync

// A device whose user may see something else than before is brought there, without a reset.
//
// Source: `sync-semantics.md` §4.
extension SyncConversation {
    /// What has changed for a device since its file was open last.
    struct RoleChange {
        /// The classes whose role or properties are others, among those that the device subscribes.
        var tables: Set<ByteText>
        /// Whether classes have come, or got properties.
        var isSchema: Bool
    }

    /// What has changed for a device; nil where nothing has that concerns it.
    ///
    /// - Throws: ``SyncFault`` where the device must begin anew.
    func roleChange(
        _ record: SyncPermissionsRecord,
        to view: SyncRememberedView,
        _ filters: [ByteText: Filter]
    ) throws(SyncFault) -> RoleChange? {
        let reset = SyncFault(
            .serverPermissionsChanged,
            "Server permissions for this file ident have changed since the last time it was used (IDENT)"
        )
        var change = RoleChange(tables: [], isSchema: false)
        // While it is not known which of two views the device has, it is brought to the new one again.
        let isOpen = record.next != nil
        for (table, part) in view.parts {
            let before = record.last.parts[table]
            let hasOtherRole = before?.role != part.role
            let hasOtherSchema = before?.schema != part.schema
            if hasOtherSchema || isOpen { change.isSchema = true }
            guard filters[table] != nil, hasOtherRole || hasOtherSchema || isOpen else { continue }
            if caller.protocolVersion < 14 {
                if hasOtherRole { throw reset }
                continue
            }
            guard record.seen(table) != nil else { throw reset }
            change.tables.insert(table)
        }
        return change.tables.isEmpty && !change.isSchema ? nil : change
    }

    /// Sends the classes that have come, and of the others what leaves the view, then all that is in it.
    func rebootstrap(_ change: RoleChange, _ query: SubscriptionSet, _ filters: [ByteText: Filter])
        async throws
    {
        guard let live, var record = live.record else { return }
        let start = live.cursor
        let tables = change.tables
        var bootstrap = SyncBootstrap(
            service: service,
            app: live.app,
            old: SyncView(permissions: live.view.permissions),
            new: SyncView(
                permissions: live.view.permissions,
                filters: filters.filter { tables.contains($0.key) }
            )
        )
        for table in tables {
            guard let seen = record.seen(table), let filter = filters[table] else { continue }
            bootstrap.leaving[table] = .and([filter, seen])
        }
        // Before version 14 there is no bootstrap that the device has not asked for.
        guard caller.protocolVersion >= 14 else { return try await sendSchema(filters) }
        // The other classes go on as they were.
        self.live?.views.current.filters = filters.filter { !tables.contains($0.key) }
        var parts = SyncParts(queryVersion: query.version, timestamp: service.timestamp)
        _ = try await service.run(SyncStatements.pass(caller.app, known: start))
        try await bootstrap.run { newest in
            let gone = try await passedOver(bootstrap.leaving, after: start, through: newest)
            try await read(through: newest)
            let instructions =
                (change.isSchema ? live.app.schema.instructions : [])
                + gone.compactMap { live.app.schema.mapping(of: $0.table)?.erase($0.key) }
            if !instructions.isEmpty { parts.add(ChangesetWriter.write(Changeset(instructions))) }
        } part: { changeset in
            parts.add(changeset)
            try await tell(&parts, isLast: false)
        }
        try await tell(&parts, isLast: true)
        self.live?.views.current.filters = filters
        let reached = self.live?.cursor ?? start
        try await follow()
        let view = SyncRememberedView(live.view, live.app)
        if let next = record.next {
            // Which of the two the device has is not known: whatever either held.
            for (table, part) in next.view.parts {
                record.now.parts[table] = SyncRememberedView.Part(
                    role: part.role,
                    schema: part.schema,
                    seen: record.seen(table)
                )
            }
        }
        record.next = (view, reached, start)
        self.live?.record = record
    }

    /// Sends all classes with all properties, as if they had just come.
    private func sendSchema(_ filters: [ByteText: Filter]) async throws {
        guard var live else { return }
        let entry = DownloadLedger.Entry(
            serverVersion: live.cursor,
            clientVersion: live.integrated,
            timestamp: service.timestamp,
            originFile: 1,
            changeset: ChangesetWriter.write(Changeset(live.app.schema.instructions))
        )
        try await tell(&live, [entry], head: live.cursor)
        let view = SyncRememberedView(live.view, live.app)
        live.record?.next = (view, live.cursor, live.cursor)
        live.views.current.filters = filters
        self.live = live
        try await follow()
        try await catchUp(always: false)
    }

    /// The objects that the device may hold and that have changed since: what became of them is not told, only that
    /// they are gone.
    private func passedOver(_ held: [ByteText: Filter], after start: Int64, through end: Int64)
        async throws -> [ObjectAddress]
    {
        let context = EvaluationContext(now: service.now(), meter: EvaluationMeter(limit: .max))
        var found: [ObjectAddress] = []
        var known: Set<ObjectAddress> = []
        var cursor = start
        while cursor < end {
            let rows = try await service.run(
                SyncStatements.history(caller.app, after: cursor, through: end, versions: 200)
            )
            let page = try SyncHistoryReader.entries(rows)
            guard let last = page.last else { break }
            for object in page.flatMap(\.objects) {
                guard let filter = held[object.address.table], let before = object.before,
                    !known.contains(object.address), (try? filter.matches(before, context)) == true
                else { continue }
                known.insert(object.address)
                found.append(object.address)
            }
            cursor = last.version
        }
        return found
    }

    // MARK: While the session lives

    /// Something has changed that roles depend on.
    ///
    /// - Parameter user: Whether it may be the user, not the app alone.
    /// - Throws: ``SyncFault`` with `sessionClosed` where that means something for this device: it comes again.
    func recheck(user: Bool) async throws {
        let closed = SyncFault(.sessionClosed, "Session closed: permissions have changed")
        guard let live else { return }
        let app = try await service.app(caller.app)
        if user { principal = try await currentPrincipal(app) }
        guard app.salt == live.app.salt else {
            throw SyncFault(.badClientFileIdent, "Bad client file identifier: sync was terminated")
        }
        guard app.definition == live.app.definition else { throw closed }
        let view = try await SyncPermissions(service: service, app: app, context: try context(app)).view()
        guard SyncRememberedView(view, app) == SyncRememberedView(live.view, live.app) else { throw closed }
        self.live?.app = app
        self.live?.views.current = SyncView(permissions: view.permissions, filters: live.view.filters)
    }
}
