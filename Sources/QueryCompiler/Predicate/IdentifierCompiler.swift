import BSON
import MQL
import SQL

/// Tests on `_id`, by its typed key: the primary key.
///
/// An `_id` is never an array, so one value decides.
enum IdentifierCompiler {
    /// Longest string whose key is sure to sort exactly; the keys of longer ones end in a digest.
    private static let exactBytes = 1_000

    /// nil: by the document, as any other field.
    static func compile(_ test: FieldTest) -> Condition? {
        switch test {
        case .compare(let op, let value): compare(op, value)
        case .inside(let members): inside(members)
        case .exists(let isPresent): isPresent ? .always : .never
        case .type, .modulo, .matches, .all, .allElements, .elementMatch, .size, .bits, .not: nil
        }
    }

    private static func compare(_ op: ComparisonOperator, _ value: BSONValue) -> Condition? {
        if op == .equal { return equal([value]) }
        switch value {
        case .double, .int32, .int64, .decimal128:
            if value.doubleValue?.isNaN == true { return op.acceptsEqual ? equal([value]) : .never }
        case .string(let text), .symbol(let text):
            if text.utf8.count > exactBytes { return nil }
        case .objectID, .date, .bool: break
        case .null, .undefined: return op.acceptsEqual ? equal([value]) : .never
        case .document, .array, .binary, .regex, .dbPointer, .code, .codeWithScope, .timestamp, .minKey,
            .maxKey:
            return nil
        }
        guard let key = try? TypedKey.text(value) else { return nil }
        let bracket = TypedKey.bounds(ofBracketOf: value)
        if op.acceptsGreater {
            return .sql(
                "(\(op.sql("_id", "\(bind: .text(key))")) AND _id < \(bind: .text(bracket.upper)))"
            )
        }
        return .sql("(\(op.sql("_id", "\(bind: .text(key))")) AND _id >= \(bind: .text(bracket.lower)))")
    }

    private static func inside(_ members: [FilterMember]) -> Condition? {
        var values: [BSONValue] = []
        for member in members {
            guard case .value(let value) = member else { return nil }
            values.append(value)
        }
        return equal(values)
    }

    private static func equal(_ values: [BSONValue]) -> Condition? {
        var keys: [String] = []
        var isExact = true
        for value in values {
            switch value {
            case .array, .regex: continue  // no _id is one
            case .document: isExact = false
            default: break
            }
            guard let key = try? TypedKey.text(value) else { return nil }
            keys.append(key)
        }
        if keys.isEmpty { return .never }
        return keys.count == 1
            ? .sql("_id = \(bind: .text(keys[0]))", isExact: isExact)
            : .sql("_id = ANY (\(bind: .textArray(keys)))", isExact: isExact)
    }
}
