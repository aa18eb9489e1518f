/// Every operator that an expression may call. The raw value is its name in a pipeline.
public enum ExpressionOperator: String, Sendable, Hashable, CaseIterable {
    case add = "$add"
    case subtract = "$subtract"
    case multiply = "$multiply"
    case divide = "$divide"
    case equal = "$eq"
    case notEqual = "$ne"
    case greater = "$gt"
    case greaterOrEqual = "$gte"
    case less = "$lt"
    case lessOrEqual = "$lte"
    case and = "$and"
    case or = "$or"
    case not = "$not"
    case condition = "$cond"
    case ifNull = "$ifNull"
    case sum = "$sum"
}
