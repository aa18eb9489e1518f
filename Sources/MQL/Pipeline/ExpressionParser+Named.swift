import BSON
import Errors

/// Operators whose operands have names.
extension ExpressionParser {
    /// The operands of a named form, in the order in which they were written.
    static func parseNamed(
        _ name: String,
        _ operand: BSONValue,
        _ form: NamedForm,
        _ scope: ExpressionScope
    ) throws(ServiceError) -> [NamedExpression] {
        let document = try object(operand, of: name, code: form.notObject)
        var parsed: [NamedExpression] = []
        for field in document {
            guard form.contains(field.key) else {
                throw .mongo(form.unknown, "\(name) found an unknown argument: \(field.key)")
            }
            parsed.append(NamedExpression(name: field.key, expression: try parse(field.value, scope)))
        }
        for required in form.required where document[required.name] == nil {
            throw .mongo(required.code, "\(name) requires '\(required.name)' to be specified")
        }
        return parsed
    }

    /// The operand as an object, or the operator's own refusal.
    static func object(_ operand: BSONValue, of name: String, code: Int) throws(ServiceError)
        -> BSONDocument
    {
        guard case .document(let document) = operand else {
            throw .mongo(
                code,
                "\(name) requires an object as an argument, found: \(known: TypeName.of(operand))"
            )
        }
        return document
    }

    /// Reads `{$year: date}`, `{$year: [date]}`, `{$year: {date, timezone}}`.
    static func parseDatePart(
        _ op: ExpressionOperator,
        _ operand: BSONValue,
        _ scope: ExpressionScope
    ) throws(ServiceError) -> AggregationExpression {
        let name = op.rawValue
        if case .array(let elements) = operand {
            guard elements.count == 1, let only = elements.first else {
                throw .mongo(
                    40536,
                    "\(name) accepts exactly one argument if given an array, but was given \(elements.count)"
                )
            }
            return .namedCall(op, [NamedExpression(name: "date", expression: try parse(only, scope))])
        }
        guard case .document(let document) = operand, document.firstKey?.utf8.first != UInt8(ascii: "$")
        else {
            return .namedCall(op, [NamedExpression(name: "date", expression: try parse(operand, scope))])
        }
        var parsed: [NamedExpression] = []
        for field in document {
            guard field.key == "date" || field.key == "timezone" else {
                throw .mongo(40535, "unrecognized option to \(name): \"\(field.key)\"")
            }
            parsed.append(NamedExpression(name: field.key, expression: try parse(field.value, scope)))
        }
        guard document["date"] != nil else {
            throw .mongo(40539, "missing 'date' argument to \(name)")
        }
        return .namedCall(op, parsed)
    }

    /// Operators that read their operand in a way of their own.
    static func parseSpecial(
        _ op: ExpressionOperator,
        _ operand: BSONValue,
        _ scope: ExpressionScope
    ) throws(ServiceError) -> AggregationExpression {
        switch op {
        case .condition: return try parseCondition(operand, scope)
        case .ifNull:
            let operands = try parseAll(positional(operand), scope)
            guard operands.count >= 2 else {
                throw .mongo(1_257_300, "$ifNull needs at least two arguments, had: \(operands.count)")
            }
            return .call(op, operands)
        case .setEquals:
            let operands = try parseAll(positional(operand), scope)
            guard operands.count >= 2 else {
                throw .mongo(17045, "$setEquals needs at least two arguments had: \(operands.count)")
            }
            for operand in operands where operand.isConstant {
                if case .array = operand { continue }
                // MongoDB evaluates constants before it runs, and has a code of its own for them.
                let value = try operand.evaluate(BSONDocument(), EvaluationContext(now: 0))
                if value?.array == nil {
                    throw .mongo(
                        5_887_502,
                        "All operands of $setEquals must be arrays. One argument is of type: \(known: TypeName.of(value))"
                    )
                }
            }
            return .call(op, operands)
        case .random:
            guard case .document(let document) = operand, document.isEmpty else {
                switch operand {
                case .array([]): return .call(op, [])
                case .document, .array: throw .mongo(3_040_501, "$rand does not currently accept arguments")
                default: throw .mongo(10065, "invalid parameter: expected an object ($rand)")
                }
            }
            return .call(op, [])
        case .getField: return try parseGetField(operand, scope)
        case .setField, .unsetField: return try parseSetField(op, operand, scope)
        case .sortArray: return try parseSortArray(operand, scope)
        case .zip: return try parseZip(operand, scope)
        case .dateFromParts: return try parseDateFromParts(operand, scope)
        case .median, .percentile:
            let parsed = try PercentileOperand(op.rawValue, operand)
            let parts = parsed.parts.map { AggregationExpression.literal(.double($0)) }
            return .call(op, try [parse(parsed.input, scope)] + parts)
        // Its operand is no list of one: an array is an array.
        case .sigmoid: return .call(op, [try parse(operand, scope)])
        default:
            throw .mongo(.invalidPipelineOperator, "Unrecognized expression '\(op.rawValue)'")
        }
    }

    /// `{$getField: "name"}`, `{$getField: {field, input}}`; the name is a constant that may hold
    /// dots and dollars.
    private static func parseGetField(_ operand: BSONValue, _ scope: ExpressionScope)
        throws(ServiceError) -> AggregationExpression
    {
        var field = operand
        var input: BSONValue = "$$CURRENT"
        if case .document(let document) = operand, document.firstKey?.utf8.first != UInt8(ascii: "$") {
            for entry in document where entry.key != "field" && entry.key != "input" {
                throw .mongo(3_041_701, "$getField found an unknown argument: \(entry.key)")
            }
            guard let name = document["field"] else {
                throw .mongo(3_041_702, "$getField requires 'field' to be specified")
            }
            guard let source = document["input"] else {
                throw .mongo(3_041_703, "$getField requires 'input' to be specified")
            }
            field = name
            input = source
        }
        return .namedCall(
            .getField,
            [
                NamedExpression(name: "field", expression: try parse(field, scope)),
                NamedExpression(name: "input", expression: try parse(input, scope)),
            ]
        )
    }

    /// Reads `{$setField: {field, input, value}}`, `{$unsetField: {field, input}}`.
    private static func parseSetField(
        _ op: ExpressionOperator,
        _ operand: BSONValue,
        _ scope: ExpressionScope
    ) throws(ServiceError) -> AggregationExpression {
        let setting = op == .setField
        let form = NamedForm(
            required: [("field", 4_161_102)] + (setting ? [("value", 4_161_103)] : []) + [
                ("input", 4_161_109)
            ],
            optional: [],
            notObject: 4_161_100,
            unknown: 4_161_101
        )
        let operands = try parseNamed(op.rawValue, operand, form, scope)
        guard let field = operands.first(where: { $0.name == "field" })?.expression else {
            throw .mongo(4_161_102, "\(op.rawValue) requires 'field' to be specified")
        }
        switch field {
        case .path, .variable:
            throw .mongo(
                4_161_108,
                "'\(op.rawValue)' requires 'field' to evaluate to a constant, but got a field path. Consider using {$literal: …}"
            )
        case .literal(.string(let name)):
            if name.utf8.contains(0) {
                throw .mongo(9_534_700, "'field' of \(op.rawValue) must not contain an embedded null byte")
            }
        case .literal(let value):
            throw .mongo(
                4_161_107,
                "\(op.rawValue) requires 'field' to evaluate to type String, but got \(known: TypeName.of(value))"
            )
        case .document([]), .array([]):
            throw .mongo(4_161_107, "\(op.rawValue) requires 'field' to evaluate to type String")
        case .document, .array:
            throw .mongo(4_161_106, "\(op.rawValue) requires 'field' to evaluate to a constant")
        default:
            if !field.isConstant {
                throw .mongo(4_161_106, "\(op.rawValue) requires 'field' to evaluate to a constant")
            }
        }
        return .namedCall(op, operands)
    }

    /// `{$sortArray: {input, sortBy}}`; `sortBy` stays as it was written.
    private static func parseSortArray(_ operand: BSONValue, _ scope: ExpressionScope)
        throws(ServiceError) -> AggregationExpression
    {
        let document = try object(operand, of: "$sortArray", code: 2_942_500)
        for field in document where field.key != "input" && field.key != "sortBy" {
            throw .mongo(2_942_501, "$sortArray found an unknown argument: \(field.key)")
        }
        guard let input = document["input"] else {
            throw .mongo(2_942_502, "$sortArray requires 'input' to be specified")
        }
        guard let order = document["sortBy"] else {
            throw .mongo(2_942_503, "$sortArray requires 'sortBy' to be specified")
        }
        _ = try ArraySort(order)
        return .namedCall(
            .sortArray,
            [
                NamedExpression(name: "input", expression: try parse(input, scope)),
                NamedExpression(name: "sortBy", expression: .literal(order)),
            ]
        )
    }

    /// Reads `{$zip: {inputs: […], useLongestLength: bool, defaults: […]}}`.
    private static func parseZip(_ operand: BSONValue, _ scope: ExpressionScope) throws(ServiceError)
        -> AggregationExpression
    {
        let document = try object(operand, of: "$zip", code: 34460)
        var inputs: [BSONValue] = []
        var defaults: [BSONValue] = []
        var longest = false
        for field in document {
            switch (field.key, field.value) {
            case ("inputs", .array(let elements)): inputs = elements
            case ("inputs", let other):
                throw .mongo(
                    34461,
                    "inputs must be an array of expressions, found \(known: TypeName.of(other))"
                )
            case ("defaults", .array(let elements)): defaults = elements
            case ("defaults", let other):
                throw .mongo(
                    34462,
                    "defaults must be an array of expressions, found \(known: TypeName.of(other))"
                )
            case ("useLongestLength", .bool(let flag)): longest = flag
            case ("useLongestLength", let other):
                throw .mongo(34463, "useLongestLength must be a bool, found \(known: TypeName.of(other))")
            default: throw .mongo(34464, "$zip found an unknown argument: \(field.key)")
            }
        }
        if inputs.isEmpty { throw .mongo(34465, "$zip requires at least one input array") }
        if !defaults.isEmpty {
            if !longest {
                throw .mongo(34466, "cannot specify defaults unless useLongestLength is true")
            }
            if defaults.count != inputs.count {
                throw .mongo(34467, "defaults and inputs must have the same length")
            }
        }
        return .namedCall(
            .zip,
            [
                NamedExpression(name: "inputs", expression: .array(try parseAll(inputs, scope))),
                NamedExpression(name: "defaults", expression: .array(try parseAll(defaults, scope))),
                NamedExpression(name: "useLongestLength", expression: .literal(.bool(longest))),
            ]
        )
    }

    /// `{$dateFromParts: {year, …}}` or `{isoWeekYear, …}`, never both.
    private static func parseDateFromParts(_ operand: BSONValue, _ scope: ExpressionScope)
        throws(ServiceError) -> AggregationExpression
    {
        let calendar = ["year", "month", "day"]
        let iso = ["isoWeekYear", "isoWeek", "isoDayOfWeek"]
        let form = NamedForm(
            required: [],
            optional: calendar + iso + ["hour", "minute", "second", "millisecond", "timezone"],
            notObject: 40519,
            unknown: 40518
        )
        let operands = try parseNamed("$dateFromParts", operand, form, scope)
        let names = Set(operands.map(\.name))
        guard names.contains("year") || names.contains("isoWeekYear") else {
            throw .mongo(40516, "$dateFromParts requires either 'year' or 'isoWeekYear' to be present")
        }
        if names.contains("year"), let other = iso.first(where: names.contains) {
            throw .mongo(
                other == "isoWeekYear" ? 40489 : 40489,
                "$dateFromParts does not allow mixing natural dates with ISO dates: '\(other)'"
            )
        }
        if names.contains("isoWeekYear"), let other = calendar.first(where: names.contains) {
            throw .mongo(
                40525,
                "$dateFromParts does not allow mixing ISO dates with natural dates: '\(other)'"
            )
        }
        return .namedCall(.dateFromParts, operands)
    }
}
