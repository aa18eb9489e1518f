/// A change of one list, by numbers alone.
struct ListStep: Equatable {
    /// What happens to the list; the order is that in which the rules are written.
    enum Action: Int, Comparable {
        case set
        case insert
        case move
        case erase

        static func < (left: Action, right: Action) -> Bool { left.rawValue < right.rawValue }
    }

    let action: Action
    var index: Int
    /// Where a moved element goes.
    var target = 0
    /// How many elements the list had before.
    var size: Int
    var isDiscarded = false

    /// Whether the list can be changed so.
    private var isPossible: Bool {
        switch action {
        case .set, .erase: index < size
        case .insert: index <= size
        case .move: index < size && target < size
        }
    }

    /// Where the element at an index stands after another one, or itself, has moved.
    static func position(of index: Int, from: Int, to target: Int) -> Int {
        guard index != from else { return target }
        let removed = index > from ? index - 1 : index
        return removed >= target ? removed + 1 : removed
    }

    /// Rewrites two changes of one list, each for the list that the other one has changed.
    ///
    /// - Parameters:
    ///   - left: One of the two.
    ///   - right: The other one; its action comes no later in the order of actions.
    ///   - leftIsLater: Which one was made later, for what the numbers leave open.
    /// - Throws: `badChangeset` when the two are not of one list.
    static func merge(
        _ left: inout ListStep,
        _ right: inout ListStep,
        leftIsLater: Bool
    ) throws(SyncFault) {
        guard left.size == right.size else {
            throw .diverged("one side has a list of \(left.size) elements, the other of \(right.size)")
        }
        guard left.isPossible, right.isPossible else {
            throw .diverged("an index is outside a list of \(left.size) elements")
        }
        switch (left.action, right.action) {
        case (.insert, .set): insertMeetsSet(left, &right)
        case (.move, .set): right.index = position(of: right.index, from: left.index, to: left.target)
        case (.erase, .set): eraseMeetsSet(left, &right)
        case (.insert, .insert): insertMeetsInsert(&left, &right, leftIsLater)
        case (.move, .insert): moveMeetsInsert(&left, &right, leftIsLater)
        case (.erase, .insert): eraseMeetsInsert(&left, &right)
        case (.move, .move): moveMeetsMove(&left, &right, leftIsLater)
        case (.erase, .move): eraseMeetsMove(&left, &right)
        case (.erase, .erase): eraseMeetsErase(&left, &right)
        default: break
        }
    }

    private static func insertMeetsSet(_ insert: ListStep, _ set: inout ListStep) {
        set.size += 1
        if set.index >= insert.index { set.index += 1 }
    }

    private static func eraseMeetsSet(_ erase: ListStep, _ set: inout ListStep) {
        set.size -= 1
        if set.index == erase.index {
            set.isDiscarded = true
        } else if set.index > erase.index {
            set.index -= 1
        }
    }

    private static func insertMeetsInsert(
        _ left: inout ListStep,
        _ right: inout ListStep,
        _ leftIsLater: Bool
    ) {
        left.size += 1
        right.size += 1
        // At one place the earlier one comes first.
        if left.index > right.index || (left.index == right.index && leftIsLater) {
            left.index += 1
        } else {
            right.index += 1
        }
    }

    private static func moveMeetsInsert(_ move: inout ListStep, _ insert: inout ListStep, _ moveIsLater: Bool)
    {
        move.size += 1
        if insert.index > move.index {
            insert.index -= 1
        } else {
            move.index += 1
        }
        // At one place the later one comes first, unlike with two inserts: so the devices have it.
        if insert.index < move.target || (insert.index == move.target && !moveIsLater) {
            move.target += 1
        } else {
            insert.index += 1
        }
    }

    private static func eraseMeetsInsert(_ erase: inout ListStep, _ insert: inout ListStep) {
        erase.size += 1
        insert.size -= 1
        if insert.index <= erase.index {
            erase.index += 1
        } else {
            insert.index -= 1
        }
    }

    private static func moveMeetsMove(_ left: inout ListStep, _ right: inout ListStep, _ leftIsLater: Bool) {
        if left.index == right.index {
            return leftIsLater ? overrule(&right, by: &left) : overrule(&left, by: &right)
        }
        if left.index < right.index {
            right.index -= 1
        } else {
            left.index -= 1
        }
        if left.target > right.index {
            left.target -= 1
        } else {
            right.index += 1
        }
        if left.index < right.target {
            right.target -= 1
        } else {
            left.index += 1
        }
        if left.target > right.target || (left.target == right.target && leftIsLater) {
            left.target += 1
        } else {
            right.target += 1
        }
        left.discardIfIdle()
        right.discardIfIdle()
    }

    /// Both moved one element: it goes from where the earlier move put it to where the later one wants it.
    private static func overrule(_ earlier: inout ListStep, by later: inout ListStep) {
        later.index = earlier.target
        earlier.isDiscarded = true
        later.discardIfIdle()
    }

    private static func eraseMeetsMove(_ erase: inout ListStep, _ move: inout ListStep) {
        move.size -= 1
        if erase.index == move.index {
            erase.index = move.target
            move.isDiscarded = true
            return
        }
        if erase.index > move.index {
            erase.index -= 1
        } else {
            move.index -= 1
        }
        if erase.index >= move.target {
            erase.index += 1
        } else {
            move.target -= 1
        }
        move.discardIfIdle()
    }

    private static func eraseMeetsErase(_ left: inout ListStep, _ right: inout ListStep) {
        left.size -= 1
        right.size -= 1
        if left.index > right.index {
            left.index -= 1
        } else if left.index < right.index {
            right.index -= 1
        } else {
            left.isDiscarded = true
            right.isDiscarded = true
        }
    }

    /// A move to where the element stands is no move, and devices refuse it.
    private mutating func discardIfIdle() {
        if index == target { isDiscarded = true }
    }
}
