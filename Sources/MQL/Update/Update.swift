public import BSON

/// What an update does to a document. Source: `reference/mql.md` §6.
public enum Update: Sendable {
    /// `{$set: …, $inc: …}`: changes in the order in which they apply (lexicographic by path).
    case operators([UpdateChange], arrayFilters: [String: Filter])
    /// A whole document.
    case replacement(BSONDocument)
    /// `[{$set: …}, …]`
    case pipeline(Pipeline)
}

/// One operator on one path.
public struct UpdateChange: Sendable {
    public let path: UpdatePath
    public let action: UpdateAction

    public init(path: UpdatePath, action: UpdateAction) {
        self.path = path
        self.action = action
    }
}

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

public enum CurrentDateType: Sendable {
    case date
    case timestamp
}

public enum PopEnd: Sendable {
    case first
    case last
}

/// One operator of `$bit` with its operand, an int or a long.
public struct BitOperation: Sendable, Hashable {
    public let bitOperator: BitOperator
    public let operand: BSONValue

    public init(_ bitOperator: BitOperator, _ operand: BSONValue) {
        self.bitOperator = bitOperator
        self.operand = operand
    }
}

public enum BitOperator: String, Sendable {
    case and
    case or
    case xor
}

/// `$push` with its modifiers.
public struct PushArguments: Sendable {
    public var elements: [BSONValue]
    public var position: Int?
    public var slice: Int?
    public var sort: PushSort?

    public init(elements: [BSONValue], position: Int? = nil, slice: Int? = nil, sort: PushSort? = nil) {
        self.elements = elements
        self.position = position
        self.slice = slice
        self.sort = sort
    }
}

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
