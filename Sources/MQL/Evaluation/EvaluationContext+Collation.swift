public import BSON

// Comparisons of values, by the collation of the operation where it has one.
extension EvaluationContext {
    /// The same context without a collation, for what rules and schemas ask: theirs is the simple one.
    public var simplyCollated: EvaluationContext {
        guard collation != nil else { return self }
        var copy = self
        copy.collation = nil
        return copy
    }

    /// What stands for a value in comparisons.
    public func keyed(_ value: BSONValue) -> BSONValue {
        collation?.keyed(value) ?? value
    }

    /// -1, 0 or 1.
    func compare(_ first: BSONValue, _ second: BSONValue) -> Int {
        guard collation != nil else { return BSONOrdering.compare(first, second) }
        return BSONOrdering.compare(keyed(first), keyed(second))
    }

    /// -1, 0 or 1 in the whole order of BSON; missing is below everything.
    func order(_ left: BSONValue?, _ right: BSONValue?) -> Int {
        guard collation != nil else { return OperatorEvaluator.order(left, right) }
        return OperatorEvaluator.order(left.map { keyed($0) }, right.map { keyed($0) })
    }

    /// What a value is found by in sets and dictionaries.
    func key(_ value: BSONValue) -> BSONKey { BSONKey(keyed(value)) }
}
