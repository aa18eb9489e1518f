import BSON

/// The instructions of several changesets, found by what can conflict with them.
///
/// Without it every instruction of one side would meet every one of the other. Two instructions have a rule only
/// when they are about one object, about the definition of one class, or when one erases the class or a field of it.
struct ConflictIndex {
    /// Where an instruction stands.
    struct Order: Comparable {
        /// The position among the instructions that were there at first.
        let position: Int
        /// What was put before such an instruction counts from zero; the instruction itself comes last.
        let place: Int

        static func < (left: Order, right: Order) -> Bool {
            (left.position, left.place) < (right.position, right.place)
        }
    }

    /// One instruction, or the gap that it left.
    struct Slot {
        var instruction: Instruction?
        let entry: Int
        let order: Order
    }

    private(set) var slots: [Slot] = []
    private let originalCount: Int
    private var rewritten: Set<Int> = []
    private var objects: [ObjectAddress: [Int]] = [:]
    /// What defines or erases a class or its fields; a link's column counts for the class it leads to as well.
    private var definitions: [ByteText: [Int]] = [:]
    private var erasures: [ByteText: [Int]] = [:]
    /// What is about objects, by class; made when first asked for, since few changesets erase a class.
    private var members: [ByteText: [Int]]?

    init(_ changesets: [Changeset]) {
        slots.reserveCapacity(changesets.reduce(0) { $0 + $1.instructions.count })
        for (entry, changeset) in changesets.enumerated() {
            for instruction in changeset.instructions {
                let order = Order(position: slots.count, place: .max)
                slots.append(Slot(instruction: instruction, entry: entry, order: order))
            }
        }
        originalCount = slots.count
        for slot in slots.indices { register(slot) }
    }

    private mutating func register(_ slot: Int) {
        guard let instruction = slots[slot].instruction else { return }
        if let object = instruction.object {
            objects[object, default: []].append(slot)
            return
        }
        for table in instruction.definedTables { insert(slot, into: &definitions[table, default: []]) }
        if instruction.erasesDefinition { insert(slot, into: &erasures[instruction.table, default: []]) }
    }

    private func insert(_ slot: Int, into list: inout [Int]) {
        let order = slots[slot].order
        let later = list.lastIndex { slots[$0].order < order }
        list.insert(slot, at: later.map { $0 + 1 } ?? 0)
    }

    /// The slots that an instruction has to meet, in order.
    mutating func candidates(for instruction: Instruction) -> [Int] {
        if let object = instruction.object {
            return union(objects[object] ?? [], erasures[object.table] ?? [])
        }
        let related = instruction.definedTables.map { definitions[$0] ?? [] }.reduce([], union)
        guard instruction.erasesDefinition else { return related }
        return union(related, slots(ofClass: instruction.table))
    }

    private mutating func slots(ofClass table: ByteText) -> [Int] {
        if let members { return members[table] ?? [] }
        var made: [ByteText: [Int]] = [:]
        for slot in 0..<originalCount {
            if let object = slots[slot].instruction?.object { made[object.table, default: []].append(slot) }
        }
        members = made
        return made[table] ?? []
    }

    private func union(_ left: [Int], _ right: [Int]) -> [Int] {
        if left.isEmpty { return right }
        if right.isEmpty { return left }
        let all = Set(left).union(right)
        return all.sorted { slots[$0].order < slots[$1].order }
    }

    /// Puts another instruction, or a gap, into a slot.
    mutating func replace(_ slot: Int, with instruction: Instruction?) {
        slots[slot].instruction = instruction
        rewritten.insert(slots[slot].entry)
    }

    /// Adds an instruction directly before another one, of the same changeset.
    mutating func insert(_ instruction: Instruction, before slot: Int) {
        let order = Order(position: slots[slot].order.position, place: slots.count)
        slots.append(Slot(instruction: instruction, entry: slots[slot].entry, order: order))
        rewritten.insert(slots[slot].entry)
        register(slots.count - 1)
    }

    /// The changesets that are no longer what they were, by their position.
    func rewrittenEntries() -> [Int: [Instruction]] {
        var result: [Int: [Instruction]] = [:]
        for entry in rewritten { result[entry] = [] }
        let ordered = slots.count == originalCount ? slots : slots.sorted { $0.order < $1.order }
        for slot in ordered {
            guard let instruction = slot.instruction else { continue }
            result[slot.entry]?.append(instruction)
        }
        return result
    }
}

extension Instruction {
    /// The classes of whose definition an instruction speaks; none when it is about objects.
    fileprivate var definedTables: [ByteText] {
        switch self {
        case .addTable(let table, _), .eraseTable(let table), .eraseColumn(let table, _): [table]
        case .addColumn(let column):
            if let target = column.target, target != column.table {
                [column.table, target]
            } else {
                [column.table]
            }
        case .createObject, .eraseObject, .update, .addInteger, .arrayInsert, .arrayMove, .arrayErase, .clear,
            .setInsert, .setErase:
            []
        }
    }

    /// Whether a class or a field of all its objects goes away.
    fileprivate var erasesDefinition: Bool {
        switch self {
        case .eraseTable, .eraseColumn: true
        default: false
        }
    }
}
