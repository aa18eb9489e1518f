import BSON
import Errors
import MQL
import Postgres
import QueryCompiler
import SQL
import Sync

/// Integrates what a device changed: everything of one message in one transaction.
///
/// The order of steps is that of `sync-semantics.md` §6.3. The history is held from beginning to end, so that
/// versions are given in the order in which they become visible.
struct SyncUpload {
    let service: SyncService
    let app: SyncedApp
    let file: FileIdent
    let views: SyncViews
    let upload: ClientMessage.Upload
    /// What new objects belong to that say nothing of it.
    var partition: SyncPartition?

    var view: SyncView { views.current }

    /// An object with the document that it is.
    struct State {
        var original: BSONDocument?
        var current: BSONDocument?
    }

    /// What became of an upload.
    struct Outcome {
        /// The newest version of the device that is integrated now.
        var integrated: Int64
        /// What a version of the history undoes.
        var undone: [SyncErrorReport.RejectedUpdate] = []
        /// What was left out of classes that devices only write.
        var skipped: SyncErrorReport.Rejection?
    }

    /// - Returns: What became of it.
    func integrate() async throws -> Outcome {
        let id = app.snapshot.id
        return try await service.inTurn(id) {
            try await service.database.transaction(within: SyncService.timeLimit) { transaction in
                try await integrate(in: transaction)
            }
        }
    }

    private func integrate(in transaction: Transaction) async throws -> Outcome {
        let id = app.snapshot.id
        let head = try await transaction.run(SyncStatements.lock(id), plan: .generic)
        let known = try await transaction.run(SyncStatements.lockFile(id, file: file.ident), plan: .generic)
        guard let version = head.int(0, 0), let integrated = known.int(0, 0) else {
            throw SyncFault(.badClientFileIdent, "Bad client file identifier: sync was terminated")
        }
        let fresh = upload.changesets.filter { $0.clientVersion > Int64(integrated) }
        var outcome = Outcome(integrated: max(Int64(integrated), upload.clientVersion))
        if !fresh.isEmpty {
            if let base = fresh.map(\.serverVersion).min(), let trimmed = head.int(0, 1),
                base < Int64(trimmed),
                base > 0
            {
                throw SyncFault(.clientFileExpired, "Client file has expired due to log compaction")
            }
            _ = try await transaction.run(SyncStatements.origin(id), plan: .generic)
            let newest = try await apply(fresh, after: Int64(version), in: transaction, &outcome)
            _ = try await transaction.run(SyncStatements.advance(id, to: newest), plan: .generic)
        }
        _ = try await transaction.run(
            SyncStatements.acknowledge(
                id,
                file: file.ident,
                clientVersion: upload.clientVersion,
                serverVersion: upload.serverVersion,
                locked: upload.lockedServerVersion
            ),
            plan: .generic
        )
        return outcome
    }

    // MARK: Steps

    private func apply(
        _ fresh: [UploadedChangeset],
        after version: Int64,
        in transaction: Transaction,
        _ outcome: inout Outcome
    ) async throws -> Int64 {
        var changesets = try fresh.map { (uploaded) throws(SyncFault) in try decoded(uploaded) }
        let touched = Set(changesets.flatMap { $0.instructions.compactMap(\.object) })
        let documents = SyncDocuments(
            service: service,
            app: app,
            enclosing: EnclosingTransaction(transaction, RecordedOrders(), recordsAtOnce: true)
        )
        // Locked first: what others changed of these documents is waiting in the log then, and nothing more comes.
        let images = try await documents.lock(touched)
        let newest = try await SyncPending(service: service, app: app.newest).take(
            after: version,
            in: transaction
        )
        let history = try await concurrent(with: fresh, touching: touched, through: newest, in: transaction)
        drop(&changesets, of: fresh, replacedBy: history, images)
        let merged = try await merge(fresh, changesets, history, in: transaction)
        var integration = SyncIntegration(
            upload: self,
            images: images.mapValues { State(original: $0, current: $0) },
            repaired: Self.repaired(history, file.ident)
        )
        for (uploaded, changeset) in zip(fresh, merged) { try integration.integrate(uploaded, changeset) }
        try await integration.store(documents)
        try await noteUnsynced(integration.images, in: transaction)
        let entries = integration.entries(after: newest, timestamp: service.timestamp)
        try await SyncHistoryReader.append(entries, app, in: transaction)
        outcome.undone = entries.flatMap(\.rejections)
        outcome.skipped = integration.skipped
        return entries.last?.version ?? newest
    }

    /// What fits an earlier version of the schemas need not fit the newest.
    private func noteUnsynced(_ images: [ObjectAddress: State], in transaction: Transaction) async throws {
        let newest = app.newest
        guard newest !== app else { return }
        var findings: [Int32: SyncUnsynced.Findings] = [:]
        for (object, state) in images where state.original != state.current {
            let name = newest.ownName(of: object.table)
            guard let form = newest.forms[name.text], let mapping = newest.schema.mapping(of: name),
                let id = (state.current ?? state.original)?["_id"]
            else { continue }
            let wasUnfit = state.original.map { mapping.unrepresentable($0) != nil } ?? false
            try findings[form.collection, default: SyncUnsynced.Findings()]
                .take(state.current, id, wasUnfit: wasUnfit, mapping)
        }
        for (collection, findings) in findings {
            try await SyncUnsynced(service: service, app: newest).note(findings, collection, in: transaction)
        }
    }

    /// The instructions about objects; those about the schema are held against the app's.
    private func decoded(_ uploaded: UploadedChangeset) throws(SyncFault) -> Changeset {
        guard uploaded.originFile == 0 else {
            throw SyncFault(.badOriginFileIdent, "Bad origin file identifier (UPLOAD)")
        }
        var changeset = try ChangesetReader.read(uploaded.bytes[...])
        for instruction in changeset.instructions { try app.schema.check(instruction) }
        for object in changeset.instructions.lazy.compactMap(\.object) {
            guard let mapping = app.schema.mapping(of: object.table) else {
                throw SyncFault(
                    .invalidSchemaChange,
                    "Invalid schema change: there is no class \"\(object.table.text)\" in the app's schema"
                )
            }
            guard let id = mapping.id(of: object.key), (try? TypedKey.text(id)) != nil else {
                throw SyncFault(
                    .badChangeset,
                    "Bad changeset: a primary key of class \"\(object.table.text)\" is not one that can be stored"
                )
            }
        }
        changeset.instructions.removeAll { $0.object == nil }
        return changeset
    }

    /// What the device did not know of when it made its changes, of what is about the same objects.
    private func concurrent(
        with fresh: [UploadedChangeset],
        touching objects: Set<ObjectAddress>,
        through newest: Int64,
        in transaction: Transaction
    ) async throws -> [SyncHistoryEntry] {
        let base = fresh.first?.serverVersion ?? newest
        guard base < newest else { return [] }
        var (classes, keys): ([String], [String]) = ([], [])
        for object in objects {
            for name in app.names.all(object.table) {
                classes.append(name.text)
                keys.append(SyncKeyText.text(of: object.key))
            }
        }
        var found: [SyncHistoryEntry] = []
        while true {
            let rows = try await transaction.run(
                SyncStatements.concurrent(
                    app.snapshot.id,
                    file: file.ident,
                    after: found.last?.version ?? base,
                    through: newest,
                    classes: classes,
                    keys: keys,
                    bytes: service.pageBytes
                ),
                plan: .generic
            )
            found += try SyncHistoryReader.entries(rows)
            if rows.bytes.count < service.pageBytes { return app.translated(found) }
        }
    }

    private var evaluationContext: EvaluationContext {
        EvaluationContext(now: service.now(), meter: EvaluationMeter(limit: .max))
    }

    /// Drops what the device loses by bootstraps that it did not know of.
    private func drop(
        _ changesets: inout [Changeset],
        of fresh: [UploadedChangeset],
        replacedBy history: [SyncHistoryEntry],
        _ images: [ObjectAddress: BSONDocument]
    ) {
        let context = evaluationContext
        for (place, uploaded) in fresh.enumerated() {
            var known: [ObjectAddress: Bool] = [:]
            changesets[place].instructions.removeAll { instruction in
                guard let object = instruction.object else { return false }
                if let known = known[object] { return known }
                let isReplaced = views.isReplaced(object, after: uploaded.serverVersion, context) { version in
                    let next = history.lazy.filter { $0.version > version && $0.targetFile == nil }
                        .compactMap { $0.objects.first { $0.address == object } }.first
                    return next.map(\.before) ?? images[object]
                }
                known[object] = isReplaced
                return isReplaced
            }
        }
    }

    /// The changes as they are after everything that the device did not know of.
    private func merge(
        _ fresh: [UploadedChangeset],
        _ changesets: [Changeset],
        _ history: [SyncHistoryEntry],
        in transaction: Transaction
    ) async throws -> [Changeset] {
        // What undoes rejected writes is not merged: those objects' later changes are dropped whole.
        let others = history.filter { $0.targetFile == nil }
        guard let first = others.first else { return changesets }
        let id = app.snapshot.id
        var rewritten: [Int64: Changeset] = [:]
        let rows = try await transaction.run(
            SyncStatements.reciprocal(id, file: file.ident, after: first.version - 1),
            plan: .generic
        )
        for row in 0..<rows.rowCount {
            guard let version = rows.int(row, 0),
                let bytes = rows.slice(row, 1).flatMap({ SyncBytes.bytea($0) })
            else { throw SyncHistoryReader.malformed }
            rewritten[Int64(version)] = try ChangesetReader.read(bytes[...])
        }
        let context = evaluationContext
        var reciprocal = ReciprocalHistory(
            others.map { entry in
                MergeEntry(
                    changeset: rewritten[entry.version]
                        ?? Changeset(entry.instructions(for: views[entry.version], context)),
                    timestamp: entry.timestamp,
                    file: UInt64(entry.originFile),
                    version: UInt64(entry.version)
                )
            }
        )
        let merged = try reciprocal.integrate(
            zip(fresh, changesets).map { uploaded, changeset in
                ReciprocalHistory.Incoming(
                    MergeEntry(
                        changeset: changeset,
                        timestamp: uploaded.timestamp,
                        file: UInt64(file.ident),
                        version: UInt64(uploaded.clientVersion)
                    ),
                    base: UInt64(uploaded.serverVersion)
                )
            }
        )
        for entry in reciprocal.entries where entry.isRewritten {
            _ = try await transaction.run(
                SyncStatements.keepReciprocal(
                    id,
                    file: file.ident,
                    version: Int64(entry.version),
                    ChangesetWriter.write(entry.changeset)
                ),
                plan: .generic
            )
        }
        return merged.map(\.changeset)
    }

    /// The versions that put objects right which the device was not allowed to write.
    private static func repaired(_ history: [SyncHistoryEntry], _ file: Int64) -> [ObjectAddress: Int64] {
        var repaired: [ObjectAddress: Int64] = [:]
        for entry in history where entry.targetFile == file {
            for rejection in entry.rejections { repaired[rejection.object] = entry.version }
        }
        return repaired
    }
}
