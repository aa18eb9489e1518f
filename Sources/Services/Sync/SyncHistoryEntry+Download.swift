import BSON
import MQL
import Sync

extension SyncHistoryEntry {
    /// The entry as one device gets it; nil when nothing of it concerns the device.
    ///
    /// An object that comes into the view is sent whole, one that leaves it is erased, and of one that stays the
    /// change is sent. Source: `sync-semantics.md` §5.
    ///
    /// - Parameters:
    ///   - file: The device's.
    ///   - view: What it may hold.
    ///   - integrated: The device's last version that the history contains; raised by the device's own entries.
    ///   - context: For its query.
    ///   - first: What the device is told before.
    /// - Returns: The entry for the message.
    func download(
        for file: Int64,
        _ view: SyncView,
        _ integrated: inout Int64,
        _ context: EvaluationContext,
        after first: [Instruction] = []
    ) -> DownloadLedger.Entry? {
        if originFile == file {
            integrated = max(integrated, clientVersion)
            return nil
        }
        if let targetFile {
            return targetFile == file ? entry(first + changeset.instructions, integrated) : nil
        }
        let instructions = instructions(for: view, context)
        return instructions.isEmpty ? nil : entry(first + instructions, integrated)
    }

    /// The entry as a device with a view is told it; its own changes are merged with the entry in this form, too.
    func instructions(for view: SyncView, _ context: EvaluationContext) -> [Instruction] {
        var instructions: [Instruction] = []
        let byObject = instructionsByObject
        // A transaction may change one document several times: its instructions stand for all of them.
        var last: [ObjectAddress: Object] = [:]
        for object in objects { last[object.address] = object }
        for object in objects {
            let table = object.address.table
            guard let permission = view.permissions[table],
                let newest = last.removeValue(forKey: object.address)
            else { continue }
            let before = view.visible(object.before, table, context)
            let after = view.visible(newest.after, table, context)
            // What was said in the words of another version of the schemas is said anew.
            let isWhole = permission.schemaVersion == schemaVersion && after == newest.after
            switch (before, after) {
            case (nil, nil): continue
            case (nil, let after?):
                // A new object is told as it was made: what was not said of it gives way to what others say.
                if object.before == nil, isWhole, !permission.mapping.hasDefaults {
                    instructions += byObject[object.address] ?? []
                } else {
                    instructions += permission.mapping.instructions(creating: after)
                }
            case (_?, nil): instructions.append(permission.mapping.erase(object.address.key))
            case (let before?, let after?):
                if before == object.before, isWhole {
                    instructions += byObject[object.address] ?? []
                } else {
                    instructions += permission.mapping.instructions(changing: before, to: after)
                }
            }
        }
        return instructions
    }

    private func entry(_ instructions: [Instruction], _ integrated: Int64) -> DownloadLedger.Entry {
        DownloadLedger.Entry(
            serverVersion: version,
            clientVersion: integrated,
            timestamp: timestamp,
            originFile: originFile,
            changeset: ChangesetWriter.write(Changeset(instructions))
        )
    }
}

extension ObjectMapping {
    /// Whether devices see other values than null where a document has none.
    fileprivate var hasDefaults: Bool { type.properties.contains { $0.defaultValue != nil } }
}
