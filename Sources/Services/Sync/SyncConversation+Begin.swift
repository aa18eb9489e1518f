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
        let app = try await service.app(caller.app)
        partition = try app.partition(of: bind.target)
        if caller.isFlexible, case .flexible(let schemaVersion, _, _) = bind.target, schemaVersion != 0 {
            throw SyncFault(
                .badSchemaVersion,
                "Client provided invalid schema version: \(schemaVersion) is not a version of this app's schema"
            )
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
                partition: opened?.text ?? ""
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
        let app = try await service.app(caller.app)
        let known = try await SyncFiles.meet(service, app, ident, caller, partition: opened)
        let key = SyncFileKey(app: caller.app, ident: ident.file.ident)
        try await service.take(key, for: lease)
        file = key
        principal = try await currentPrincipal(app)
        var view = try await permissions(app)
        let query = ident.query ?? SubscriptionSet(version: 0, body: ByteText("{}"))
        // Of a partition the view is known; otherwise the active set says it.
        var filters = view.filters
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
            change =
                caller.isFlexible
                ? try roleChange(record, to: remembered, filters) : schemaChange(record, to: remembered)
            live.record = record
        } else {
            live.record = SyncPermissionsRecord(remembered)
        }
        if change == nil { live.record?.now = remembered }
        if !isFirst {
            live.views.current.filters = filters
            recall(live.record?.bootstraps ?? [], &live)
        }
        self.live = live
        service.log.began(caller, file: ident.file.ident)
        if isFirst {
            try await remember()
            if caller.isFlexible {
                try await bootstrap(query.version, filters, schema: true)
            } else {
                try await begin(filters)
            }
        } else if let change {
            if caller.isFlexible {
                try await rebootstrap(change, query, filters)
            } else {
                try await bring(change, filters)
                try await remember()
            }
        } else {
            try await remember()
            try await follow()
            try await catchUp(always: true)
        }
    }
}
