import BSON
import Errors

/// Reads the operand of `$graphLookup`.
enum GraphLookupParser {
    /// Reads `{from, startWith, connectFromField, connectToField, as, maxDepth, depthField,
    /// restrictSearchWithMatch}`.
    ///
    /// - Throws: ``ServiceError`` with server code 9, 73, 40100 to 40105, 40185 or 40327.
    static func parse(_ operand: BSONValue, _ budget: ParseBudget) throws(ServiceError)
        -> GraphLookupArguments
    {
        guard case .document(let document) = operand else {
            throw .mongo(
                .failedToParse,
                "the $graphLookup stage specification must be an object, but found \(known: TypeName.of(operand))"
            )
        }
        var from: String?
        var start: AggregationExpression?
        var paths: [String: FieldPath] = [:]
        var depth: Int64?
        var restriction = Filter.all
        for field in document {
            switch field.key {
            case "startWith": start = try ExpressionParser.parse(field.value, budget)
            case "maxDepth":
                guard let number = NumericValue(field.value) else {
                    throw .mongo(
                        40100,
                        "maxDepth requires numeric argument, found \(known: TypeName.of(field.value))"
                    )
                }
                guard let whole = number.exactInt64 else {
                    throw .mongo(40102, "maxDepth could not be represented as a long long")
                }
                guard whole >= 0 else {
                    throw .mongo(40101, "maxDepth requires a nonnegative argument, found: \(String(whole))")
                }
                depth = whole
            case "restrictSearchWithMatch":
                guard case .document(let filter) = field.value else {
                    throw .mongo(
                        40185,
                        "restrictSearchWithMatch must be an object, found \(known: TypeName.of(field.value))"
                    )
                }
                restriction = try FilterParser.parse(filter, budget)
            case "from", "as", "connectFromField", "connectToField", "depthField":
                guard case .string(let text) = field.value else {
                    throw .mongo(
                        field.key == "from" ? 9 : 40103,
                        "expected string as argument for \(field.key), found: \(known: TypeName.of(field.value))"
                    )
                }
                if field.key == "from" {
                    from = try LookupParser.checkedSource(text)
                } else {
                    paths[field.key] = FieldPath(components: try ExpressionPath.components(text))
                }
            default: throw .mongo(40104, "Unknown argument to $graphLookup: \(field.key)")
            }
        }
        guard let from else {
            throw .mongo(.failedToParse, "missing 'from' option to $graphLookup stage specification")
        }
        guard let start, let target = paths["as"], let connectFrom = paths["connectFromField"],
            let connectTo = paths["connectToField"]
        else {
            throw .mongo(
                40105,
                "$graphLookup requires 'from', 'as', 'startWith', 'connectFromField', and 'connectToField' to be specified."
            )
        }
        return GraphLookupArguments(
            from: from,
            start: start,
            connectFrom: connectFrom,
            connectTo: connectTo,
            target: target,
            maximumDepth: depth,
            depthField: paths["depthField"],
            restriction: restriction
        )
    }
}
