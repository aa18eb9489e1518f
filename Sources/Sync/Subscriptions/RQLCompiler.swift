import BSON
import MQL

/// Turns a query's syntax into a filter on the documents of a class, with the client's meaning.
///
/// Source: `sync-semantics.md` §2.3.
struct RQLCompiler {
    let schema: SyncSchema
    let type: SyncClass
    /// Fields that a query may name; nil for all that can be one.
    let queryable: Set<ByteText>?
    /// The fields that it names.
    private(set) var fields: Set<ByteText> = []

    init(schema: SyncSchema, type: SyncClass, queryable: Set<ByteText>?) {
        self.schema = schema
        self.type = type
        self.queryable = queryable
    }

    /// A field that a query names.
    struct Field {
        var name: ByteText
        var type: SyncType
        var isArray: Bool

        var path: FieldPath { FieldPath(components: [name.text]) }
    }

    /// The filter of a condition.
    mutating func filter(_ syntax: RQLSyntax) throws(RQLFault) -> Filter {
        switch syntax {
        case .constant(let isTrue): return isTrue ? .all : .nothing
        case .and(let members): return .and(try filters(members))
        case .or(let members): return .or(try filters(members))
        case .not(let member): return .nor([try filter(member)])
        case .between(let operand, let bounds): return try between(operand, bounds)
        case .inside(let left, let right, let ignoresCase): return try inside(left, right, ignoresCase)
        case .text(let left, let test, let right, let ignoresCase):
            return try text(left, test, right, ignoresCase)
        case .compare(let left, let comparison, let right, let ignoresCase):
            return try compare(left, comparison, right, ignoresCase)
        }
    }

    private mutating func filters(_ members: [RQLSyntax]) throws(RQLFault) -> [Filter] {
        var filters: [Filter] = []
        for member in members { filters.append(try filter(member)) }
        return filters
    }

    private mutating func text(
        _ left: RQLOperand,
        _ test: RQLTextTest,
        _ right: RQLOperand,
        _ ignoresCase: Bool
    ) throws(RQLFault) -> Filter {
        guard case .literal(let literal) = right else { throw RQLFault("\(test.rawValue) needs a string") }
        let (field, quantifier) = try field(left)
        guard field.type == .string || field.type == .mixed else {
            throw mismatch(field, test.rawValue, literal.typeName)
        }
        switch literal {
        case .string(let text):
            let pattern = try RQLPattern.pattern(test, text, ignoresCase: ignoresCase)
            return apply(.matches(pattern), field, quantifier)
        case .null:
            // To the client every text has null at both ends, and nothing but null is like null.
            return apply(test == .like ? .compare(.equal, .null) : Self.always, field, quantifier)
        default: throw RQLFault("\(test.rawValue) needs a string")
        }
    }

    private mutating func compare(
        _ left: RQLOperand,
        _ comparison: RQLComparison,
        _ right: RQLOperand,
        _ ignoresCase: Bool
    ) throws(RQLFault) -> Filter {
        switch (left, right) {
        case (.property, .literal(let literal)): return try compare(left, comparison, literal, ignoresCase)
        case (.literal(let literal), .property):
            return try compare(right, comparison.flipped, literal, ignoresCase)
        case (.property, .list(let literals, let quantifier)):
            return try compareList(left, comparison, literals, quantifier, ignoresCase)
        case (.list(let literals, let quantifier), .property):
            return try compareList(right, comparison.flipped, literals, quantifier, ignoresCase)
        case (.property, .property): throw RQLFault("two properties cannot be compared")
        default: throw RQLFault("a comparison needs a property")
        }
    }

    /// A comparison with some, all or none of the values of a list.
    private mutating func compareList(
        _ operand: RQLOperand,
        _ comparison: RQLComparison,
        _ literals: [RQLLiteral],
        _ quantifier: RQLQuantifier?,
        _ ignoresCase: Bool
    ) throws(RQLFault) -> Filter {
        if isArray(operand) {
            // Without a word for how many, the client compares two lists place by place.
            guard case .property(_, let own, false) = operand, own != nil || quantifier == .any,
                comparison == .equal, quantifier ?? .any == .any
            else { throw RQLFault("two lists cannot be compared") }
            return try inside(operand, .list(literals, quantifier: .any), ignoresCase)
        }
        if comparison == .equal, quantifier ?? .any == .any, !isCount(operand) {
            return try inside(operand, .list(literals, quantifier: nil), ignoresCase)
        }
        var members: [Filter] = []
        for literal in literals { members.append(try compare(operand, comparison, literal, ignoresCase)) }
        return switch quantifier ?? .any {
        case .any: .or(members)
        case .all: .and(members)
        case .none: .nor(members)
        }
    }

    private func isCount(_ operand: RQLOperand) -> Bool {
        if case .property(_, _, true) = operand { true } else { false }
    }

    private func isArray(_ operand: RQLOperand) -> Bool {
        guard case .property(let path, _, false) = operand, path.count == 1,
            let property = type.property(ByteText(path[0]))
        else { return false }
        return property.collection == .list || property.collection == .set
    }

    private mutating func compare(
        _ operand: RQLOperand,
        _ comparison: RQLComparison,
        _ literal: RQLLiteral,
        _ ignoresCase: Bool
    ) throws(RQLFault) -> Filter {
        if case .property(let path, let quantifier, true) = operand {
            return try count(path, quantifier, comparison, literal)
        }
        let (field, quantifier) = try field(operand)
        return apply(try test(field, comparison, literal, ignoresCase), field, quantifier)
    }

    private mutating func between(_ operand: RQLOperand, _ bounds: [RQLLiteral]) throws(RQLFault) -> Filter {
        let (field, quantifier) = try field(operand)
        let tests = [
            try test(field, .greaterOrEqual, bounds[0], false),
            try test(field, .lessOrEqual, bounds[1], false),
        ]
        guard field.isArray else { return .and(tests.map { .field(field.path, $0) }) }
        guard quantifier == .all else { throw RQLFault("BETWEEN on a list needs ALL") }
        return .nor([.field(field.path, .elementMatch(.value([.not(tests)])))])
    }

    private mutating func inside(_ left: RQLOperand, _ right: RQLOperand, _ ignoresCase: Bool)
        throws(RQLFault)
        -> Filter
    {
        switch (left, right) {
        case (.literal(let literal), .property(_, _, false)):
            let (field, quantifier) = try field(right)
            guard field.isArray else {
                throw RQLFault("what follows IN must be a list, and \(quoted(field.name)) is none")
            }
            return apply(try test(field, .equal, literal, ignoresCase), field, quantifier)
        case (.property(_, _, false), .list(let literals, let listQuantifier)):
            guard listQuantifier ?? .any == .any else {
                throw RQLFault("IN takes a list without ALL or NONE")
            }
            let (field, quantifier) = try field(left)
            if field.isArray, quantifier == nil, listQuantifier == nil {
                throw RQLFault("two lists cannot be compared")
            }
            var members: [FilterMember] = []
            for literal in literals {
                switch try test(field, .equal, literal, ignoresCase) {
                case .compare(.equal, let value): members.append(.value(value))
                case .matches(let pattern): members.append(.pattern(pattern))
                // A time between two milliseconds is in no document.
                default: break
                }
            }
            return apply(.inside(members), field, quantifier)
        case (.list, .property): throw RQLFault("two lists cannot be compared")
        default: throw RQLFault("IN needs a property and a list of values")
        }
    }

    // MARK: Fields

    /// What a path names, when the app's configuration lets it be asked for.
    private mutating func field(_ operand: RQLOperand) throws(RQLFault) -> (Field, RQLQuantifier?) {
        guard case .property(let path, let quantifier, let isCount) = operand else {
            throw RQLFault("a condition needs a property")
        }
        if isCount { throw RQLFault("@count stands in comparisons with a number only") }
        let field = try field(path)
        if quantifier != nil, !field.isArray {
            throw RQLFault("ANY, ALL and NONE need a list, and \(quoted(field.name)) is none")
        }
        return (field, quantifier)
    }

    mutating func field(_ path: [String]) throws(RQLFault) -> Field {
        let name = ByteText(path[0])
        let notQueryable = RQLFault("key \"\(path.joined(separator: "."))\" is not a queryable field")
        guard path.count == 1 else { throw notQueryable }
        if name.text == "_id", let key = type.keyType {
            fields.insert(name)
            return Field(name: name, type: key, isArray: false)
        }
        guard let property = type.property(name), queryable?.contains(name) ?? true else {
            throw notQueryable
        }
        if case .embedded = property.type { throw notQueryable }
        if property.collection == .dictionary { throw notQueryable }
        fields.insert(name)
        return Field(name: name, type: property.type, isArray: property.collection != .single)
    }

    func mismatch(_ field: Field, _ operation: String, _ found: String) -> RQLFault {
        RQLFault(
            "\(operation) does not compare \(field.type.description) \(quoted(field.name)) with \(found)"
        )
    }

    /// The test on the field or on its elements.
    private func apply(_ test: FieldTest, _ field: Field, _ quantifier: RQLQuantifier?) -> Filter {
        guard field.isArray else { return .field(field.path, test) }
        func some(_ test: FieldTest) -> Filter {
            // A comparison looks into an array by itself; null would also be a missing one.
            if case .compare(_, let value) = test, !value.isNull { return .field(field.path, test) }
            return .field(field.path, .elementMatch(.value([test])))
        }
        return switch quantifier ?? .any {
        case .any: some(test)
        case .none: .nor([some(test)])
        case .all: .nor([.field(field.path, .elementMatch(.value([.not([test])])))])
        }
    }
}
