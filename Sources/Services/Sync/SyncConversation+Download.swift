import BSON
import Errors
import MQL
import SQL
import Sync

// What the device gets: bootstraps, and the history as it grows.
extension SyncConversation {
    func bootstrap(
        _ version: Int64,
        _ filters: [ByteText: Filter],
        schema: Bool
    ) async throws {
        guard let live else { return }
        var next = live.view
        next.filters = next.seeing(filters)
        let bootstrap = SyncBootstrap(service: service, app: live.app, old: live.view, new: next)
        var parts = SyncParts(queryVersion: version, timestamp: service.timestamp)
        let isIntroduced = schema != live.isUntold
        try await bootstrap.run(reserving: !schema) { newest, reached in
            if schema {
                self.live?.cursor = newest
            } else {
                // Up to there by the old query; the bootstrap has a version of its own.
                try await read(through: newest)
                self.live?.cursor = reached
                self.live?.record?.began(
                    SyncPermissionsRecord.Bootstrap(version: reached, before: live.query.body.text)
                )
                if isIntroduced {
                    self.live?.record?.next = (SyncRememberedView(next, live.app), reached, live.cursor)
                }
                try await remember()
            }
            if isIntroduced { parts.add(ChangesetWriter.write(Changeset(live.app.schema.instructions))) }
        } part: { changeset in
            parts.add(changeset)
            try await tell(&parts, isLast: false)
        }
        try await tell(&parts, isLast: true)
        if isIntroduced { self.live?.isUntold = false }
        if let version = self.live?.cursor { self.live?.views.change(to: next, at: version) }
        self.live?.queryVersion = version
        try await follow()
    }

    /// Sends what is known not to be the last part of a bootstrap, or the rest.
    ///
    /// - Parameters:
    ///   - parts: What there is to send.
    ///   - isLast: Whether nothing more comes.
    ///   - isBootstrap: Whether the parts stand in the place of what the device holds, and are not changes of it.
    /// - Throws: What the socket says of its end.
    func tell(_ parts: inout SyncParts, isLast: Bool, isBootstrap: Bool = true) async throws {
        guard var live else { return }
        while let part = parts.next(isLast: isLast) {
            // The version of changes is reached with the last of them; that of a bootstrap counts from there anyway.
            let reached = part.isLast || isBootstrap ? live.cursor : live.cursor - 1
            let progress = DownloadLedger.Progress(
                download: DownloadCursor(server: reached, client: live.integrated),
                latest: VersionSalt(version: live.cursor, salt: live.app.salt),
                upload: DownloadCursor(
                    server: min(live.upload.server, reached),
                    client: live.upload.client
                )
            )
            let message = try live.ledger.message(
                progress,
                [part.entry(progress, parts.timestamp)],
                queryVersion: parts.queryVersion,
                batch: !isBootstrap ? .steadyState : part.isLast ? .lastInBatch : .moreToCome,
                estimate: part.isLast || !isBootstrap ? 1 : 0.5
            )
            live.toldUpload = live.upload.client
            self.live = live
            try await send(message)
        }
    }

    /// Sends what has come for the device since.
    public func advance() async throws {
        switch try takeNews() {
        case .nothing: break
        case .rules: try await recheck(user: false)
        case .user: try await recheck(user: true)
        }
        try await advance(always: false)
        if lease.takeReminder() { try await tellClasses() }
    }

    /// Sends what the history has now, as far as it concerns the device.
    func catchUp(always: Bool) async throws {
        guard let live else { return }
        try await live.app.feed.refresh(service)
        try await advance(always: always)
    }

    /// Sends what the feed has handed over.
    func advance(always: Bool) async throws {
        if let known = live?.app.newest.snapshot, service.apps.app(id: caller.app) !== known {
            try await recheck(user: false)
        }
        guard let live else { return }
        let news = live.app.feed.take(lease.id)
        guard news.salt == live.app.salt else {
            throw SyncFault(.badClientFileIdent, "Bad client file identifier: sync was terminated")
        }
        if always { self.live?.toldUpload = -1 }
        if !news.isWhole { try await read(through: news.head) }
        try await pass(news.entries, through: news.head)
        guard var live = self.live, live.upload.client != live.toldUpload else { return }
        try await tell(&live, [], head: live.cursor)
        self.live = live
    }

    /// From now on the feed hands over what concerns the device's view; what came before that is read.
    func follow() async throws {
        guard let live else { return }
        let head = live.app.feed.join(
            lease.id,
            file: live.file.ident,
            SyncInterest(live.view, live.app.names),
            schemaVersion: live.app.newest.schemaVersion,
            lease.wake
        )
        try await read(through: head)
    }

    /// Reads the history itself.
    func read(through head: Int64) async throws {
        while let cursor = live?.cursor, cursor < head {
            let page = try await service.history(of: caller.app, after: cursor, through: head)
            try await pass(page, through: page.last?.version ?? head)
        }
    }

    /// Sends what concerns the device, in messages of bounded size.
    private func pass(_ entries: [SyncHistoryEntry], through head: Int64) async throws {
        guard var live else { return }
        let context = EvaluationContext(now: service.now(), meter: EvaluationMeter(limit: .max))
        var batch: [DownloadLedger.Entry] = []
        var bytes = 0
        for entry in live.app.translated(entries) where entry.version > live.cursor {
            guard entry.schemaVersion <= live.app.newest.schemaVersion else {
                // Another gateway knows of a version of the schemas that this one has not heard of.
                throw SyncFault(.sessionClosed, "Session closed: the schema has changed")
            }
            if let made = entry.download(
                for: live.file.ident,
                live.view,
                &live.integrated,
                context,
                after: live.owed
            ) {
                live.owed = []
                if entry.targetFile != nil { try await reject(entry) }
                bytes += made.changeset.count
                batch.append(made)
            }
            live.cursor = entry.version
            if bytes >= SyncBootstrap.partBytes {
                try await tell(&live, batch, head: head)
                (batch, bytes) = ([], 0)
            }
        }
        live.cursor = max(live.cursor, head)
        if !batch.isEmpty { try await tell(&live, batch, head: head) }
        self.live = live
    }

    /// Sends entries.
    ///
    /// - Parameters:
    ///   - live: The session, which goes on.
    ///   - entries: What the device gets.
    ///   - head: The newest version.
    ///   - following: How many bytes follow at least, beside what is new.
    /// - Throws: What the socket says of its end.
    func tell(_ live: inout Live, _ entries: [DownloadLedger.Entry], head: Int64, following: Int = 0)
        async throws
    {
        let message = try live.ledger.message(
            DownloadLedger.Progress(
                download: DownloadCursor(server: live.cursor, client: live.integrated),
                latest: VersionSalt(version: max(head, live.cursor), salt: live.app.salt),
                upload: DownloadCursor(
                    server: min(live.upload.server, live.cursor),
                    client: live.upload.client
                )
            ),
            entries,
            queryVersion: live.queryVersion,
            following: following
        )
        live.toldUpload = live.upload.client
        try await send(message)
    }

    /// Tells of writes that were undone, before the version that undoes them.
    func reject(_ entry: SyncHistoryEntry) async throws {
        let fault = SyncFault(
            .compensatingWrite,
            "Client attempted a write that is outside of permissions or query filters; it has been reverted"
        )
        let rejection = SyncErrorReport.Rejection(
            updates: entry.rejections,
            clientVersion: entry.clientVersion,
            repairVersion: entry.version
        )
        try await send(ServerMessage.error(session, SyncErrorReport(fault, rejection: rejection)))
    }
}
