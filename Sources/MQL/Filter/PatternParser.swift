import BSON
import Errors

/// Checks regular expressions of filters, so that what comes out of it compiles.
enum PatternParser {
    /// A regex literal.
    static func pattern(
        _ literal: BSONRegularExpression,
        _ budget: ParseBudget
    ) throws(ServiceError) -> RegexPattern {
        try checked(literal.pattern, literal.options, budget)
    }

    /// `{$regex: …}`, with the `$options` that stand beside it.
    static func pattern(
        regexOperand value: BSONValue,
        in document: BSONDocument,
        _ budget: ParseBudget
    ) throws(ServiceError) -> RegexPattern {
        var options = ""
        if let operand = document["$options"] {
            guard case .string(let text) = operand else {
                throw .mongo(.badValue, "$options has to be a string")
            }
            options = text
        }
        switch value {
        case .string(let pattern): return try checked(pattern, options, budget)
        case .regex(let literal):
            if !literal.options.isEmpty, document["$options"] != nil {
                let keys = document.keys
                let optionsFirst =
                    (keys.firstIndex(of: "$options") ?? 0) < (keys.firstIndex(of: "$regex") ?? 0)
                throw .mongo(optionsFirst ? 51074 : 51075, "options set in both $regex and $options")
            }
            return try checked(
                literal.pattern,
                literal.options.isEmpty ? options : literal.options,
                budget
            )
        default: throw .mongo(.badValue, "$regex has to be a string")
        }
    }

    private static func checked(
        _ pattern: String,
        _ options: String,
        _ budget: ParseBudget
    ) throws(ServiceError) -> RegexPattern {
        try budget.checkPattern(pattern)
        _ = try RegexMatcher.compiled(pattern: pattern, options: options)
        return RegexPattern(pattern: pattern, options: options)
    }
}
