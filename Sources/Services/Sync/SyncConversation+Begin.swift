import Accounts
import AppDefinition
import BSON
import Errors
import MQL
import SQL
public import Sync

// How a session begins: the device says what it wants to sync, and who its file is.
extension SyncConversation {
    /// The first message.
    public func bind(_ bind: ClientMessage.Bind) async throws {
        let versions = try await service.versions(caller.app)
        let app = versions.newest
        partition = try app.partition(of: bind.target)
        schemaVersion = app.schemaVersion
        if caller.isFlexible, case .flexible(let said, let isReset, _) = bind.target {
            self.isReset = isReset
            guard versions[said] != nil else {
                throw SyncFault(
                    .badSchemaVersion,
                    "Client provided invalid schema version: \(said) is not a version of this app's schema"
                )
            }
            schemaVersion = said
        }
        if !caller.isFlexible {
            principal = try await currentPrincipal(app)
            _ = try await permissions(app)
        }
        guard bind.needsIdent else { return }
        let salt = Int64.random(in: 1...Int64.max)
        let rows = try await service.run(
            SyncStatements.newFile(
                caller.app,
                salt: salt,
                user: caller.token.userID,
                partition: opened?.text ?? "",
                schemaVersion: schemaVersion
            )
        )
        guard let ident = rows.int(0, 0) else { throw SyncHistoryReader.malformed }
        try await send(ServerMessage.ident(session, FileIdent(ident: Int64(ident), salt: salt)))
    }

    /// The partition that the device holds; nil in Flexible Sync.
    private var opened: SyncPartition? { caller.isFlexible ? nil : partition }

    /// What the user may see and change now; in partition-based sync with the partition as its view.
    func permissions(_ app: SyncedApp) async throws -> SyncView {
        try await SyncPermissions(
            service: service,
            app: app,
            context: try context(app),
            partition: opened
        ).view()
    }

    /// The device says which file it is, and where it stands.
    public func ident(_ ident: ClientMessage.Ident) async throws {
        guard live == nil else {
            throw SyncFault(.badMessageOrder, "Bad input message order: a second IDENT")
        }
        let versions = try await service.versions(caller.app)
        let known = try await SyncFiles.meet(service, versions.newest, ident, caller, partition: opened)
        let key = SyncFileKey(app: caller.app, ident: ident.file.ident)
        try await service.take(key, for: lease)
        file = key
        let app = try await begin(known.schemaVersion, versions)
        principal = try await currentPrincipal(app)
        var view = try await permissions(app)
        let query = ident.query ?? SubscriptionSet(version: 0, body: ByteText("{}"))
        // Of a partition the view is known; otherwise the active set says it.
        let whole = view.filters
        var filters = whole
        view.filters = [:]
        if caller.isFlexible {
            switch SyncQueries.filters(query.body, app) {
            case .success(let parsed): filters = parsed
            // The active set cannot be refused any more: the device begins anew.
            case .failure(let fault): throw SyncFault(.badClientFileIdent, fault.message)
            }
        }
        var live = Live(
            app: app,
            file: ident.file,
            views: SyncViews(view),
            query: query,
            ledger: DownloadLedger(
                session: session,
                ownFile: ident.file.ident,
                isFlexible: caller.isFlexible,
                protocolVersion: caller.protocolVersion,
                ident: ident
            ),
            queryVersion: query.version,
            cursor: ident.progress.server,
            integrated: ident.progress.client,
            upload: known.upload,
            toldUpload: -1,
            lastQuery: query.version
        )
        let remembered = SyncRememberedView(view, app)
        let isFirst = ident.progress.server == 0
        // The copy of a client reset, which says nothing of its own, is held against the file that has classes.
        let maySayClasses = caller.isFlexible && app.isDeveloped && !isReset && query.version == 0
        var isUntold = isFirst && maySayClasses
        var change: RoleChange?
        if !isFirst, let text = known.permissions {
            guard var record = SyncPermissionsRecord(text) else {
                throw SyncFault(
                    .serverPermissionsChanged,
                    "Server permissions for this file ident are not known (IDENT)"
                )
            }
            record.acknowledged(ident.progress.server)
            record.resumed(at: ident.progress.server, base: known.upload.server)
            isUntold = maySayClasses && record.isEmpty
            if !isUntold {
                change =
                    caller.isFlexible
                    ? try roleChange(record, to: remembered, filters) : schemaChange(record, to: remembered)
            }
            live.record = record
            if !caller.isFlexible {
                filters = record.rest.present(of: whole)
                recallStages(whole, after: known.upload.server, &live)
            }
        } else {
            live.record = SyncPermissionsRecord(isUntold ? SyncRememberedView() : remembered)
        }
        if change == nil, !isUntold { live.record?.now = remembered }
        if !isFirst {
            live.views.current.filters = view.seeing(filters)
            recall(live.record?.bootstraps ?? [], &live)
        }
        self.live = live
        if isUntold { awaitClasses() }
        service.log.began(caller, file: ident.file.ident)
        if isFirst {
            try await remember()
            if caller.isFlexible {
                try await bootstrap(query.version, filters, schema: true)
            } else {
                try await begin(filters)
            }
        } else if !caller.isFlexible {
            try await resume(change, whole)
        } else if let change {
            try await rebootstrap(change, query, filters)
        } else {
            try await remember()
            try await follow()
            try await catchUp(always: true)
        }
    }

    /// The app as the device's file has it, who is told when it says another version of the schemas.
    ///
    /// It sends what it has changed, and begins a new file then. Source: `sync-semantics.md` §13.3.
    private func begin(_ known: Int64, _ versions: SyncedVersions) async throws -> SyncedApp {
        guard let app = versions[known] else {
            throw SyncFiles.mustReset("version \(known) of the schema is not served any more")
        }
        if caller.isFlexible, known != schemaVersion {
            var fault = SyncFault(
                .schemaVersionChanged,
                "Client opened a session with a new valid schema version - migrate client to use new schema version"
            )
            fault.previousSchemaVersion = known
            try await send(ServerMessage.error(session, SyncErrorReport(fault)))
        }
        schemaVersion = known
        return app
    }
}
