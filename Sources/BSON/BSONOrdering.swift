/// MongoDB's total order over all values, and the equality that follows from it.
///
/// Types fall into brackets (null and undefined share one, as do the four kinds of number, and strings
/// with symbols); within a bracket values are compared by content, numbers exactly whatever their
/// representation. A missing field sorts as null; that is the caller's affair.
///
/// Source: `reference/mql.md` §1.2, §1.3.
public enum BSONOrdering {
    /// -1, 0 or 1.
    public static func compare(_ left: BSONValue, _ right: BSONValue) -> Int {
        switch (left, right) {
        case (.int32(let left), .int32(let right)): return order(left, right)
        case (.string(let left), .string(let right)): return TextOrder.compare(left, right)
        case (.objectID(let left), .objectID(let right)): return compare(left, right)
        default: break
        }
        let brackets = (bracket(left), bracket(right))
        if brackets.0 != brackets.1 { return order(brackets.0, brackets.1) }
        switch (left, right) {
        case (.document(let left), .document(let right)): return compare(left, right)
        case (.array(let left), .array(let right)): return compare(left, right)
        case (.binary(let left), .binary(let right)): return compare(left, right)
        case (.bool(let left), .bool(let right)): return left == right ? 0 : (right ? -1 : 1)
        case (.date(let left), .date(let right)): return order(left, right)
        case (.timestamp(let left), .timestamp(let right)):
            return left.seconds == right.seconds
                ? order(left.increment, right.increment) : order(left.seconds, right.seconds)
        case (.regex(let left), .regex(let right)):
            let byPattern = TextOrder.compare(left.pattern, right.pattern)
            return byPattern != 0 ? byPattern : TextOrder.compare(left.options, right.options)
        case (.dbPointer(let left), .dbPointer(let right)):
            let byNamespace = TextOrder.compare(left.namespace, right.namespace)
            return byNamespace != 0 ? byNamespace : compare(left.id, right.id)
        case (.code(let left), .code(let right)): return TextOrder.compare(left, right)
        case (.codeWithScope(let left), .codeWithScope(let right)):
            let byCode = TextOrder.compare(left.code, right.code)
            return byCode != 0 ? byCode : compare(left.scope, right.scope)
        case (.string(let left), .symbol(let right)), (.symbol(let left), .string(let right)),
            (.symbol(let left), .symbol(let right)):
            return TextOrder.compare(left, right)
        default: return left.isNumber ? NumberOrder.compare(left, right) : 0
        }
    }

    /// Whether both compare equal: `1 == 1.0`, `null == undefined`, `{a, b} != {b, a}`.
    public static func equal(_ left: BSONValue, _ right: BSONValue) -> Bool {
        compare(left, right) == 0
    }

    /// The place of the value's type in the order across types; equal numbers share a bracket.
    ///
    /// The numbers are those of the server's canonical types.
    public static func bracket(_ value: BSONValue) -> Int {
        switch value {
        case .double, .int32, .int64, .decimal128: 10
        case .string, .symbol: 15
        case .document: 20
        case .array: 25
        case .binary: 30
        case .undefined, .null: 5
        case .objectID: 35
        case .bool: 40
        case .date: 45
        case .regex: 50
        case .dbPointer: 55
        case .code: 60
        case .codeWithScope: 65
        case .timestamp: 47
        case .minKey: -1
        case .maxKey: 127
        }
    }

    /// Field by field: bracket of the value, then name, then value; a prefix is smaller.
    @_disfavoredOverload
    public static func compare(_ left: BSONDocument, _ right: BSONDocument) -> Int {
        for (first, second) in zip(left.fields, right.fields) {
            let byBracket = order(bracket(first.value), bracket(second.value))
            if byBracket != 0 { return byBracket }
            let byName = TextOrder.compare(first.key, second.key)
            if byName != 0 { return byName }
            let byValue = compare(first.value, second.value)
            if byValue != 0 { return byValue }
        }
        return order(left.count, right.count)
    }

    static func compare(_ left: [BSONValue], _ right: [BSONValue]) -> Int {
        for (first, second) in zip(left, right) {
            let byValue = compare(first, second)
            if byValue != 0 { return byValue }
        }
        return order(left.count, right.count)
    }

    private static func compare(_ left: BSONBinary, _ right: BSONBinary) -> Int {
        if left.orderedLength != right.orderedLength { return order(left.orderedLength, right.orderedLength) }
        if left.subtype != right.subtype { return order(left.subtype, right.subtype) }
        return left.bytes.withUnsafeBufferPointer { left in
            right.bytes.withUnsafeBufferPointer { right in TextOrder.compare(left, right) }
        }
    }

    private static func compare(_ left: ObjectID, _ right: ObjectID) -> Int {
        left.seconds == right.seconds ? order(left.rest, right.rest) : order(left.seconds, right.seconds)
    }

    static func order<T: Comparable>(_ left: T, _ right: T) -> Int {
        left == right ? 0 : (left < right ? -1 : 1)
    }
}
