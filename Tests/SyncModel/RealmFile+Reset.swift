import BSON
import Sync

// What a client reset leaves of a file.
extension RealmFile {
    /// Goes on as a fresh copy does, with the versions of the file that it stands for.
    ///
    /// - Parameters:
    ///   - old: The file that could not go on.
    ///   - keepsChanges: Whether changes that the server does not have are made once more, and sent.
    /// - Throws: ``RealmState/Refusal`` when a change cannot be made again.
    package mutating func replace(_ old: RealmFile, keepsChanges: Bool) throws {
        skip(to: old.version)
        guard keepsChanges else { return }
        var replaced: Set<ValueAddress> = []
        for change in old.unsent {
            var made: [Instruction] = []
            for instruction in change.entry.changeset.instructions {
                for step in recovered(instruction, old.state, &replaced) {
                    try write(step, into: &made)
                }
            }
            let instructions = made
            try write(at: change.entry.timestamp) { _ in Changeset(instructions) }
        }
    }

    /// What stands for an instruction; nothing when it is discarded.
    ///
    /// Source: `sync-semantics.md` §10.4.
    private func recovered(
        _ instruction: Instruction,
        _ local: RealmState,
        _ replaced: inout Set<ValueAddress>
    ) -> [Instruction] {
        guard let object = instruction.object else { return [] }
        if case .createObject = instruction { return [instruction] }
        guard let fields = state.objects[object] else { return [] }
        guard let address = instruction.address else { return [instruction] }
        switch instruction {
        case .addInteger:
            guard case .plain(.int)? = fields[address.field] else { return [] }
            return [instruction]
        case .update where address.path.isEmpty, .setInsert, .setErase: return [instruction]
        default:
            // A position of unknown origin: the whole list becomes the device's.
            let whole = ValueAddress(object: object, field: address.field)
            guard replaced.insert(whole).inserted,
                case .list(let elements)? = local.objects[object]?[address.field]
            else { return [] }
            return [.clear(whole, .list)]
                + elements.enumerated().compactMap { index, element in
                    guard case .plain(let payload) = element else { return nil }
                    let place = ValueAddress(
                        object: object,
                        field: address.field,
                        path: [.index(UInt32(index))]
                    )
                    return .arrayInsert(place, payload, priorSize: UInt32(index))
                }
        }
    }
}

/// How an application wants its file to be reset.
package enum ResetMode: Sendable, CaseIterable {
    case recover
    case recoverOrDiscard
    case discard
    case manual
}

/// What became of a reset.
package enum ResetOutcome: Equatable {
    case recovered
    case discarded
    /// The file was moved away; the application decides.
    case manual(original: String, recovery: String)
}

extension RealmClient {
    /// Follows an error that wants a client reset, as devices do.
    ///
    /// - Parameters:
    ///   - mode: The application's choice.
    ///   - path: Where the file would be on a device.
    ///   - before: Gets the state before.
    ///   - after: Gets both states.
    /// - Returns: What became of it.
    /// - Throws: What the server says wrong.
    package func reset(
        _ mode: ResetMode,
        path: String = "default.realm",
        before: (RealmState) -> Void = { _ in },
        after: (_ before: RealmState, _ after: RealmState) -> Void = { _, _ in }
    ) throws -> ResetOutcome {
        guard let error, let action = error.body["action"]?.string,
            action == "ClientReset" || action == "ClientResetNoRecovery"
        else { throw BrokenRule("nothing asks for a reset") }
        let mayRecover = action == "ClientReset"
        guard mode != .manual, mayRecover || mode != .recover else {
            disconnect()
            return .manual(original: path, recovery: "recovered-realms/recovered_realm-" + path)
        }
        // The session has ended by its error: UNBIND is not answered.
        if isConnected {
            send("unbind \(session)\n")
        } else {
            try connectForReset()
        }
        let old = file
        file = RealmFile(isFlexible: partition == nil)
        (reason, isDownloadOnly) = (1, true)
        try open()
        let queries = old.subscriptions.active.queries
        if !queries.isEmpty { try subscribe(queries) }
        try catchUp()
        try unbind()
        before(old.state)
        let keeps = mayRecover && mode != .discard
        try file.replace(old, keepsChanges: keeps)
        after(old.state, file.state)
        isDownloadOnly = false
        try open()
        reason = 0
        return keeps ? .recovered : .discarded
    }
}
