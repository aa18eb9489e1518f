import BSON
import Errors
import MQL
import Rules
import Sync

/// Applies a device's changesets one after the other, and decides object by object what is legal.
///
/// Of an illegal object nothing of its changeset is stored; others of the same changeset are unaffected.
/// Source: `sync-semantics.md` §6.3.
struct SyncIntegration {
    let upload: SyncUpload
    var images: [ObjectAddress: SyncUpload.State]
    /// Objects whose repair the device has not integrated yet, and the version of the repair.
    let repaired: [ObjectAddress: Int64]

    private struct Step {
        let uploaded: UploadedChangeset
        var instructions: [Instruction]
        var objects: [SyncHistoryEntry.Object]
    }

    private var steps: [Step] = []
    private var rejections: [SyncErrorReport.RejectedUpdate] = []
    private var rejected: Set<ObjectAddress> = []
    private var rejectedClientVersion: Int64 = 0
    /// Of classes that devices only write: what they wrote is not there any more, so nothing is undone.
    private(set) var skipped: SyncErrorReport.Rejection?
    private let context: EvaluationContext

    init(upload: SyncUpload, images: [ObjectAddress: SyncUpload.State], repaired: [ObjectAddress: Int64]) {
        self.upload = upload
        self.images = images
        self.repaired = repaired
        context = EvaluationContext(
            now: upload.service.now(),
            meter: EvaluationMeter(limit: .max, shouldStop: { Task.isCancelled })
        )
    }

    mutating func integrate(_ uploaded: UploadedChangeset, _ changeset: Changeset) throws(SyncFault) {
        var step = Step(uploaded: uploaded, instructions: [], objects: [])
        var order: [ObjectAddress] = []
        var byObject: [ObjectAddress: [Instruction]] = [:]
        for instruction in changeset.instructions {
            guard let object = instruction.object else { continue }
            if byObject[object] == nil { order.append(object) }
            byObject[object, default: []].append(instruction)
        }
        for object in order {
            guard !rejected.contains(object), (repaired[object] ?? 0) <= uploaded.serverVersion,
                let mapping = upload.app.schema.mapping(of: object.table)
            else { continue }
            var instructions = byObject[object] ?? []
            let before = images[object]?.current
            var after = try mapping.applying(instructions, to: before)
            if let partition = upload.partition, var document = after {
                partition.complete(&instructions, &document, mapping)
                after = document
            }
            if let reason = refusal(object, mapping, before, after) {
                reject(object, reason, uploaded.clientVersion)
                continue
            }
            images[object, default: SyncUpload.State()].current = after
            step.instructions += instructions
            step.objects.append(SyncHistoryEntry.Object(address: object, before: before, after: after))
        }
        steps.append(step)
    }

    private mutating func reject(_ object: ObjectAddress, _ reason: String, _ clientVersion: Int64) {
        rejected.insert(object)
        let update = SyncErrorReport.RejectedUpdate(object: object, reason: reason)
        if upload.app.schema[object.table]?.isAsymmetric == true {
            skipped = SyncErrorReport.Rejection(
                updates: (skipped?.updates ?? []) + [update],
                clientVersion: skipped?.clientVersion ?? clientVersion,
                repairVersion: nil
            )
            return
        }
        rejections.append(update)
        if rejectedClientVersion == 0 { rejectedClientVersion = clientVersion }
    }

    /// Why a change is illegal, in the words of the log; nil when it is legal.
    ///
    /// Source: `sync-semantics.md` §6.5.
    private func refusal(
        _ object: ObjectAddress,
        _ mapping: ObjectMapping,
        _ before: BSONDocument?,
        _ after: BSONDocument?
    ) -> String? {
        let start = "write to \"\(object.key.text())\" in table \"\(object.table.text)\""
        let outside = "\(start) not allowed; object is outside of the current query view"
        guard let plan = upload.view.permissions[object.table]?.plan?.plan else { return outside }
        let isIngest = mapping.type.isAsymmetric
        if let before, isIngest || upload.view.visible(before, object.table, context) == nil {
            return outside
        }
        let kind: WriteKind
        switch (before, after) {
        case (nil, nil): return nil
        case (nil, _?): kind = .insert
        case (_?, nil): kind = .delete
        case (_?, _?): kind = .update
        }
        if let denial = plan.takingNullForOptionalFields.denial(of: kind, before: before, after: after) {
            if denial.isSchema { return "\(start) not allowed; document does not match the schema" }
            guard let role = denial.role else { return outside }
            return "\(start) was denied by write filter in role \"\(role)\""
        }
        guard let after, !isIngest else { return nil }
        if mapping.unrepresentable(after) != nil {
            return "\(start) not allowed; document does not match the schema"
        }
        return upload.view.visible(after, object.table, context) == nil ? outside : nil
    }

    // MARK: The outcome

    /// Writes what has changed; a document that the store refuses is rejected like one that rules refuse.
    mutating func store(_ documents: SyncDocuments) async throws {
        let changes = images.compactMap { object, state in
            state.original == state.current ? nil : SyncDocuments.Change(object: object, state: state)
        }
        for refused in try await documents.write(changes) {
            let original = images[refused.object]?.original
            images[refused.object]?.current = original
            let first = steps.first { $0.objects.contains { $0.address == refused.object } }
            reject(
                refused.object,
                "write to \"\(refused.object.key.text())\" in table \"\(refused.object.table.text)\" "
                    + "not allowed; \(refused.reason)",
                first?.uploaded.clientVersion ?? 0
            )
            for place in steps.indices {
                steps[place].objects.removeAll { $0.address == refused.object }
                steps[place].instructions.removeAll { $0.object == refused.object }
            }
        }
    }

    /// One version per changeset, and one that puts right what was rejected.
    func entries(after version: Int64, timestamp: Int64) -> [SyncHistoryEntry] {
        var entries: [SyncHistoryEntry] = []
        for step in steps {
            let isIngest = { (table: ByteText) in upload.app.schema[table]?.isAsymmetric == true }
            entries.append(
                SyncHistoryEntry(
                    version: version + Int64(entries.count) + 1,
                    originFile: upload.file.ident,
                    clientVersion: step.uploaded.clientVersion,
                    timestamp: step.uploaded.timestamp,
                    changeset: Changeset(step.instructions.filter { !isIngest($0.table) }),
                    schemaVersion: upload.app.schemaVersion,
                    objects: step.objects.filter { !isIngest($0.address.table) }
                )
            )
        }
        guard !rejections.isEmpty else { return entries }
        entries.append(
            SyncHistoryEntry(
                version: version + Int64(entries.count) + 1,
                originFile: 1,
                clientVersion: rejectedClientVersion,
                targetFile: upload.file.ident,
                timestamp: timestamp,
                changeset: Changeset(rejections.flatMap { repair($0.object) }),
                schemaVersion: upload.app.schemaVersion,
                objects: [],
                rejections: rejections
            )
        )
        return entries
    }

    /// Sets an object to the server's truth as the device may see it.
    private func repair(_ object: ObjectAddress) -> [Instruction] {
        guard let mapping = upload.app.schema.mapping(of: object.table) else { return [] }
        let erase = mapping.erase(object.key)
        guard let truth = upload.view.visible(images[object]?.current, object.table, context) else {
            return [erase]
        }
        return [erase] + mapping.instructions(creating: truth, isFresh: true)
    }
}
