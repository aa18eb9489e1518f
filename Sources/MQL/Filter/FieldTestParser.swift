import BSON
import Errors

/// Turns an operator document such as `{$gt: 1, $lt: 5}` into the tests on its path.
struct FieldTestParser {
    /// Operators below a field that exist in MongoDB and are not served.
    private static let unserved: Set<String> = [
        "$geoWithin", "$within", "$geoIntersects", "$near", "$nearSphere", "$geoNear",
    ]

    let parsing: FilterParsing
    /// For messages.
    let path: FieldPath

    /// Every operator of the document, in order; `$regex` and `$options` make one test.
    func tests(_ document: BSONDocument) throws(ServiceError) -> [FieldTest] {
        var tests: [FieldTest] = []
        try parsing.budget.addConditions(document.count)
        for field in document {
            switch field.key {
            case "$regex":
                let pattern = try PatternParser.pattern(
                    regexOperand: field.value,
                    in: document,
                    parsing.budget
                )
                tests.append(.matches(pattern))
            case "$options":
                if document["$regex"] == nil { throw .mongo(.badValue, "$options needs a $regex") }
            case "$comment":
                break
            default:
                tests.append(try test(field.key, field.value))
            }
        }
        return tests
    }

    private func test(_ name: String, _ value: BSONValue) throws(ServiceError) -> FieldTest {
        if let comparison = ComparisonOperator(rawValue: name) { return try compare(comparison, value) }
        if let bits = BitTest(rawValue: name) {
            if !parsing.allowsRestricted { throw RestrictedOperators.refusal(of: name) }
            if case .array(let members) = value { try parsing.budget.checkList(name, members.count) }
            return .bits(bits, positions: try BitMaskParser.positions(value, operatorName: name))
        }
        switch name {
        case "$ne":
            if case .regex = value { throw .mongo(.badValue, "Can't have regex as arg to $ne.") }
            return .not([try compare(.equal, value)])
        case "$in": return .inside(try members(name, value))
        case "$nin": return .not([.inside(try members(name, value))])
        case "$not": return .not(try negated(value))
        case "$exists": return .exists(value.isTruthy)
        case "$type": return .type(try TypeOperandParser.types(value))
        case "$mod":
            let (divisor, remainder) = try NumericOperandParser.modulo(value)
            return .modulo(divisor: divisor, remainder: remainder)
        case "$all": return try all(value)
        case "$elemMatch": return .elementMatch(try elementMatch(value))
        case "$size": return .size(try NumericOperandParser.size(value))
        default:
            if Self.unserved.contains(name) {
                if !parsing.allowsRestricted { throw RestrictedOperators.refusal(of: name) }
                if ["$near", "$nearSphere", "$geoNear"].contains(name), parsing.stage.isMatch {
                    throw .mongo(
                        5_626_500,
                        "$geoNear, $near, and $nearSphere are not allowed in this context, as these operators require sorting geospatial data. If you do not need sort, consider using $geoWithin instead."
                    )
                }
                throw .mongo(.badValue, "\(name) is not allowed in this context")
            }
            throw .mongo(.badValue, "unknown operator: \(name)")
        }
    }

    private func compare(_ comparison: ComparisonOperator, _ value: BSONValue) throws(ServiceError)
        -> FieldTest
    {
        switch value {
        case .regex where comparison != .equal:
            throw .mongo(.badValue, "Can't have RegEx as arg to predicate over field '\(path.dotted)'.")
        case .undefined:
            throw Self.undefined(path)
        default:
            return .compare(comparison, value)
        }
    }

    private func negated(_ value: BSONValue) throws(ServiceError) -> [FieldTest] {
        switch value {
        case .regex(let literal): return [.matches(try PatternParser.pattern(literal, parsing.budget))]
        case .document(let document):
            if document.isEmpty { throw .mongo(.badValue, "$not cannot be empty") }
            return try FieldTestParser(parsing: parsing.deeper(), path: path).tests(document)
        default: throw .mongo(.badValue, "$not needs a regex or a document")
        }
    }

    /// The members of `$in` and `$nin`.
    private func members(_ name: String, _ value: BSONValue) throws(ServiceError) -> [FilterMember] {
        guard case .array(let values) = value else { throw .mongo(.badValue, "\(name) needs an array") }
        try parsing.budget.checkList(name, values.count)
        var members: [FilterMember] = []
        members.reserveCapacity(values.count)
        for value in values {
            if case .document(let document) = value, document.isOperatorDocument {
                throw .mongo(.badValue, "cannot nest $ under \(name)")
            }
            members.append(try member(value))
        }
        return members
    }

    private func member(_ value: BSONValue) throws(ServiceError) -> FilterMember {
        switch value {
        // Each of these becomes a condition of its own in the database.
        case .regex, .document, .array: try parsing.budget.addConditions()
        default: break
        }
        switch value {
        case .regex(let literal): return .pattern(try PatternParser.pattern(literal, parsing.budget))
        case .undefined: throw Self.undefined(path)
        default: return .value(value)
        }
    }

    /// Nothing is compared to undefined; a function that passes on a member that is not there does so easily.
    static func undefined(_ path: FieldPath) -> ServiceError {
        .mongo(.badValue, "cannot compare to undefined: field '\(path.dotted)'")
    }

    private func all(_ value: BSONValue) throws(ServiceError) -> FieldTest {
        guard case .array(let values) = value else { throw .mongo(.badValue, "$all needs an array") }
        try parsing.budget.checkList("$all", values.count)
        if let first = values.first?.document, first.firstKey == "$elemMatch" {
            var matches: [ElementMatch] = []
            for value in values {
                guard case .document(let document) = value, document.firstKey == "$elemMatch",
                    let operand = document["$elemMatch"], document.count == 1
                else { throw .mongo(.badValue, "$all/$elemMatch has to be consistent") }
                matches.append(try elementMatch(operand))
            }
            return .allElements(matches)
        }
        var members: [FilterMember] = []
        members.reserveCapacity(values.count)
        for value in values {
            if case .document(let document) = value, document.isOperatorDocument {
                throw .mongo(.badValue, "no $ expressions in $all")
            }
            members.append(try member(value))
        }
        return .all(members)
    }

    /// The operand of `$elemMatch`: operators on the element, or conditions on its fields.
    func elementMatch(_ value: BSONValue) throws(ServiceError) -> ElementMatch {
        guard case .document(let document) = value else {
            throw .mongo(.badValue, "$elemMatch needs an Object")
        }
        var inner = try parsing.deeper()
        inner.isInsideElement = true
        if document.isOperatorDocument, let key = document.firstKey, !Self.isLogical(key) {
            return .value(try FieldTestParser(parsing: inner, path: path).tests(document))
        }
        return .document(try inner.filter(document))
    }

    /// Whether an operator belongs to whole documents rather than to one value.
    static func isLogical(_ name: String) -> Bool {
        ["$and", "$or", "$nor", "$expr", "$where", "$text", "$jsonSchema", "$comment", "$sampleRate"]
            .contains(name)
    }
}
