public import Accounts
import AppDefinition
import BSON
import Errors
import MQL
import Observability
import SQL
public import Sync

/// Whose connection it is.
public struct SyncCaller: Sendable {
    /// The app's internal id.
    public let app: String
    /// Its user's token, which was good when it connected.
    public let token: AccessToken
    /// The protocol's version, 10 … 14.
    public let protocolVersion: Int
    /// Whether the connection speaks Flexible Sync.
    public let isFlexible: Bool

    /// Made of its parts.
    public init(app: String, token: AccessToken, protocolVersion: Int, isFlexible: Bool) {
        self.app = app
        self.token = token
        self.protocolVersion = protocolVersion
        self.isFlexible = isFlexible
    }
}

/// One session of a device: from BIND until UNBIND or an error.
///
/// One task owns it and hands it the device's messages in order. It answers through `send`, which waits while the
/// device reads slowly. What it throws ends the session (or the connection, by its code) and is to be sent.
///
/// States: bound (→ live on IDENT) → live. Source: `realm-sync-protocol.md` §§3–5.
public final class SyncConversation {
    /// What a session is once the device has said who it is.
    struct Live {
        var app: SyncedApp
        let file: FileIdent
        var views: SyncViews
        /// What its user might see, as it is kept with the file.
        var record: SyncPermissionsRecord?
        var query: SubscriptionSet
        var ledger: DownloadLedger
        var queryVersion: Int64
        /// How far the history has been looked through.
        var cursor: Int64
        /// The device's last version that the history contains up to the cursor.
        var integrated: Int64
        /// The device's last version, and the server's version that came with it.
        var upload: DownloadCursor
        /// The device's version of the last message.
        var toldUpload: Int64
        var lastQuery: Int64
        /// What the device gets with the next change, before what it says.
        var owed: [Instruction] = []
        /// Whether the device was told no classes, so that its own may contradict the app's.
        var isUntold = false

        var view: SyncView { views.current }
    }

    let service: SyncService
    let caller: SyncCaller
    let session: SessionIdent
    let send: @Sendable ([UInt8]) async throws -> Void
    let lease: SyncLease
    private let start = ContinuousClock.now
    var live: Live?
    /// The user as he was when the session began.
    var principal: Principal?
    var file: SyncFileKey?
    /// The version of the schemas that the device says, and then that of its file.
    var schemaVersion: Int64 = 0
    /// Whether the file is opened around a client reset.
    var isReset = false
    /// What the session is about; nil in Flexible Sync that was never anything else.
    var partition: SyncPartition?

    /// Begins a session.
    ///
    /// - Parameters:
    ///   - service: The history and the documents.
    ///   - presence: The connection.
    ///   - session: The number that the device gives it.
    ///   - tell: Called when the history has grown; ``advance()`` is due then.
    ///   - send: Sends a frame.
    public init(
        _ service: SyncService,
        _ presence: SyncPresence,
        session: SessionIdent,
        tell: @escaping @Sendable () -> Void,
        send: @escaping @Sendable ([UInt8]) async throws -> Void
    ) {
        self.service = service
        caller = presence.caller
        self.session = session
        self.send = send
        lease = service.follow(presence, tell)
    }

    deinit {
        live?.app.feed.leave(lease.id)
        service.unfollow(lease)
    }

    /// Ends the session: its file may be opened elsewhere.
    ///
    /// - Parameter fault: The error that ends it, if one does.
    public func close(because fault: SyncFault? = nil) async {
        live?.app.feed.leave(lease.id)
        service.unfollow(lease)
        if live != nil || fault != nil {
            service.log.ended(caller, file: live?.file.ident, since: start, fault)
        }
        if let file { await service.release(file, lease) }
        file = nil
    }

    // MARK: Messages

    func takeNews() throws(SyncFault) -> SyncLease.Recheck { try lease.takeNews() }

    /// The device wants to hold something else.
    public func query(_ query: SubscriptionSet) async throws {
        guard let known = live else {
            throw SyncFault(.badMessageOrder, "Bad input message order: QUERY before IDENT")
        }
        guard query.version > known.lastQuery else {
            throw SyncFault(.badMessageOrder, "Bad input message order: a query version went back")
        }
        self.live?.lastQuery = query.version
        try await develop(query)
        guard let live = self.live else { return }
        switch SyncQueries.filters(query.body, live.app) {
        case .failure(let fault):
            try await send(
                ServerMessage.queryError(session, queryVersion: query.version, message: fault.message)
            )
        case .success(let filters):
            try await bootstrap(query.version, filters, schema: false)
            self.live?.query = query
            try await remember()
        }
    }

    /// The device has changed something, or acknowledges what it got.
    public func upload(_ upload: ClientMessage.Upload) async throws {
        guard let known = live else {
            throw SyncFault(.badMessageOrder, "Bad input message order: UPLOAD before IDENT")
        }
        try SyncFiles.check(upload, known.upload, cursor: known.cursor)
        try await develop(upload)
        guard let live = self.live else { return }
        let hadChanges = !upload.changesets.isEmpty
        let start = ContinuousClock.now
        let outcome = try await SyncUpload(
            service: service,
            app: live.app,
            file: live.file,
            views: live.views,
            upload: upload,
            partition: partition
        ).integrate()
        self.live?.views.acknowledge(upload.serverVersion)
        self.live?.record?.told(upload.serverVersion)
        self.live?.upload = DownloadCursor(
            server: max(live.upload.server, upload.serverVersion),
            client: max(live.upload.client, outcome.integrated)
        )
        if self.live?.record?.next != nil {
            self.live?.record?.acknowledged(upload.serverVersion)
            if self.live?.record?.next == nil { try await remember() }
        }
        // An acknowledgement is not answered: that would never end.
        guard hadChanges else { return }
        service.log.wrote(
            caller,
            file: live.file.ident,
            changesets: upload.changesets.count,
            since: start,
            outcome.undone + (outcome.skipped?.updates ?? [])
        )
        if let skipped = outcome.skipped {
            // The device suspends the session, and comes again with what follows.
            var fault = SyncFault(
                .writeNotAllowed,
                "Client attempted a write that is not allowed; it has been skipped"
            )
            fault.rejection = skipped
            throw fault
        }
        try await catchUp(always: true)
        try await tellClasses()
    }

    /// The device wants to know when it has everything that is there now.
    public func mark(request: Int64) async throws {
        guard live != nil else {
            throw SyncFault(.badMessageOrder, "Bad input message order: MARK before IDENT")
        }
        try await catchUp(always: false)
        try await send(ServerMessage.mark(session, request: request))
    }

    /// The device could not take in what it was sent.
    public func failed(code: Int64, message: String) -> SyncFault {
        service.report(
            ServiceError(
                .internalServerError,
                "a device could not integrate what it was sent (code \(code))",
                details: ["message": message, "cursor": "\(live?.cursor ?? 0)"]
            )
        )
        return SyncFault(.badClientFile, "Synchronization no longer possible for client-side file")
    }

    /// Whether devices may not keep unsynced changes when they begin anew.
    public var forbidsRecovery: Bool {
        service.apps.app(id: caller.app)?.definition.sync?.forbidsRecovery ?? false
    }

    func currentPrincipal(_ app: SyncedApp) async throws -> Principal {
        do throws(ServiceError) {
            return try await service.accounts.currentPrincipal(of: caller.token, app.snapshot.accounts)
        } catch {
            // The socket is closed as soon as the news of it is there.
            guard error.code == AccountFailure.userNotFound.code else { throw error }
            throw SyncFault(.permissionDenied, "Permission denied: the user is not there")
        }
    }

    func context(_ app: SyncedApp) throws -> CallContext {
        guard let principal else { throw SyncHistoryReader.malformed }
        return CallContext(
            app: app.snapshot,
            principal: principal,
            request: nil,
            deadline: .now + SyncService.timeLimit,
            trace: RequestTrace(requestID: "")
        )
    }

    func remember() async throws {
        guard let live else { return }
        _ = try await service.run(
            SyncStatements.remember(
                caller.app,
                file: live.file.ident,
                queryVersion: live.query.version,
                query: live.query.body.text,
                permissions: live.record?.text ?? ""
            )
        )
    }
}
