import BSON
import Errors

/// Reads the operand of `$group` and the accumulators of `$bucket`.
enum GroupParser {
    /// Reads `{_id: …, name: {$sum: …}, …}`.
    ///
    /// - Throws: ``ServiceError`` with server code 15947, 15952, 15955, 40234 to 40238.
    static func parse(
        _ operand: BSONValue,
        _ budget: ParseBudget
    ) throws(ServiceError) -> GroupArguments {
        guard case .document(let document) = operand else {
            throw .mongo(15947, "a group's fields must be specified in an object")
        }
        try budget.checkFields(document.count)
        var id: AggregationExpression?
        var fields: [(name: String, accumulator: Accumulator)] = []
        var names = Set<ByteText>()
        for field in document {
            if field.key == "_id" {
                id = try parseID(field.value, budget)
            } else {
                guard names.insert(ByteText(field.key)).inserted else {
                    throw .mongo(16406, "duplicate field name specified in $group: \(field.key)")
                }
                fields.append((field.key, try parseAccumulator(field.key, field.value, budget)))
            }
        }
        guard let id else { throw .mongo(15955, "a group specification must include an _id") }
        return GroupArguments(id: id, fields: fields)
    }

    private static func parseID(_ value: BSONValue, _ budget: ParseBudget) throws(ServiceError)
        -> AggregationExpression
    {
        if case .document(let document) = value, document.count > 1,
            document.firstKey?.utf8.first != UInt8(ascii: "$"),
            let odd = document.keys.first(where: { $0.utf8.first == UInt8(ascii: "$") })
        {
            throw .mongo(
                17390,
                "$group does not support inclusion-style expressions; '\(odd)' stands beside field names"
            )
        }
        if case .document(let document) = value, document.firstKey?.utf8.first != UInt8(ascii: "$"),
            let field = document.fields.first(where: { $0.value.isNumber || $0.value.bool != nil })
        {
            throw .mongo(17390, "$group does not support inclusion-style expressions: '\(field.key)'")
        }
        return try ExpressionParser.parse(value, budget)
    }

    /// The fields of an `output` document.
    static func parseFields(_ document: BSONDocument, _ budget: ParseBudget) throws(ServiceError)
        -> [(name: String, accumulator: Accumulator)]
    {
        var fields: [(name: String, accumulator: Accumulator)] = []
        for field in document {
            fields.append((field.key, try parseAccumulator(field.key, field.value, budget)))
        }
        return fields
    }

    /// `{$sum: "$n"}` under an output field's name.
    static func parseAccumulator(
        _ name: String,
        _ value: BSONValue,
        _ budget: ParseBudget
    ) throws(ServiceError) -> Accumulator {
        if name.utf8.contains(UInt8(ascii: ".")) {
            throw .mongo(40235, "The field name '\(name)' cannot contain '.'")
        }
        guard case .document(let document) = value, !document.isEmpty else {
            throw .mongo(40234, "The field '\(name)' must be an accumulator object")
        }
        if name.utf8.first == UInt8(ascii: "$") {
            throw .mongo(40236, "The field name '\(name)' cannot be an operator name")
        }
        guard document.count == 1, let field = document.fields.first else {
            throw .mongo(40238, "The field '\(name)' must specify one accumulator")
        }
        guard field.key.utf8.first == UInt8(ascii: "$") else {
            throw .mongo(40234, "The field '\(name)' must be an accumulator object")
        }
        guard let kind = Accumulator.Kind(rawValue: field.key) else {
            if ["$accumulator", "$function"].contains(field.key) {
                throw .mongo(238, "The group operator '\(field.key)' is not supported by tidegate")
            }
            if case .array = field.value, ExpressionOperator(rawValue: field.key) != nil {
                throw .mongo(40237, "The \(field.key) accumulator is a unary operator")
            }
            throw .mongo(15952, "unknown group operator '\(field.key)'")
        }
        return try parse(kind, field.value, budget)
    }

    /// Reads the operand of an accumulator.
    static func parse(_ kind: Accumulator.Kind, _ operand: BSONValue, _ budget: ParseBudget)
        throws(ServiceError) -> Accumulator
    {
        switch kind {
        case .count:
            if case .array = operand {
                throw .mongo(40237, "The $count accumulator is a unary operator")
            }
            guard case .document(let document) = operand, document.isEmpty else {
                throw .mongo(.typeMismatch, "$count takes no arguments, i.e. $count:{}")
            }
            return Accumulator(kind: kind, operand: .literal(.null))
        case .firstN, .lastN, .minimumN, .maximumN:
            return try parseN(kind, operand, budget, names: ["n", "input"])
        case .topN, .bottomN: return try parseN(kind, operand, budget, names: ["n", "sortBy", "output"])
        case .top, .bottom: return try parseN(kind, operand, budget, names: ["sortBy", "output"])
        case .median, .percentile:
            let parsed = try PercentileOperand(kind.rawValue, operand)
            return Accumulator(
                kind: kind,
                operand: try ExpressionParser.parse(parsed.input, budget),
                percentiles: parsed.parts
            )
        case .sum, .average, .minimum, .maximum, .first, .last, .push, .addToSet, .mergeObjects,
            .standardDeviationPopulation, .standardDeviationSample, .concatArrays, .setUnion:
            if case .array = operand {
                throw .mongo(40237, "The \(kind.rawValue) accumulator is a unary operator")
            }
            return Accumulator(kind: kind, operand: try ExpressionParser.parse(operand, budget))
        }
    }

    /// The accumulators whose operand is an object of named parts.
    private static func parseN(
        _ kind: Accumulator.Kind,
        _ operand: BSONValue,
        _ budget: ParseBudget,
        names: [String]
    ) throws(ServiceError) -> Accumulator {
        let name = kind.rawValue
        let family = names.contains("sortBy")
        guard case .document(let document) = operand else {
            throw .mongo(family ? 5_788_001 : 5_787_900, "specification must be an object; found \(name)")
        }
        for field in document where !names.contains(field.key) {
            throw .mongo(
                family ? 5_788_002 : 5_787_901,
                "Unknown argument to \(name): '\(field.key)'"
            )
        }
        for required in names where document[required] == nil {
            let code =
                switch (required, family) {
                case ("n", true): 5_788_003
                case ("n", false): 5_787_906
                case ("output", _): 5_788_004
                case ("sortBy", _): 5_788_005
                default: 5_787_907
                }
            throw .mongo(code, "Missing value for '\(required)' in \(name)")
        }
        var sort: Sort?
        if let order = document["sortBy"] {
            guard case .document(let keys) = order else {
                throw .mongo(10065, "expected 'sortBy' of \(name) to be an object")
            }
            sort = try SortParser.parse(keys, budget)
        }
        var limit: AggregationExpression?
        if let count = document["n"] { limit = try ExpressionParser.parse(count, budget) }
        let value = document["input"] ?? document["output"] ?? .null
        return Accumulator(
            kind: kind,
            operand: try ExpressionParser.parse(value, budget),
            limit: limit,
            sort: sort
        )
    }
}
