import BSON
import Errors

/// Reads the members that every operation may have: `let`, `maxTimeMS`, `collation`, `hint`.
///
/// `comment` is anything, and says nothing. Source: `reference/mql.md` §4.
enum OptionParser {
    /// Reads the options; the variables of `let` are known to what is parsed with this budget afterwards.
    ///
    /// - Throws: ``ServiceError`` with MongoDB's code: 14 for a member of another type, 2 for a number that cannot be
    ///   one of milliseconds, 40414 and 40415 for a collation, 4890500 for a `let` that looks at a field.
    static func parse(
        _ arguments: OperationArguments,
        _ budget: ParseBudget
    ) throws(ServiceError) -> OperationOptions {
        let hint = try parseHint(arguments.value("hint"))
        let timeLimit = try parseTimeLimit(arguments.value("maxTimeMS"))
        let collation = try arguments.value("collation").flatMap { value throws(ServiceError) in
            try CollationParser.parse(value)
        }
        budget.collation = collation
        budget.place = "let"
        let variables = try parseVariables(arguments.value("let"), budget)
        budget.place = "filter"
        return OperationOptions(variables: variables, timeLimit: timeLimit, collation: collation, hint: hint)
    }

    private static func parseVariables(
        _ value: BSONValue?,
        _ budget: ParseBudget
    ) throws(ServiceError) -> [NamedExpression] {
        guard let value else { return [] }
        guard case .document(let names) = value else { throw mismatch("let", value, "object") }
        try budget.checkFields(names.count)
        var variables: [NamedExpression] = []
        for field in names {
            if field.key == "CURRENT" {
                throw .mongo(.failedToParse, "'CURRENT' is not a name for a variable here")
            }
            if ["NOW", "CLUSTER_TIME", "JS_SCOPE", "IS_MR", "USER_ROLES"].contains(field.key) {
                throw .mongo(4_738_901, "Attempt to set internal constant: \(field.key)")
            }
            try ExpressionPath.checkVariable(field.key)
            let outer = budget.variables
            budget.variables.insert(ExpressionScope.clusterTime)
            let expression = try ExpressionParser.parseChecked(field.value, budget)
            budget.variables = outer
            try checkConstants(expression.mentions)
            if expression.readsDocument {
                throw .mongo(
                    4_890_500,
                    "Command let Expression tried to access a field, but this is not allowed because Command let expressions run before the query examines any documents."
                )
            }
            variables.append(NamedExpression(name: field.key, expression: expression))
            budget.variables.insert(field.key)
        }
        return variables
    }

    /// Refuses what tells the time where MongoDB knows of none: in `let` and in the filter of `distinct`.
    ///
    /// - Throws: ``ServiceError`` with server code 51144.
    static func checkConstants(_ mentions: (Set<String>) -> Bool) throws(ServiceError) {
        for name in ["NOW", ExpressionScope.clusterTime] where mentions([name]) {
            throw .mongo(51144, "Builtin variable '$$\(name)' is not available")
        }
    }

    private static func parseTimeLimit(_ value: BSONValue?) throws(ServiceError) -> Int? {
        guard let value else { return nil }
        guard let number = NumericValue(value) else { throw mismatch("maxTimeMS", value, "number") }
        guard let whole = number.exactInt64 else {
            throw .mongo(.failedToParse, "Expected an integer: maxTimeMS")
        }
        guard let limit = Int32(exactly: whole), limit >= 0 else {
            throw .mongo(.badValue, "maxTimeMS \(String(whole)) is out of range")
        }
        return limit == 0 ? nil : Int(limit)
    }

    /// A name or a key pattern; which index serves a request is PostgreSQL's choice.
    private static func parseHint(_ value: BSONValue?) throws(ServiceError) -> IndexHint? {
        switch value {
        case nil: return nil
        case .string(let name)?: return .name(name)
        case .document(let keys)?:
            if let direction = keys["$natural"] {
                guard keys.count == 1, direction.isNumber, [1, -1].contains(direction.exactInt64) else {
                    throw .mongo(.badValue, "$natural hint must be by itself, and 1 or -1")
                }
            }
            return keys.isEmpty ? nil : .keys(keys)
        case let other?:
            throw .mongo(
                .failedToParse,
                "hint must be specified as a string or an object, found \(known: TypeName.of(other))"
            )
        }
    }

    private static func mismatch(_ name: String, _ value: BSONValue, _ expected: String) -> ServiceError {
        .mongo(
            .typeMismatch,
            "BSON field '\(name)' is the wrong type '\(known: TypeName.of(value))', expected type '\(expected)'"
        )
    }
}

extension AggregationExpression {
    /// Whether its value depends on a document.
    fileprivate var readsDocument: Bool {
        switch self {
        case .path: true
        case .variable("ROOT", _), .variable("CURRENT", _): true
        default: children.contains(where: \.readsDocument)
        }
    }
}
