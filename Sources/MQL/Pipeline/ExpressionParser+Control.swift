import BSON
import Errors

/// Expressions that bind variables or choose.
extension ExpressionParser {
    /// Reads `{$let: {vars: {a: …}, in: …}}`.
    static func parseLet(_ operand: BSONValue, _ scope: ExpressionScope) throws(ServiceError)
        -> AggregationExpression
    {
        guard case .document(let document) = operand else {
            throw .mongo(16874, "$let only supports an object as its argument")
        }
        for field in document where field.key != "vars" && field.key != "in" {
            throw .mongo(16875, "Unrecognized parameter to $let: \(field.key)")
        }
        guard let variables = document["vars"] else {
            throw .mongo(16876, "Missing 'vars' parameter to $let")
        }
        guard let body = document["in"] else { throw .mongo(16877, "Missing 'in' parameter to $let") }
        guard case .document(let bindings) = variables else {
            if case .array = variables {
                throw .mongo(.failedToParse, "invalid parameter: expected an object (vars)")
            }
            throw .mongo(10065, "invalid parameter: expected an object (vars)")
        }
        var bound: [NamedExpression] = []
        for field in bindings {
            try ExpressionPath.checkVariable(field.key)
            bound.append(NamedExpression(name: field.key, expression: try parse(field.value, scope)))
        }
        return .bind(bound, in: try parse(body, scope.adding(bound.map(\.name))))
    }

    /// Reads `{$map: {input, as, in}}`.
    static func parseMap(_ operand: BSONValue, _ scope: ExpressionScope) throws(ServiceError)
        -> AggregationExpression
    {
        guard case .document(let document) = operand else {
            throw .mongo(16878, "$map only supports an object as its argument")
        }
        for field in document where !["input", "as", "in"].contains(field.key) {
            throw .mongo(16879, "Unrecognized parameter to $map: \(field.key)")
        }
        guard let input = document["input"] else {
            throw .mongo(16880, "Missing 'input' parameter to $map")
        }
        guard let body = document["in"] else { throw .mongo(16882, "Missing 'in' parameter to $map") }
        let name = try loopVariable(document["as"])
        return .map(
            input: try parse(input, scope),
            name: name,
            body: try parse(body, scope.adding([name]))
        )
    }

    /// Reads `{$filter: {input, as, cond, limit}}`.
    static func parseFilter(_ operand: BSONValue, _ scope: ExpressionScope) throws(ServiceError)
        -> AggregationExpression
    {
        guard case .document(let document) = operand else {
            throw .mongo(28646, "$filter only supports an object as its argument")
        }
        for field in document where !["input", "as", "cond", "limit"].contains(field.key) {
            throw .mongo(28647, "Unrecognized parameter to $filter: \(field.key)")
        }
        guard let input = document["input"] else {
            throw .mongo(28648, "Missing 'input' parameter to $filter")
        }
        guard let condition = document["cond"] else {
            throw .mongo(28650, "Missing 'cond' parameter to $filter")
        }
        let name = try loopVariable(document["as"])
        var limit: AggregationExpression?
        if let value = document["limit"] { limit = try parse(value, scope) }
        return .filter(
            input: try parse(input, scope),
            name: name,
            condition: try parse(condition, scope.adding([name])),
            limit: limit
        )
    }

    /// Reads `{$reduce: {input, initialValue, in}}`.
    static func parseReduce(_ operand: BSONValue, _ scope: ExpressionScope) throws(ServiceError)
        -> AggregationExpression
    {
        let document = try object(operand, of: "$reduce", code: 40075)
        for field in document where !["input", "initialValue", "in"].contains(field.key) {
            throw .mongo(40076, "$reduce found an unknown argument: \(field.key)")
        }
        guard let input = document["input"] else {
            throw .mongo(40077, "$reduce requires 'input' to be specified")
        }
        guard let initial = document["initialValue"] else {
            throw .mongo(40078, "$reduce requires 'initialValue' to be specified")
        }
        guard let body = document["in"] else {
            throw .mongo(40079, "$reduce requires 'in' to be specified")
        }
        return .reduce(
            input: try parse(input, scope),
            initial: try parse(initial, scope),
            body: try parse(body, scope.adding(["this", "value"]))
        )
    }

    /// Reads `{$switch: {branches: [{case, then}], default}}`.
    static func parseSwitch(_ operand: BSONValue, _ scope: ExpressionScope) throws(ServiceError)
        -> AggregationExpression
    {
        let document = try object(operand, of: "$switch", code: 40060)
        var branches: [ExpressionBranch] = []
        var otherwise: AggregationExpression?
        for field in document {
            switch field.key {
            case "branches":
                guard case .array(let elements) = field.value else {
                    throw .mongo(
                        40061,
                        "$switch expected an array for 'branches', found: \(known: TypeName.of(field.value))"
                    )
                }
                for element in elements { branches.append(try parseBranch(element, scope)) }
            case "default": otherwise = try parse(field.value, scope)
            default: throw .mongo(40067, "$switch found an unknown argument: \(field.key)")
            }
        }
        if branches.isEmpty { throw .mongo(40068, "$switch requires at least one branch.") }
        return .choose(branches, otherwise: otherwise)
    }

    private static func parseBranch(_ element: BSONValue, _ scope: ExpressionScope)
        throws(ServiceError) -> ExpressionBranch
    {
        guard case .document(let document) = element else {
            throw .mongo(
                40062,
                "$switch expected each branch to be an object, found: \(known: TypeName.of(element))"
            )
        }
        for field in document where field.key != "case" && field.key != "then" {
            throw .mongo(40063, "$switch found an unknown argument to a branch: \(field.key)")
        }
        guard let condition = document["case"] else {
            throw .mongo(40064, "$switch requires each branch have a 'case' expression")
        }
        guard let result = document["then"] else {
            throw .mongo(40065, "$switch requires each branch have a 'then' expression.")
        }
        return ExpressionBranch(
            condition: try parse(condition, scope),
            result: try parse(result, scope)
        )
    }

    /// Reads `{$cond: {if, then, else}}` or `{$cond: [if, then, else]}`.
    static func parseCondition(_ operand: BSONValue, _ scope: ExpressionScope) throws(ServiceError)
        -> AggregationExpression
    {
        guard case .document(let document) = operand else {
            let operands = try parseAll(positional(operand), scope)
            guard operands.count == 3 else {
                throw .mongo(
                    16020,
                    "Expression $cond takes exactly 3 arguments. \(operands.count) were passed in."
                )
            }
            return .call(.condition, operands)
        }
        for field in document where !["if", "then", "else"].contains(field.key) {
            throw .mongo(17083, "Unrecognized parameter to $cond: \(field.key)")
        }
        guard let condition = document["if"] else {
            throw .mongo(17080, "Missing 'if' parameter to $cond")
        }
        guard let result = document["then"] else {
            throw .mongo(17081, "Missing 'then' parameter to $cond")
        }
        guard let otherwise = document["else"] else {
            throw .mongo(17082, "Missing 'else' parameter to $cond")
        }
        return .call(.condition, try parseAll([condition, result, otherwise], scope))
    }

    private static func loopVariable(_ value: BSONValue?) throws(ServiceError) -> String {
        guard let value else { return "this" }
        guard case .string(let name) = value else {
            throw .mongo(.failedToParse, "'as' must be a string, found \(known: TypeName.of(value))")
        }
        try ExpressionPath.checkVariable(name)
        return name
    }
}
