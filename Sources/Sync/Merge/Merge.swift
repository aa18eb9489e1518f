/// Rewrites two histories that grew apart, so that each fits on top of the other.
///
/// Both sides began in the same state. Afterwards the state of one side, changed by the rewritten history of the
/// other, is the same whichever side one begins with. Every device does the same by the same rules, which is why
/// these may not differ from those of realm-core in any result.
///
/// Source: `realm-sync-protocol.md` §§7 and 8.
public enum Merge {
    /// How many pairs of instructions one merge may compare before it is given up.
    ///
    /// Instructions about different objects are never compared, so only long histories of the same objects come near.
    public static let usualLimit = 20_000_000

    /// Rewrites both sides in place; a fault leaves them half rewritten, to be thrown away.
    ///
    /// - Parameters:
    ///   - ours: What happened here, in order.
    ///   - theirs: What happened elsewhere without knowing of it, in order.
    ///   - limit: How many pairs of instructions may be compared.
    /// - Throws: `badChangeset` when the two cannot have begun in one state, define one class differently, or have
    ///   more to compare than the limit; a device that resets itself is then rid of its part.
    public static func transform(
        _ ours: inout [MergeEntry],
        _ theirs: inout [MergeEntry],
        limit: Int = usualLimit
    ) throws(SyncFault) {
        guard ours.contains(where: { !$0.changeset.isEmpty }) else { return }
        var pass = MergePass(theirs, limit: limit)
        guard !pass.isEmpty else { return }
        for position in ours.indices {
            let discriminant = ours[position].discriminant
            var isRewritten = false
            var result: [Instruction] = []
            result.reserveCapacity(ours[position].changeset.instructions.count)
            for instruction in ours[position].changeset.instructions {
                if try pass.run(instruction, discriminant, into: &result) { isRewritten = true }
            }
            if isRewritten {
                ours[position].changeset.instructions = result
                ours[position].isRewritten = true
            }
        }
        pass.writeBack(to: &theirs)
    }
}

/// One side's instructions, through which those of the other side pass one by one.
private struct MergePass {
    private var index: ConflictIndex
    private let discriminants: [Discriminant]
    private var remaining: Int

    init(_ theirs: [MergeEntry], limit: Int) {
        index = ConflictIndex(theirs.map(\.changeset))
        discriminants = theirs.map(\.discriminant)
        remaining = limit
    }

    var isEmpty: Bool { index.slots.isEmpty }

    /// Lets one instruction meet everything that it can conflict with, and adds what is left of it to the result.
    ///
    /// What stands up to `start` was met already. True when the instruction is not what it was, or not alone.
    mutating func run(
        _ instruction: Instruction,
        _ discriminant: Discriminant,
        after start: ConflictIndex.Order? = nil,
        into result: inout [Instruction]
    ) throws(SyncFault) -> Bool {
        var isRewritten = false
        var current = instruction
        for slot in index.candidates(for: instruction) {
            if let start, index.slots[slot].order <= start { continue }
            guard let other = index.slots[slot].instruction else { continue }
            remaining -= 1
            guard remaining >= 0 else {
                throw SyncFault(.badChangeset, "too many changes of the same objects would have to be merged")
            }
            var encounter = Encounter(
                current,
                other,
                firstIsLater: discriminants[index.slots[slot].entry] < discriminant
            )
            try encounter.merge()
            if encounter.second.isRewritten { index.replace(slot, with: encounter.second.instruction) }
            if let added = encounter.second.preceding { index.insert(added, before: slot) }
            if let added = encounter.first.preceding {
                _ = try run(added, discriminant, after: index.slots[slot].order, into: &result)
                isRewritten = true
            }
            guard encounter.first.isRewritten else { continue }
            isRewritten = true
            guard let kept = encounter.first.instruction else { return true }
            current = kept
        }
        result.append(current)
        return isRewritten
    }

    func writeBack(to theirs: inout [MergeEntry]) {
        for (entry, instructions) in index.rewrittenEntries() {
            theirs[entry].changeset.instructions = instructions
            theirs[entry].isRewritten = true
        }
    }
}
