import BSON
import Errors

/// The numbers that `$median` and `$percentile` have met, as doubles.
///
/// Every number is kept, so that the answer is one of them and exact, where MongoDB's `approximate`
/// promises no more than nearness; the memory bound of the stage holds for them.
struct Percentiles {
    private var numbers: [Double] = []

    /// Adds a number; what is none, or NaN, is passed over.
    ///
    /// - Returns: Whether it was kept.
    mutating func add(_ value: BSONValue?) -> Bool {
        guard let number = NumericValue(value)?.doubleValue, !number.isNaN else { return false }
        numbers.append(number)
        return true
    }

    /// The number below or at which this part of all numbers lies, for each part from 0 to 1; nulls when there is none.
    func values(at parts: [Double]) -> [BSONValue] {
        let sorted = numbers.sorted()
        guard !sorted.isEmpty else { return parts.map { _ in .null } }
        return parts.map { part in
            let rank = (part * Double(sorted.count)).rounded(.up) - 1
            return .double(sorted[min(max(Int(rank), 0), sorted.count - 1)])
        }
    }

    /// What an operator or accumulator answers: one number for `$median`, an array for `$percentile`.
    func result(at parts: [Double], isMedian: Bool) -> BSONValue {
        let values = values(at: parts)
        return isMedian ? values.first ?? .null : .array(values)
    }
}

/// The operand of `$median` and `$percentile`: `{input, method}` and `p` for the latter.
struct PercentileOperand {
    let input: BSONValue
    /// From 0 to 1; one half for `$median`.
    let parts: [Double]

    /// Reads the operand.
    ///
    /// - Throws: ``ServiceError`` with server code 7436100 or 7429703 for what is no object, 40414, 40415, 14 or 2
    ///   for its members, 7750301 to 7750303 for `p`.
    init(_ name: String, _ operand: BSONValue) throws(ServiceError) {
        let isMedian = name == "$median"
        guard case .document(let document) = operand else {
            throw .mongo(
                isMedian ? 7_436_100 : 7_429_703,
                "specification must be an object; found \(name): \(MessageText.of(operand))"
            )
        }
        let members = isMedian ? ["input", "method"] : ["input", "p", "method"]
        for key in document.keys where !members.contains(key) {
            throw .mongo(40415, "BSON field '\(name).\(key)' is an unknown field.")
        }
        for member in members where document[member] == nil {
            throw .mongo(40414, "BSON field '\(name).\(member)' is missing but a required field")
        }
        switch document["method"] {
        case .string("approximate"): break
        case .string:
            throw .mongo(.badValue, "Currently only 'approximate' can be used as percentile 'method'.")
        case let other:
            throw .mongo(
                .typeMismatch,
                "BSON field '\(name).method' is the wrong type '\(known: TypeName.of(other))', expected type 'string'"
            )
        }
        input = document["input"] ?? .null
        parts = isMedian ? [0.5] : try Self.parts(document["p"] ?? .null)
    }

    /// `p`: an array of numbers, perhaps from an expression without fields.
    private static func parts(_ value: BSONValue) throws(ServiceError) -> [Double] {
        let expression = try ExpressionParser.parse(value)
        guard expression.isConstant,
            case .array(let elements) = try expression.evaluate(BSONDocument(), EvaluationContext(now: 0)),
            !elements.isEmpty
        else {
            throw .mongo(
                7_750_301,
                "The $percentile 'p' field must be an array of constant values in the range of [0.0, 1.0]"
            )
        }
        var parts: [Double] = []
        for element in elements {
            guard let part = NumericValue(element)?.doubleValue else {
                throw .mongo(
                    7_750_302,
                    "The $percentile 'p' field must be an array of numbers, but found: \(MessageText.of(element))"
                )
            }
            guard (0...1).contains(part) else {
                throw .mongo(
                    7_750_303,
                    "The $percentile 'p' field must be an array of numbers in the range [0.0, 1.0], but found: \(MessageText.of(element))"
                )
            }
            parts.append(part)
        }
        return parts
    }
}
