import BSON
import MQL

extension SchemaValidator {
    /// The keywords that look at one value alone.
    mutating func checkValue(_ value: BSONValue, _ node: SchemaNode, _ path: String) {
        if let types = node.types, !types.contains(where: { $0.accepts(value) }) {
            let names = types.map(\.rawValue).joined(separator: ", ")
            fail(path, .invalidType, "must be of type \(names), is \(value.type.alias)")
        }
        if let members = node.enumeration, !members.contains(where: { BSONOrdering.equal($0, value) }) {
            fail(path, .enum, "is none of the allowed values")
        }
        switch value {
        case .double, .int32, .int64, .decimal128: checkNumber(value, node, path)
        case .string(let text): checkText(text, node, path)
        case .array(let elements): checkCount(elements, node, path)
        default: break
        }
        checkCombinations(value, node, path)
    }

    private mutating func checkNumber(_ value: BSONValue, _ node: SchemaNode, _ path: String) {
        if let limit = node.minimum {
            let order = BSONOrdering.compare(value, limit)
            if order < 0 || isNaN(value) {
                fail(path, .numberGreaterOrEqual, "must be at least \(ExtendedJSON.relaxed(limit))")
            } else if order == 0, node.exclusiveMinimum {
                fail(path, .numberGreater, "must be greater than \(ExtendedJSON.relaxed(limit))")
            }
        }
        if let limit = node.maximum {
            let order = BSONOrdering.compare(value, limit)
            if order > 0 || isNaN(value) {
                fail(path, .numberLessOrEqual, "must be at most \(ExtendedJSON.relaxed(limit))")
            } else if order == 0, node.exclusiveMaximum {
                fail(path, .numberLess, "must be less than \(ExtendedJSON.relaxed(limit))")
            }
        }
        if let divisor = node.multipleOf, !isMultiple(value, of: divisor) {
            fail(path, .multipleOf, "must be a multiple of \(ExtendedJSON.relaxed(divisor))")
        }
    }

    /// NaN sorts below all numbers and so would pass every upper bound.
    private func isNaN(_ value: BSONValue) -> Bool {
        value.doubleValue?.isNaN ?? false
    }

    /// Whole numbers exactly; others up to the rounding of a double, so that 0.3 is a multiple of 0.1.
    private func isMultiple(_ value: BSONValue, of divisor: BSONValue) -> Bool {
        if let number = value.exactInt64, let step = divisor.exactInt64 {
            return step > 0 && number % step == 0
        }
        guard let number = value.doubleValue, let step = divisor.doubleValue, number.isFinite, step > 0 else {
            return false
        }
        let quotient = number / step
        return quotient.isFinite
            && (quotient - quotient.rounded()).magnitude <= 1e-9 * max(1, quotient.magnitude * 1e-6)
    }

    private mutating func checkText(_ text: String, _ node: SchemaNode, _ path: String) {
        if node.minLength != nil || node.maxLength != nil {
            let length = text.unicodeScalars.count
            if let least = node.minLength, length < least {
                fail(path, .stringMinLength, "must have at least \(least) characters")
            }
            if let most = node.maxLength, length > most {
                fail(path, .stringMaxLength, "must have at most \(most) characters")
            }
        }
        if let pattern = node.pattern {
            switch SchemaPattern.isFound(pattern, in: text) {
            case true?: break
            case false?: fail(path, .pattern, "does not match the pattern")
            case nil: fail(path, .internal, "the pattern could not be decided")
            }
        }
    }

    private mutating func checkCount(_ elements: [BSONValue], _ node: SchemaNode, _ path: String) {
        if let least = node.minItems, elements.count < least {
            fail(path, .arrayMinItems, "must have at least \(least) items")
        }
        if let most = node.maxItems, elements.count > most {
            fail(path, .arrayMaxItems, "must have at most \(most) items")
        }
        if node.uniqueItems, Set(elements.map { BSONKey($0) }).count != elements.count {
            fail(path, .unique, "must not hold the same item twice")
        }
    }

    private mutating func checkCombinations(_ value: BSONValue, _ node: SchemaNode, _ path: String) {
        guard !(node.allOf.isEmpty && node.anyOf.isEmpty && node.oneOf.isEmpty && node.not.isEmpty) else {
            return
        }
        if !node.allOf.allSatisfy({ fits(value, $0) }) {
            fail(path, .numberAllOf, "does not fit all of 'allOf'")
        }
        if !node.anyOf.isEmpty, !node.anyOf.contains(where: { fits(value, $0) }) {
            fail(path, .numberAnyOf, "fits none of 'anyOf'")
        }
        if !node.oneOf.isEmpty, node.oneOf.count(where: { fits(value, $0) }) != 1 {
            fail(path, .numberOneOf, "does not fit exactly one of 'oneOf'")
        }
        if node.not.contains(where: { fits(value, $0) }) {
            fail(path, .numberNot, "fits 'not'")
        }
    }

    private func fits(_ value: BSONValue, _ node: SchemaNode) -> Bool {
        var validator = SchemaValidator(options: options, checksStructure: true, condition: nil)
        validator.check(value, nil, node, "")
        return validator.violations.isEmpty
    }
}
