import BSON
import Errors

/// Reads the operand of `$pull`.
enum PullParser {
    /// Operators and patterns test elements, another document is a query on object elements, and
    /// any other value removes what equals it.
    ///
    /// - Throws: ``ServiceError`` with the code of a bad filter.
    static func condition(
        _ value: BSONValue,
        path: String,
        _ budget: ParseBudget
    ) throws(ServiceError) -> PullCondition {
        switch value {
        case .regex(let literal):
            return .tests([.matches(try PatternParser.pattern(literal, budget))])
        case .document(let document):
            let parsing = FilterParsing(isQuery: false, stage: (true, true), budget: budget)
            if document.isOperatorDocument, let key = document.firstKey, !FieldTestParser.isLogical(key) {
                let parser = FieldTestParser(
                    parsing: parsing,
                    path: FieldPath(components: path.pathComponents)
                )
                return .tests(try parser.tests(document))
            }
            return .document(try parsing.filter(document))
        default:
            return .equal(value)
        }
    }
}
