import BSON
import MQL

extension RQLCompiler {
    /// What no value satisfies.
    static var never: FieldTest { .inside([]) }
    /// What every value satisfies, a missing one too.
    static var always: FieldTest { .not([never]) }

    func test(
        _ field: Field,
        _ comparison: RQLComparison,
        _ literal: RQLLiteral,
        _ ignoresCase: Bool
    ) throws(RQLFault) -> FieldTest {
        let operation = ignoresCase ? comparison.rawValue + "[c]" : comparison.rawValue
        if ignoresCase {
            guard comparison == .equal || comparison == .notEqual else {
                throw RQLFault("\(operation) is not supported in subscriptions")
            }
            if case .string(let text) = literal, field.type == .string || field.type == .mixed {
                let test = FieldTest.matches(try RQLPattern.whole(text))
                return comparison == .equal ? test : .not([test])
            }
        }
        if case .date(let time) = literal, field.type == .date || field.type == .mixed {
            return RQLTimes.test(comparison, time)
        }
        guard let value = try value(literal, field) else {
            throw mismatch(field, operation, literal.typeName)
        }
        switch comparison {
        case .equal: return .compare(.equal, value)
        case .notEqual: return .not([.compare(.equal, value)])
        case .less, .lessOrEqual, .greater, .greaterOrEqual: break
        }
        // Bytes are ordered by their number first in the store, and not so on the client.
        if case .binary = literal { throw mismatch(field, operation, literal.typeName) }
        if case .string = literal, field.type == .binary {
            throw mismatch(field, operation, literal.typeName)
        }
        if case .object = literal { throw mismatch(field, operation, literal.typeName) }
        if field.type == .string, !field.isArray { return order(comparison, value) }
        switch comparison {
        case .less: return .compare(.less, value)
        case .lessOrEqual: return .compare(.lessOrEqual, value)
        case .greater: return .compare(.greater, value)
        default: return .compare(.greaterOrEqual, value)
        }
    }

    /// The order of texts, in which the client has null first.
    private func order(_ comparison: RQLComparison, _ value: BSONValue) -> FieldTest {
        switch (comparison, value) {
        case (.less, .null): Self.never
        case (.lessOrEqual, .null): .compare(.equal, .null)
        case (.greater, .null): .not([.compare(.equal, .null)])
        case (_, .null): Self.always
        case (.less, _): .not([.compare(.greaterOrEqual, value)])
        case (.lessOrEqual, _): .not([.compare(.greater, value)])
        case (.greater, _): .compare(.greater, value)
        default: .compare(.greaterOrEqual, value)
        }
    }

    /// A literal as documents have it for the field; nil when the field has values of another type.
    private func value(_ literal: RQLLiteral, _ field: Field) throws(RQLFault) -> BSONValue? {
        switch (field.type, literal) {
        case (_, .null): .null
        case (.bool, .bool(let value)), (.mixed, .bool(let value)): .bool(value)
        case (.int, .number(let text)), (.long, .number(let text)), (.float, .number(let text)),
            (.double, .number(let text)), (.decimal, .number(let text)), (.mixed, .number(let text)):
            try number(text, field.type)
        case (.string, .string(let text)), (.mixed, .string(let text)): .string(text)
        case (.binary, .binary(let bytes)), (.mixed, .binary(let bytes)):
            .binary(BSONBinary(subtype: 0, bytes: bytes))
        case (.binary, .string(let text)): .binary(BSONBinary(subtype: 0, bytes: Array(text.utf8)))
        case (.objectID, .objectID(let id)), (.mixed, .objectID(let id)): .objectID(id)
        case (.uuid, .uuid(let uuid)), (.mixed, .uuid(let uuid)):
            .binary(BSONBinary(subtype: 4, bytes: uuid.bytes))
        case (.link(let target), .object(let table, let key)):
            table == "class_" + target.text ? try link(target, key) : nil
        default: nil
        }
    }

    private func number(_ text: String, _ type: SyncType) throws(RQLFault) -> BSONValue {
        if let whole = Int64(text) { return BSONValue(narrowing: whole) }
        if type == .decimal, let decimal = Decimal128(text) { return .decimal128(decimal) }
        // A float is written with so many digits as it needs, which are too few for a double.
        if type == .float, let number = Float(text) { return .double(Double(number)) }
        guard let number = Double(text) else { throw RQLFault("the number \(text) is out of range") }
        return .double(number)
    }

    private func link(_ target: ByteText, _ key: RQLLiteral) throws(RQLFault) -> BSONValue? {
        guard let keyType = schema[target]?.keyType else { return nil }
        return try value(key, Field(name: target, type: keyType, isArray: false))
    }

    /// A comparison of how many elements a list has.
    ///
    /// That there are at least n is that the last of them is there; a missing list has none.
    mutating func count(
        _ path: [String],
        _ quantifier: RQLQuantifier?,
        _ comparison: RQLComparison,
        _ literal: RQLLiteral
    ) throws(RQLFault) -> Filter {
        let field = try field(path)
        guard field.isArray else {
            throw RQLFault("@count needs a list, and \(quoted(field.name)) is none")
        }
        guard quantifier == nil else { throw RQLFault("@count stands without ANY, ALL and NONE") }
        if case .null = literal { return comparison == .notEqual ? .all : .nothing }
        guard case .number(let text) = literal else {
            throw RQLFault("@count is compared with a number")
        }
        guard let number = Int64(text) else {
            guard let fraction = Double(text), !fraction.isNaN else {
                throw RQLFault("@count is compared with a number")
            }
            return count(field, comparison, between: fraction)
        }
        return count(field, comparison, number)
    }

    /// A comparison with a number that no count is: what counts is the next below or above it.
    private func count(_ field: Field, _ comparison: RQLComparison, between number: Double) -> Filter {
        if let whole = Int64(exactly: number) { return count(field, comparison, whole) }
        let below = number < 0 ? -1 : Int64(exactly: number.rounded(.down)) ?? .max
        return switch comparison {
        case .equal: .nothing
        case .notEqual: .all
        case .less, .lessOrEqual: count(field, .lessOrEqual, below)
        case .greater, .greaterOrEqual: count(field, .greater, below)
        }
    }

    private func count(_ field: Field, _ comparison: RQLComparison, _ number: Int64) -> Filter {
        func atLeast(_ count: Int64) -> Filter {
            if count <= 0 { return .all }
            return .field(
                FieldPath(components: [field.name.text, String(count - 1)]),
                .exists(true)
            )
        }
        func exactly() -> Filter {
            guard number > 0 else { return number == 0 ? .nor([atLeast(1)]) : .nothing }
            guard let size = Int32(exactly: number) else { return .nothing }
            return .field(field.path, .size(Int(size)))
        }
        let next = number == .max ? number : number + 1
        return switch comparison {
        case .equal: exactly()
        case .notEqual: .nor([exactly()])
        case .greaterOrEqual: atLeast(number)
        case .greater: atLeast(next)
        case .less: .nor([atLeast(number)])
        case .lessOrEqual: .nor([atLeast(next)])
        }
    }
}
