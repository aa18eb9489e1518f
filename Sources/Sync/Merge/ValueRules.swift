import BSON

/// What two changes of values do to each other.
///
/// Source: `realm-sync-protocol.md` §8.2.
enum ValueRules {
    /// Rewrites or discards either one; the first has the higher number on the wire, or the same.
    static func apply(
        _ left: inout Encounter.Party,
        _ right: inout Encounter.Party
    ) throws(SyncFault) {
        guard let one = left.instruction, let other = right.instruction,
            let address = one.address, let otherAddress = other.address,
            address.path.count == otherAddress.path.count
        else { return }
        switch (one.listStep, other.listStep) {
        case (let step?, let otherStep?) where step.action != .set || otherStep.action != .set:
            guard address.choosesInContainer(of: otherAddress) else { return }
            return try applyToList(&left, &right, step, otherStep)
        case (let step?, nil) where step.action != .set: return try NestedRules.follow(one, &right)
        case (nil, let step?) where step.action != .set: return try NestedRules.follow(other, &left)
        default: break
        }
        guard address == otherAddress else { return }
        try applyToValue(&left, &right, one, other)
    }

    private static func applyToList(
        _ left: inout Encounter.Party,
        _ right: inout Encounter.Party,
        _ step: ListStep,
        _ otherStep: ListStep
    ) throws(SyncFault) {
        var (one, other) = (step, otherStep)
        if one.action >= other.action {
            try ListStep.merge(&one, &other, leftIsLater: left.isLater)
        } else {
            try ListStep.merge(&other, &one, leftIsLater: right.isLater)
        }
        if one != step { try left.replace(with: one) }
        if other != otherStep { try right.replace(with: other) }
    }

    private static func applyToValue(
        _ left: inout Encounter.Party,
        _ right: inout Encounter.Party,
        _ one: Instruction,
        _ other: Instruction
    ) throws(SyncFault) {
        switch (one, other) {
        case (.update(_, let value, let form), .update(_, let otherValue, let otherForm)):
            try updateMeetsUpdate(&left, &right, (value, form), (otherValue, otherForm))
        case (.addInteger(_, let amount), .update(let address, let value, let form)):
            addMeetsUpdate(&left, &right, amount, address, value, form)
        case (.clear(_, let kind), .update(_, let value, _)):
            switch (kind, value) {
            case (.list, .list), (.dictionary, .dictionary): break
            default: keepLater(&left, &right)
            }
        case (.clear, .addInteger): right.discard()
        case (.clear, .clear): keepLater(&left, &right)
        case (.setInsert, .clear), (.setErase, .clear): left.discard()
        case (.setInsert(_, let value), .setInsert(_, let otherValue)),
            (.setErase(_, let value), .setInsert(_, let otherValue)),
            (.setErase(_, let value), .setErase(_, let otherValue)):
            if value == otherValue { keepLater(&left, &right) }
        default: break
        }
    }

    private static func updateMeetsUpdate(
        _ left: inout Encounter.Party,
        _ right: inout Encounter.Party,
        _ one: (value: Payload, form: Instruction.UpdateForm),
        _ other: (value: Payload, form: Instruction.UpdateForm)
    ) throws(SyncFault) {
        switch (one.form, other.form) {
        case (.element(let size), .element(let otherSize)) where size == otherSize: break
        case (.value, .value): break
        default: throw .diverged("the two sides set an element of lists of different sizes")
        }
        switch (one.value, other.value) {
        case (.objectValue, .objectValue): break
        // To create an embedded object never wins over a value: what happens inside the object would be lost.
        case (.objectValue, _): return left.discard()
        case (_, .objectValue): return right.discard()
        // Both begin a collection, and what they put into it is kept.
        case (.list, .list), (.dictionary, .dictionary): return
        default: break
        }
        switch (one.form.isDefault, other.form.isDefault) {
        case (true, false): left.discard()
        case (false, true): right.discard()
        default: keepLater(&left, &right)
        }
    }

    private static func addMeetsUpdate(
        _ add: inout Encounter.Party,
        _ update: inout Encounter.Party,
        _ amount: Int64,
        _ address: ValueAddress,
        _ value: Payload,
        _ form: Instruction.UpdateForm
    ) {
        guard add.isLater || form.isDefault else { return add.discard() }
        switch value {
        // Null stays null. The addition stays as well, for an earlier update that may still come.
        case .null: break
        case .int(let number): update.replace(with: .update(address, .int(number &+ amount), form))
        default: add.discard()
        }
    }

    private static func keepLater(_ left: inout Encounter.Party, _ right: inout Encounter.Party) {
        if left.isLater { right.discard() } else { left.discard() }
    }
}

extension Instruction.UpdateForm {
    fileprivate var isDefault: Bool { self == .value(isDefault: true) }
}

extension Encounter.Party {
    /// Takes over the numbers of a change of a list.
    fileprivate mutating func replace(with step: ListStep) throws(SyncFault) {
        guard !step.isDiscarded else { return discard() }
        guard let index = UInt32(exactly: step.index), let target = UInt32(exactly: step.target),
            let size = UInt32(exactly: step.size), var address = instruction?.address
        else { throw .diverged("a list is too long") }
        address.path[address.path.count - 1] = .index(index)
        switch instruction {
        case .update(_, let value, _): replace(with: .update(address, value, .element(priorSize: size)))
        case .arrayInsert(_, let value, _): replace(with: .arrayInsert(address, value, priorSize: size))
        case .arrayMove: replace(with: .arrayMove(address, to: target, priorSize: size))
        case .arrayErase: replace(with: .arrayErase(address, priorSize: size))
        default: break
        }
    }
}

extension Instruction {
    /// What it does to a list; nil when it does nothing to one.
    fileprivate var listStep: ListStep? {
        switch self {
        case .update(let address, _, .element(let size)): step(.set, address, size)
        case .arrayInsert(let address, _, let size): step(.insert, address, size)
        case .arrayMove(let address, let target, let size): step(.move, address, size, to: target)
        case .arrayErase(let address, let size): step(.erase, address, size)
        default: nil
        }
    }

    private func step(
        _ action: ListStep.Action,
        _ address: ValueAddress,
        _ size: UInt32,
        to target: UInt32 = 0
    ) -> ListStep? {
        guard case .index(let index)? = address.path.last else { return nil }
        return ListStep(action: action, index: Int(index), target: Int(target), size: Int(size))
    }
}
