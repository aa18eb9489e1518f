import BSON
import Errors

/// Reads the operands of `$bucket` and `$bucketAuto`.
enum BucketParser {
    /// Reads `{groupBy, boundaries, default, output}`.
    ///
    /// - Throws: ``ServiceError`` with server code 40191 to 40202.
    static func parse(_ operand: BSONValue, _ budget: ParseBudget) throws(ServiceError) -> BucketArguments {
        guard case .document(let document) = operand else {
            throw .mongo(
                40201,
                "Argument to $bucket stage must be an object, but found type: \(known: TypeName.of(operand))"
            )
        }
        var groupBy: AggregationExpression?
        var boundaries: [BSONValue]?
        var fallback: BSONValue?
        var fields = defaultOutput
        for field in document {
            switch field.key {
            case "groupBy": groupBy = try parseGroupBy(field.value, code: 40202, stage: "$bucket", budget)
            case "boundaries": boundaries = try parseBoundaries(field.value, budget)
            case "default": fallback = try constant(field.value, of: "default")
            case "output":
                guard case .document(let output) = field.value else {
                    throw .mongo(
                        40196,
                        "The $bucket 'output' field must be an object, but found type: \(known: TypeName.of(field.value))"
                    )
                }
                fields = try parseOutput(output, budget)
            default: throw .mongo(40197, "Unrecognized option to $bucket: \(field.key)")
            }
        }
        guard let groupBy, let boundaries, let lowest = boundaries.first, let highest = boundaries.last
        else {
            throw .mongo(
                40198,
                "$bucket requires 'groupBy' and 'boundaries' to be specified."
            )
        }
        let order = budget.comparison
        if let fallback, order.compare(fallback, lowest) >= 0, order.compare(fallback, highest) < 0 {
            throw .mongo(
                40199,
                "The $bucket 'default' field must be less than the lowest boundary or greater than or equal to the highest boundary."
            )
        }
        return BucketArguments(
            groupBy: groupBy,
            boundaries: boundaries,
            fallback: fallback,
            fields: fields
        )
    }

    /// `{groupBy, buckets, output, granularity}`.
    ///
    /// - Throws: ``ServiceError`` with server code 40239 to 40261.
    static func parseAuto(_ operand: BSONValue, _ budget: ParseBudget) throws(ServiceError)
        -> BucketAutoArguments
    {
        guard case .document(let document) = operand else {
            throw .mongo(
                40240,
                "The argument to $bucketAuto must be an object, but found type: \(known: TypeName.of(operand))"
            )
        }
        var groupBy: AggregationExpression?
        var buckets: Int?
        var granularity: Granularity?
        var fields = defaultOutput
        for field in document {
            switch field.key {
            case "groupBy": groupBy = try parseGroupBy(field.value, code: 40239, stage: "$bucketAuto", budget)
            case "buckets":
                guard let number = NumericValue(field.value) else {
                    throw .mongo(
                        40241,
                        "The $bucketAuto 'buckets' field must be a numeric value, but found type: \(known: TypeName.of(field.value))"
                    )
                }
                guard let whole = number.exactInt64, let count = Int32(exactly: whole) else {
                    throw .mongo(
                        40242,
                        "The $bucketAuto 'buckets' field must be representable as a 32-bit integer"
                    )
                }
                if count <= 0 {
                    throw .mongo(
                        40243,
                        "The $bucketAuto 'buckets' field must be greater than 0, but found: \(count)"
                    )
                }
                buckets = Int(count)
            case "output":
                guard case .document(let output) = field.value else {
                    throw .mongo(
                        40244,
                        "The $bucketAuto 'output' field must be an object, but found type: \(known: TypeName.of(field.value))"
                    )
                }
                if !output.isEmpty { fields = try parseOutput(output, budget) }
            case "granularity":
                guard case .string(let series) = field.value else {
                    throw .mongo(
                        40261,
                        "The $bucketAuto 'granularity' field must be a string, but found type: \(known: TypeName.of(field.value))"
                    )
                }
                guard let known = Granularity(series) else {
                    throw .mongo(40257, "Unknown rounding granularity '\(series)'")
                }
                granularity = known
            default: throw .mongo(40245, "Unrecognized option to $bucketAuto: \(field.key)")
            }
        }
        guard let groupBy, let buckets else {
            throw .mongo(40246, "$bucketAuto requires 'groupBy' and 'buckets' to be specified")
        }
        return BucketAutoArguments(
            groupBy: groupBy,
            buckets: buckets,
            granularity: granularity,
            fields: fields
        )
    }

    /// `{count: {$sum: 1}}`, what a bucket shows when nothing else is asked for.
    private static let defaultOutput: [(name: String, accumulator: Accumulator)] = [
        ("count", Accumulator(kind: .sum, operand: .literal(.int32(1))))
    ]

    private static func parseOutput(_ output: BSONDocument, _ budget: ParseBudget) throws(ServiceError)
        -> [(name: String, accumulator: Accumulator)]
    {
        if output["_id"] != nil { throw .mongo(15948, "a group's _id may only be specified once") }
        return try GroupParser.parseFields(output, budget)
    }

    private static func parseGroupBy(
        _ value: BSONValue,
        code: Int,
        stage: String,
        _ budget: ParseBudget
    ) throws(ServiceError) -> AggregationExpression {
        switch value {
        case .string(let text) where text.utf8.first == UInt8(ascii: "$"):
            return try ExpressionParser.parse(value, budget)
        case .document(let document) where document.firstKey?.utf8.first == UInt8(ascii: "$"):
            return try ExpressionParser.parse(value, budget)
        default:
            throw .mongo(
                code,
                "The \(stage) 'groupBy' field must be defined as a $-prefixed path or an expression object"
            )
        }
    }

    private static func parseBoundaries(_ value: BSONValue, _ budget: ParseBudget) throws(ServiceError)
        -> [BSONValue]
    {
        guard case .array(let elements) = value else {
            throw .mongo(
                40200,
                "The $bucket 'boundaries' field must be an array, but found type: \(known: TypeName.of(value))"
            )
        }
        if elements.count < 2 {
            throw .mongo(
                40192,
                "The $bucket 'boundaries' field must have at least 2 values, but found \(elements.count) value(s)."
            )
        }
        var boundaries: [BSONValue] = []
        for element in elements { boundaries.append(try constant(element, of: "boundaries")) }
        for (lower, upper) in zip(boundaries, boundaries.dropFirst()) {
            if BSONOrdering.bracket(lower) != BSONOrdering.bracket(upper) {
                throw .mongo(
                    40193,
                    "All values in the the 'boundaries' option to $bucket must have the same type."
                )
            }
            if budget.comparison.compare(lower, upper) >= 0 {
                throw .mongo(
                    40194,
                    "The 'boundaries' option to $bucket must be sorted in ascending order."
                )
            }
        }
        return boundaries
    }

    /// A value that does not depend on documents.
    private static func constant(_ value: BSONValue, of option: String) throws(ServiceError) -> BSONValue {
        let expression = try ExpressionParser.parse(value)
        guard expression.isConstant else {
            throw .mongo(
                40191,
                "The $bucket '\(option)' field must be constant values, but found a value that is not."
            )
        }
        return try expression.evaluate(BSONDocument(), EvaluationContext(now: 0)) ?? .null
    }
}
