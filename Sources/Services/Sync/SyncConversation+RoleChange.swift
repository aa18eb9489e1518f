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
            if caller.protocolVersion < 14, hasOtherRole { throw reset }
            guard record.seen(table) != nil || caller.protocolVersion < 14 else { throw reset }
            change.tables.insert(table)
        }
        return change.tables.isEmpty && !change.isSchema ? nil : change
    }

    /// Bootstraps of earlier sessions that the device has: what it changed before them, and sends now, it has lost where
    /// they replaced the object.
    func recall(_ bootstraps: [SyncPermissionsRecord.Bootstrap], _ live: inout Live) {
        for bootstrap in bootstraps {
            // What cannot be asked any more is of another schema, which begins with a bootstrap of its own.
            guard case .success(let filters) = SyncQueries.filters(ByteText(bootstrap.before), live.app)
            else {
                continue
            }
            let renewed = Set(bootstrap.renewed.map { ByteText($0) })
            var before = SyncView(permissions: live.view.permissions)
            before.filters = before.seeing(filters).filter { !renewed.contains($0.key) }
            live.views.recall(before, until: bootstrap.version)
        }
    }

    /// Sends the classes that have come, and of the others what leaves the view, then all that is in it.
    ///
    /// Before version 14 there is no bootstrap that a device has not asked for: what its objects have got is told as
    /// changes of them.
    ///
    /// - Parameters:
    ///   - change: What is other than before.
    ///   - query: The active set.
    ///   - filters: What it asks for, whatever the user sees of it.
    ///   - asBootstrap: Whether it may be one that the device has not asked for.
    /// - Throws: ``SyncFault`` when sync was terminated, and what the database and the socket say.
    func rebootstrap(
        _ change: RoleChange,
        _ query: SubscriptionSet,
        _ filters: [ByteText: Filter],
        asBootstrap: Bool = true
    ) async throws {
        guard let live, let record = live.record else { return }
        let start = live.cursor
        let tables = change.tables
        let isBootstrap = asBootstrap && caller.protocolVersion >= 14
        let wanted = live.view.seeing(filters)
        var bootstrap = SyncBootstrap(
            service: service,
            app: live.app,
            old: SyncView(permissions: live.view.permissions),
            new: SyncView(
                permissions: live.view.permissions,
                filters: wanted.filter { tables.contains($0.key) }
            )
        )
        for table in tables {
            bootstrap.leaving[table] = filters[table].flatMap { record.held(table, by: $0) }
        }
        if !isBootstrap { bootstrap.known = record.knownFields(of: tables) }
        // The other classes go on as they were.
        self.live?.views.current.filters = wanted.filter { !isBootstrap || !tables.contains($0.key) }
        var parts = SyncParts(queryVersion: query.version, timestamp: isBootstrap ? service.timestamp : 0)
        try await bootstrap.run(reserving: true) { newest, reached in
            let gone =
                isBootstrap ? try await passedOver(bootstrap.leaving, after: start, through: newest) : []
            try await read(through: newest)
            self.live?.cursor = reached
            try await note(record, reached, from: start, renewing: isBootstrap ? tables : [])
            let instructions =
                (change.isSchema ? live.app.schema.instructions : [])
                + gone.compactMap { live.app.schema.mapping(of: $0.table)?.erase($0.key) }
            if !instructions.isEmpty { parts.add(ChangesetWriter.write(Changeset(instructions))) }
        } part: { changeset in
            parts.add(changeset)
            try await tell(&parts, isLast: false, isBootstrap: isBootstrap)
        }
        try await tell(&parts, isLast: true, isBootstrap: isBootstrap)
        if isBootstrap, let reached = self.live?.cursor, var next = self.live?.view {
            next.filters = wanted
            self.live?.views.change(to: next, at: reached)
        }
        try await follow()
        if !isBootstrap { try await catchUp(always: false) }
    }

    /// Takes note of what is about to be sent, since the device may have it when nobody can say so any more.
    private func note(
        _ before: SyncPermissionsRecord,
        _ reached: Int64,
        from start: Int64,
        renewing tables: Set<ByteText>
    ) async throws {
        guard let live else { return }
        var record = before
        if let next = record.next {
            // Which of the two the device has is not known: whatever either held.
            for (table, part) in next.view.parts {
                record.now.parts[table] = SyncRememberedView.Part(
                    role: part.role,
                    schema: part.schema,
                    fields: record.knownFields(of: table),
                    seen: record.seen(table)
                )
            }
        }
        record.next = (SyncRememberedView(live.view, live.app), reached, start)
        if !tables.isEmpty {
            record.began(
                SyncPermissionsRecord.Bootstrap(
                    version: reached,
                    before: live.query.body.text,
                    renewed: tables.map(\.text)
                )
            )
        }
        self.live?.record = record
        try await remember()
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
            let entries = try await service.history(of: caller.app, after: cursor, through: end)
            guard let page = live?.app.translated(entries) else { break }
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
        let app = try await service.app(caller.app, schemaVersion: schemaVersion)
        if user { principal = try await currentPrincipal(app) }
        // In another kind of sync the device changes over when it comes again, which is more than a reset.
        guard app.definition.kind == live.app.definition.kind else { throw closed }
        guard app.salt == live.app.salt else {
            throw SyncFault(.badClientFileIdent, "Bad client file identifier: sync was terminated")
        }
        guard app.definition == live.app.definition else { throw closed }
        // What is told of a class goes by its names at all versions.
        let names = (app.names, live.app.names)
        guard app.readableClasses.allSatisfy({ names.0.all($0.name) == names.1.all($0.name) }) else {
            throw closed
        }
        let view = try await permissions(app)
        guard SyncRememberedView(view, app) == SyncRememberedView(live.view, live.app) else { throw closed }
        self.live?.app = app
        self.live?.views.current = SyncView(permissions: view.permissions, filters: live.view.filters)
    }
}
