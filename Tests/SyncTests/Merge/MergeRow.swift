import Sync
import Testing

/// Two histories that met, and what becomes of either.
struct MergeRow: Sendable, CustomTestStringConvertible {
    /// Which side made its changes later.
    enum Order: CaseIterable {
        case firstLater
        case secondLater
    }

    let name: String
    let first: [Instruction]
    let second: [Instruction]
    let orders: [Order]
    let firstAfter: [Instruction]
    let secondAfter: [Instruction]

    var testDescription: String { name }

    /// Whatever the order in time.
    init(
        _ name: String,
        _ first: Instruction...,
        meets second: Instruction...,
        gives firstAfter: [Instruction],
        and secondAfter: [Instruction]
    ) {
        self.init(name, first, second, Order.allCases, firstAfter, secondAfter)
    }

    /// For one order in time.
    init(
        _ name: String,
        _ order: Order,
        _ first: Instruction...,
        meets second: Instruction...,
        gives firstAfter: [Instruction],
        and secondAfter: [Instruction]
    ) {
        self.init(name, first, second, [order], firstAfter, secondAfter)
    }

    private init(
        _ name: String,
        _ first: [Instruction],
        _ second: [Instruction],
        _ orders: [Order],
        _ firstAfter: [Instruction],
        _ secondAfter: [Instruction]
    ) {
        self.name = name
        self.first = first
        self.second = second
        self.orders = orders
        self.firstAfter = firstAfter
        self.secondAfter = secondAfter
    }

    /// Merges with either side as the one that is here, and expects the same.
    func check(sourceLocation: SourceLocation = #_sourceLocation) throws {
        for order in orders {
            let time: Int64 = order == .firstLater ? 20 : 5
            let one = MergeEntry(changeset: Changeset(first), timestamp: time, file: 2, version: 1)
            let other = MergeEntry(changeset: Changeset(second), timestamp: 10, file: 3, version: 1)
            for isFirstHere in [true, false] {
                var (left, right) = ([one], [other])
                if isFirstHere {
                    try Merge.transform(&left, &right)
                } else {
                    try Merge.transform(&right, &left)
                }
                #expect(left[0].changeset.instructions == firstAfter, sourceLocation: sourceLocation)
                #expect(right[0].changeset.instructions == secondAfter, sourceLocation: sourceLocation)
                #expect(left[0].isRewritten == (first != firstAfter), sourceLocation: sourceLocation)
                #expect(right[0].isRewritten == (second != secondAfter), sourceLocation: sourceLocation)
            }
        }
    }
}

/// Two histories that cannot have begun in one state.
struct DivergedRow: Sendable, CustomTestStringConvertible {
    let name: String
    let first: Instruction
    let second: Instruction
    var testDescription: String { name }

    init(_ name: String, _ first: Instruction, meets second: Instruction) {
        self.name = name
        self.first = first
        self.second = second
    }

    func check(sourceLocation: SourceLocation = #_sourceLocation) {
        for (one, other) in [(first, second), (second, first)] {
            var left = [MergeEntry(changeset: Changeset([one]), timestamp: 1, file: 2, version: 1)]
            var right = [MergeEntry(changeset: Changeset([other]), timestamp: 2, file: 3, version: 1)]
            let fault = #expect(throws: SyncFault.self, sourceLocation: sourceLocation) {
                try Merge.transform(&left, &right)
            }
            #expect(fault?.code == .badChangeset, sourceLocation: sourceLocation)
        }
    }
}
