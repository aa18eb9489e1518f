import BSON

/// What an instruction does to another one that lies inside of what it is about.
///
/// Source: `realm-sync-protocol.md` §8.1.
enum NestedRules {
    /// Rewrites or discards the inner one.
    static func apply(_ outer: Instruction, to inner: inout Encounter.Party) throws(SyncFault) {
        guard let instruction = inner.instruction else { return }
        switch outer {
        case .eraseTable(let table):
            if instruction.table == table { inner.discard() }
        case .eraseObject(let object):
            if instruction.address?.object == object { inner.discard() }
        case .update(let address, let value, _):
            guard let next = next(address, instruction) else { return }
            if !keeps(value, next) { inner.discard() }
        case .addInteger(let address, _), .clear(let address, _):
            if next(address, instruction) != nil { inner.discard() }
        case .arrayInsert, .arrayMove, .arrayErase: try follow(outer, &inner)
        case .addTable, .addColumn, .eraseColumn, .createObject, .setInsert, .setErase: break
        }
    }

    private static func next(_ outer: ValueAddress, _ inner: Instruction) -> PathElement? {
        inner.address.flatMap(outer.next)
    }

    /// Whether setting a value leaves what happens below it: that the value is an object or a collection is said
    /// again and again, and takes nothing away from one that is there.
    private static func keeps(_ value: Payload, _ next: PathElement) -> Bool {
        switch (value, next) {
        case (.objectValue, _), (.list, .index), (.dictionary, .key): true
        default: false
        }
    }

    /// Keeps a way that leads through a list, or to an element of it, on the element that it meant.
    ///
    /// realm-core 14.14.0 does less than that in two places, so that there a device's edit goes astray whatever the
    /// server does. When an element moves while another device edits inside of it, it changes the move instead of
    /// the edit. And the clearing of a collection that is itself an element of a list stays at its index whatever
    /// happens to that list.
    static func follow(_ change: Instruction, _ inner: inout Encounter.Party) throws(SyncFault) {
        switch change {
        case .arrayInsert(let address, _, _): try shift(&inner, address) { $1 >= $0 ? $1 + 1 : $1 }
        case .arrayMove(let address, let target, _):
            try shift(&inner, address) { ListStep.position(of: $1, from: $0, to: Int(target)) }
        case .arrayErase(let address, _):
            try shift(&inner, address) { $1 == $0 ? nil : $1 > $0 ? $1 - 1 : $1 }
        default: break
        }
    }

    /// Moves the index on the inner way that chooses in the list in which the outer instruction changes something.
    ///
    /// `move` makes the new index, of the index of the outer instruction and that of the inner one; nil when the
    /// element is gone.
    private static func shift(
        _ inner: inout Encounter.Party,
        _ outer: ValueAddress,
        _ move: (Int, Int) -> Int?
    ) throws(SyncFault) {
        guard let instruction = inner.instruction, var address = instruction.address,
            outer.choosesInContainer(of: address)
        else { return }
        let step = outer.path.count - 1
        guard case .index(let from) = outer.path[step], case .index(let index) = address.path[step] else {
            throw .diverged("an index stands where the other side has a key")
        }
        guard let moved = move(Int(from), Int(index)) else { return inner.discard() }
        guard moved != Int(index) else { return }
        guard let moved = UInt32(exactly: moved) else { throw .diverged("an index is out of range") }
        address.path[step] = .index(moved)
        var changed = instruction
        changed.address = address
        inner.replace(with: changed)
    }
}
