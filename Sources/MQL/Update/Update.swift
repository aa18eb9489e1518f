public import BSON

/// What an update does to a document.
///
/// Source: `reference/mql.md` §6.
public enum Update: Sendable {
    /// `{$set: …, $inc: …}`: changes in the order in which they apply (lexicographic by path).
    case operators([UpdateChange], arrayFilters: [String: Filter])
    /// A whole document.
    case replacement(BSONDocument)
    /// `[{$set: …}, …]`
    case pipeline(Pipeline)

    /// Whether it puts another document in the place of the one that is there.
    public var isReplacement: Bool {
        if case .replacement = self { true } else { false }
    }
}

/// One operator on one path.
public struct UpdateChange: Sendable {
    /// The place that it changes.
    public let path: UpdatePath
    /// What happens to the value there.
    public let action: UpdateAction

    /// Made of its parts.
    public init(path: UpdatePath, action: UpdateAction) {
        self.path = path
        self.action = action
    }
}

/// An update operator with its operand.
public enum UpdateAction: Sendable {
    case set(BSONValue)
    case unset
    case increment(BSONValue)
    case multiply(BSONValue)
    case minimum(BSONValue)
    case maximum(BSONValue)
    /// The value moves from ``UpdateChange/path`` to here.
    case rename(to: UpdatePath)
    case setOnInsert(BSONValue)
    case currentDate(CurrentDateType)
    case push(PushArguments)
    case addToSet([BSONValue])
    case pop(PopEnd)
    case pull(PullCondition)
    case pullAll([BSONValue])
    /// `{$bit: {a: {and: 5, or: 2}}}`: operators with int or long operands, in order.
    case bit([BitOperation])
}

/// Which type `$currentDate` writes.
public enum CurrentDateType: Sendable {
    case date
    case timestamp
}

/// Which end of an array `$pop` cuts: `-1` or `1`.
public enum PopEnd: Sendable {
    case first
    case last
}

/// One operator of `$bit` with its operand, an int or a long.
public struct BitOperation: Sendable, Hashable {
    /// How the bits are combined.
    public let bitOperator: BitOperator
    /// An int or a long.
    public let operand: BSONValue

    /// Made of its parts.
    public init(_ bitOperator: BitOperator, _ operand: BSONValue) {
        self.bitOperator = bitOperator
        self.operand = operand
    }
}

/// The three operations on bits; the raw value is the key in `$bit`.
public enum BitOperator: String, Sendable {
    case and
    case or
    case xor
}

/// `$push` with its modifiers.
public struct PushArguments: Sendable {
    /// `$each`: what is added, in order.
    public var elements: [BSONValue]
    /// `$position`: the index of the first one added, from the end when negative; nil appends.
    public var position: Int?
    /// `$slice`: how many elements stay, the last ones when negative; nil keeps all.
    public var slice: Int?
    /// `$sort`: the order of the whole array, made before it is cut.
    public var sort: PushSort?

    /// Made of its parts.
    public init(elements: [BSONValue], position: Int? = nil, slice: Int? = nil, sort: PushSort? = nil) {
        self.elements = elements
        self.position = position
        self.slice = slice
        self.sort = sort
    }
}

/// What `$push` orders an array by.
public enum PushSort: Sendable {
    /// `$sort: 1`: by the elements themselves.
    case value(ascending: Bool)
    /// `$sort: {field: 1}`
    case fields(Sort)
}

/// What `$pull` removes.
public indirect enum PullCondition: Sendable {
    /// Elements equal to a value.
    case equal(BSONValue)
    /// Elements that satisfy operators: `{$gte: 5}`.
    case tests([FieldTest])
    /// Object elements that match a query.
    case document(Filter)
}
