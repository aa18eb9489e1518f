import BSON

/// Two instructions that did not know of each other.
///
/// Each is rewritten for the state in which the other one has happened already, or discarded.
struct Encounter {
    /// What becomes of one of the two.
    struct Party {
        /// Nil when it is discarded.
        private(set) var instruction: Instruction?
        /// What has to happen directly before it.
        private(set) var preceding: Instruction?
        private(set) var isRewritten = false
        /// Whether it counts as made after the other one.
        let isLater: Bool

        init(_ instruction: Instruction, isLater: Bool) {
            self.instruction = instruction
            self.isLater = isLater
        }

        mutating func discard() {
            instruction = nil
            isRewritten = true
        }

        mutating func replace(with instruction: Instruction) {
            self.instruction = instruction
            isRewritten = true
        }

        mutating func precede(with instruction: Instruction) { preceding = instruction }
    }

    private(set) var first: Party
    private(set) var second: Party

    init(_ first: Instruction, _ second: Instruction, firstIsLater: Bool) {
        self.first = Party(first, isLater: firstIsLater)
        self.second = Party(second, isLater: !firstIsLater)
    }

    /// The nested rule when one lies inside what the other is about, then the rule of the pair.
    mutating func merge() throws(SyncFault) {
        guard let one = first.instruction, let other = second.instruction else { return }
        if one.depth < other.depth {
            try NestedRules.apply(one, to: &second)
        } else if other.depth < one.depth {
            try NestedRules.apply(other, to: &first)
        }
        guard first.instruction != nil, second.instruction != nil else { return }
        if one.number >= other.number {
            try PairRules.apply(&first, &second)
        } else {
            try PairRules.apply(&second, &first)
        }
    }
}

extension Instruction {
    /// How far below the whole database it acts: a class 1, an object or a column 2, a value 3 and its path.
    fileprivate var depth: Int {
        switch self {
        case .addTable, .eraseTable: 1
        case .createObject, .eraseObject, .addColumn, .eraseColumn: 2
        case .update(let address, _, _), .addInteger(let address, _), .arrayInsert(let address, _, _),
            .arrayMove(let address, _, _), .arrayErase(let address, _), .clear(let address, _),
            .setInsert(let address, _), .setErase(let address, _):
            3 + address.path.count
        }
    }
}

extension ValueAddress {
    /// The step that follows this address on a longer way that leads through it; nil when it leads elsewhere.
    func next(on longer: ValueAddress) -> PathElement? {
        guard path.count < longer.path.count, field == longer.field,
            longer.path.starts(with: path), object == longer.object
        else { return nil }
        return longer.path[path.count]
    }

    /// Whether the last step chooses in the same list or dictionary in which the other way chooses as well.
    func choosesInContainer(of other: ValueAddress) -> Bool {
        guard !path.isEmpty, path.count <= other.path.count, field == other.field,
            other.path.starts(with: path.dropLast()), object == other.object
        else { return false }
        return true
    }
}

extension SyncFault {
    /// The histories cannot have begun in one state.
    static func diverged(_ what: String) -> SyncFault {
        SyncFault(.badChangeset, "the changeset does not fit the server's history: \(what)")
    }
}
