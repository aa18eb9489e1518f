import BSON
import Schemas

extension RuleExpressionParser {
    /// What stands to the right of a field or an expansion.
    mutating func test(_ value: BSONValue, _ path: String, _ depth: Int) -> RuleTest? {
        guard depth < Self.depthLimit else {
            error(path, "expressions nest at most \(Self.depthLimit) levels")
            return nil
        }
        guard let document = value.document, let first = document.firstKey,
            document.keys.contains(where: RuleOperator.isOperator)
        else {
            return operand(value, path, depth).map { .equal($0) }
        }
        if document.count == 1, let only = RuleOperator(key: first), only.givesValue {
            return operand(value, path, depth).map { .equal($0) }
        }
        var tests: [RuleTest] = []
        var isSound = true
        for field in document {
            if let test = operatorTest(field, jsonPath(path, field.key), depth) {
                tests.append(test)
            } else {
                isSound = false
            }
        }
        guard isSound else { return nil }
        return tests.count == 1 ? tests[0] : .all(tests)
    }

    private mutating func operatorTest(_ field: BSONDocument.Field, _ path: String, _ depth: Int) -> RuleTest?
    {
        guard RuleOperator.isOperator(field.key) else {
            error(path, "the field '\(field.key)' stands among operators")
            return nil
        }
        guard let name = RuleOperator(key: field.key) else {
            error(path, "operator '\(field.key)' is not available in rules")
            return nil
        }
        let value = field.value
        switch name {
        case .eq: return operand(value, path, depth).map { .equal($0) }
        case .ne: return operand(value, path, depth).map { .not(.equal($0)) }
        case .gt: return operand(value, path, depth).map { .greater($0) }
        case .gte: return operand(value, path, depth).map { .greaterOrEqual($0) }
        case .lt: return operand(value, path, depth).map { .less($0) }
        case .lte: return operand(value, path, depth).map { .lessOrEqual($0) }
        case .in: return list(value, path, depth).map { .inside($0) }
        case .nin: return list(value, path, depth).map { .not(.inside($0)) }
        case .all: return list(value, path, depth).map { .allOf($0) }
        case .exists: return presence(value, path)
        case .and: return group(value, path, depth).map { .all($0) }
        case .or: return group(value, path, depth).map { .any($0) }
        case .nor: return group(value, path, depth).map { .not(.any($0)) }
        case .not:
            guard value.document?.firstKey.map(RuleOperator.isOperator) == true else {
                error(path, "must be an object of operators")
                return nil
            }
            return test(value, path, depth + 1).map { .not($0) }
        case .stringToOid, .oidToString, .stringToUuid, .uuidToString, .function:
            error(path, "'\(field.key)' cannot stand beside other operators")
        }
        return nil
    }

    private mutating func group(_ value: BSONValue, _ path: String, _ depth: Int) -> [RuleTest]? {
        guard let elements = value.array, !elements.isEmpty else {
            error(path, "must be a non-empty array")
            return nil
        }
        var tests: [RuleTest] = []
        for (index, element) in elements.enumerated() {
            let here = "\(path)[\(index)]"
            guard element.document?.firstKey.map(RuleOperator.isOperator) == true else {
                error(here, "must be an object of operators")
                continue
            }
            if let test = test(element, here, depth + 1) { tests.append(test) }
        }
        return tests.count == elements.count ? tests : nil
    }

    private mutating func presence(_ value: BSONValue, _ path: String) -> RuleTest? {
        switch value {
        case .bool(let wanted): return .exists(wanted)
        case .string("%%true"): return .exists(true)
        case .string("%%false"): return .exists(false)
        case .int32, .int64, .double, .decimal128: return .exists(value.isTruthy)
        default:
            error(path, "must be a boolean")
            return nil
        }
    }

    /// The operand of `$in`, `$nin` and `$all`: an array, or an expansion or a function that gives one.
    private mutating func list(_ value: BSONValue, _ path: String, _ depth: Int) -> RuleOperand? {
        if case .array = value { return operand(value, path, depth) }
        if let document = value.document, document.count == 1,
            document.firstKey.flatMap(RuleOperator.init(key:)) == .function
        {
            return operand(value, path, depth)
        }
        if let text = value.string, text.hasPrefix("%%") { return operand(value, path, depth) }
        error(path, "must be an array, or an expansion that gives one")
        return nil
    }

    /// A value, with the expansions and conversions in it.
    ///
    /// Documents hold operators only where `allowsOperators` says so: in the query of a filter.
    mutating func operand(
        _ value: BSONValue,
        _ path: String,
        _ depth: Int,
        allowsOperators: Bool = false
    ) -> RuleOperand? {
        guard depth < Self.depthLimit else {
            error(path, "values nest at most \(Self.depthLimit) levels")
            return nil
        }
        switch value {
        case .string(let text) where text.hasPrefix("%%"):
            return expansion(text, path).map { .expansion($0) }
        case .array(let elements):
            return array(elements, path, depth, allowsOperators)
        case .document(let document):
            if document.count == 1, let field = document.fields.first,
                let conversion = RuleOperator(key: field.key)?.conversion
            {
                return converted(conversion, field.value, jsonPath(path, field.key), depth)
            }
            if document.count == 1, let field = document.fields.first,
                RuleOperator(key: field.key) == .function
            {
                return function(field.value, jsonPath(path, field.key), depth + 1)
            }
            return self.document(document, path, depth, allowsOperators)
        default:
            return .literal(value)
        }
    }

    /// The call of a `%function`.
    mutating func function(_ value: BSONValue, _ path: String, _ depth: Int) -> RuleOperand? {
        guard let document = value.document, let name = document["name"]?.string, !name.isEmpty else {
            error(path, "must be an object with the name of a function and its arguments")
            return nil
        }
        for key in document.keys where key != "name" && key != "arguments" {
            warn(jsonPath(path, key), "is no part of a function's call")
        }
        let here = jsonPath(path, "arguments")
        var arguments: [RuleOperand] = []
        switch document["arguments"] {
        case nil, .null?: break
        case .array(let elements)?:
            for (index, element) in elements.enumerated() {
                guard let argument = operand(element, "\(here)[\(index)]", depth + 1) else { continue }
                arguments.append(argument)
            }
            guard arguments.count == elements.count else { return nil }
        default:
            error(here, "must be an array")
            return nil
        }
        return .function(FunctionOperand(name: name, arguments: arguments))
    }

    private mutating func converted(
        _ conversion: Conversion,
        _ value: BSONValue,
        _ path: String,
        _ depth: Int
    ) -> RuleOperand? {
        if value.document != nil || value.array != nil {
            error(path, "takes a value or an expansion, no operators")
            return nil
        }
        guard let inner = operand(value, path, depth + 1) else { return nil }
        guard case .literal(let literal) = inner else { return .converted(conversion, inner) }
        if let result = conversion.apply(literal) { return .literal(result) }
        // Not an error: the comparison is false at run time, as it was there.
        warn(path, "the value cannot be converted, so the comparison is never true")
        return .converted(conversion, inner)
    }

    private mutating func array(
        _ elements: [BSONValue],
        _ path: String,
        _ depth: Int,
        _ allowsOperators: Bool
    ) -> RuleOperand? {
        var operands: [RuleOperand] = []
        for (index, element) in elements.enumerated() {
            guard
                let operand = operand(
                    element,
                    "\(path)[\(index)]",
                    depth + 1,
                    allowsOperators: allowsOperators
                )
            else { continue }
            operands.append(operand)
        }
        guard operands.count == elements.count else { return nil }
        var literals: [BSONValue] = []
        for case .literal(let value) in operands { literals.append(value) }
        return literals.count == operands.count ? .literal(.array(literals)) : .array(operands)
    }

    private mutating func document(
        _ document: BSONDocument,
        _ path: String,
        _ depth: Int,
        _ allowsOperators: Bool
    ) -> RuleOperand? {
        var members: [RuleOperand.Member] = []
        for field in document {
            let here = jsonPath(path, field.key)
            guard let key = key(field.key, here, allowsOperators) else { continue }
            guard let operand = operand(field.value, here, depth + 1, allowsOperators: allowsOperators) else {
                continue
            }
            members.append(RuleOperand.Member(key: key, value: operand))
        }
        guard members.count == document.count else { return nil }
        var literal = BSONDocument()
        for member in members {
            guard case .literal(let value) = member.value else { return .document(members) }
            literal.append(member.key, value)
        }
        return .literal(.document(literal))
    }

    private mutating func key(_ key: String, _ path: String, _ allowsOperators: Bool) -> String? {
        if key.hasPrefix("%%") {
            error(path, "the expansion '\(key)' cannot be a field name here")
            return nil
        }
        guard RuleOperator.isOperator(key) else { return key }
        if RuleOperator(key: key) == .function {
            error(path, "'\(key)' cannot stand beside other fields")
            return nil
        }
        guard allowsOperators else {
            error(path, "operator '\(key)' cannot stand in a value")
            return nil
        }
        return key.hasPrefix("%") ? "$" + key.dropFirst() : key
    }
}
