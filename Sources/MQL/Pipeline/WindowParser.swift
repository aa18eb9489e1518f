import BSON
import Errors

/// Reads the operand of `$setWindowFields`.
enum WindowParser {
    /// Reads `{partitionBy, sortBy, output}`.
    ///
    /// - Throws: ``ServiceError`` with server code 9, 14, 40414, 40415, or that of a function.
    static func parse(_ operand: BSONValue, _ budget: ParseBudget) throws(ServiceError) -> WindowArguments {
        guard case .document(let document) = operand else {
            throw .mongo(
                .failedToParse,
                "the $setWindowFields stage specification must be an object, found \(known: TypeName.of(operand))"
            )
        }
        var partition: AggregationExpression?
        var sort: Sort?
        var output: BSONDocument?
        for field in document {
            switch field.key {
            case "partitionBy": partition = try ExpressionParser.parse(field.value, budget)
            case "sortBy": sort = try parseSort(field.value, budget)
            case "output":
                guard case .document(let fields) = field.value else {
                    throw mismatch("output", field.value)
                }
                output = fields
            default:
                throw .mongo(40415, "BSON field '$setWindowFields.\(field.key)' is an unknown field.")
            }
        }
        guard let output else {
            throw .mongo(40414, "BSON field '$setWindowFields.output' is missing but a required field")
        }
        try budget.checkFields(output.count)
        var outputs: [WindowOutput] = []
        for field in output { outputs.append(try parseOutput(field.key, field.value, sort, budget)) }
        try FieldAssignments.checkCollisions(outputs.map(\.path))
        return WindowArguments(partition: partition, sort: sort, outputs: outputs)
    }

    /// `sortBy`; null is none, and an empty object leaves the documents as they came.
    static func parseSort(_ value: BSONValue, _ budget: ParseBudget) throws(ServiceError) -> Sort? {
        switch value {
        case .null: return nil
        case .document(let keys): return try SortParser.parse(keys, budget)
        default: throw mismatch("sortBy", value)
        }
    }

    private static func mismatch(_ name: String, _ value: BSONValue) -> ServiceError {
        .mongo(
            .typeMismatch,
            "BSON field '$setWindowFields.\(name)' is the wrong type '\(known: TypeName.of(value))', expected type 'object'"
        )
    }

    /// `{$sum: …, window: …}` under an output field's path.
    private static func parseOutput(
        _ name: String,
        _ value: BSONValue,
        _ sort: Sort?,
        _ budget: ParseBudget
    ) throws(ServiceError) -> WindowOutput {
        let path = FieldPath(components: try ExpressionPath.components(name))
        guard case .document(let document) = value else {
            throw .mongo(
                .failedToParse,
                "The field '\(name)' must be an object, but found type: \(known: TypeName.of(value))"
            )
        }
        var function: BSONDocument.Field?
        var window: BSONValue?
        for field in document {
            if field.key == "window" {
                window = field.value
            } else if let first = function?.key, WindowFunctionParser.ranks.contains(first) {
                throw .mongo(5_371_601, "Rank style window functions take no other arguments")
            } else if field.key.utf8.first == UInt8(ascii: "$") {
                if function != nil {
                    throw .mongo(.failedToParse, "Cannot specify two functions in window function spec")
                }
                function = field
            } else {
                throw .mongo(
                    .failedToParse,
                    "Window function found an unknown argument: \(field.key)"
                )
            }
        }
        guard let function else {
            throw .mongo(.failedToParse, "Expected a $-prefixed window function in '\(name)'")
        }
        let frame: WindowFrame? =
            try window.map { window throws(ServiceError) in try WindowFrameParser.parse(window, sort) }
        return WindowOutput(
            path: path,
            function: try WindowFunctionParser.parse(
                function.key,
                function.value,
                sort: sort,
                hasWindow: window != nil,
                budget
            ),
            frame: frame ?? .whole
        )
    }
}

/// Reads the `window` of an output field.
enum WindowFrameParser {
    /// Reads `{documents: [a, b]}` or `{range: [a, b], unit}`.
    ///
    /// - Throws: ``ServiceError`` with server code 9, 5339900 to 5339902, 8947401.
    static func parse(_ value: BSONValue, _ sort: Sort?) throws(ServiceError) -> WindowFrame {
        guard case .document(let document) = value else {
            throw .mongo(.failedToParse, "'window' field must be an object")
        }
        for field in document where !["documents", "range", "unit"].contains(field.key) {
            throw .mongo(
                .failedToParse,
                "'window' field can only contain 'documents', or 'range' with an optional 'unit'"
            )
        }
        let documents = document["documents"]
        let range = document["range"]
        let unit = document["unit"]
        if documents != nil, range != nil {
            throw .mongo(
                .failedToParse,
                "Window bounds can specify either 'documents' or 'range', not both."
            )
        }
        if let range { return try parseRange(range, unit, sort) }
        if unit != nil {
            throw .mongo(.failedToParse, "Window bounds can only specify 'unit' with range-based bounds.")
        }
        guard let documents else { return .whole }
        let (first, last) = try pair(documents)
        let lower = try documentBound(first)
        let upper = try documentBound(last)
        if let lower, let upper, lower > upper { throw reversed }
        if lower != nil || upper != nil, sort == nil {
            throw .mongo(5_339_901, "Document-based bounds require a sortBy")
        }
        return .documents(lower: lower, upper: upper)
    }

    private static func parseRange(
        _ range: BSONValue,
        _ unit: BSONValue?,
        _ sort: Sort?
    ) throws(ServiceError) -> WindowFrame {
        var parsedUnit: DateUnit?
        if let unit {
            guard case .string(let name) = unit else {
                throw .mongo(.failedToParse, "'unit' must be a string")
            }
            guard let known = DateUnit(rawValue: name) else {
                throw .mongo(.failedToParse, "unknown time unit value: \(name)")
            }
            parsedUnit = known
        }
        let (first, last) = try pair(range)
        let lower = try rangeBound(first, parsedUnit)
        let upper = try rangeBound(last, parsedUnit)
        if order(lower, upper) > 0 { throw reversed }
        guard let sort, sort.keys.count == 1, let key = sort.keys.first else {
            throw .mongo(5_339_902, "Range-based bounds require sortBy a single field")
        }
        guard key.ascending else {
            throw .mongo(8_947_401, "Range-based bounds require an ascending sortBy")
        }
        return .range(lower: lower, upper: upper, unit: parsedUnit)
    }

    /// The order of two bounds: above 0 when the lower one is past the upper one.
    private static func order(_ lower: RangeBound, _ upper: RangeBound) -> Int {
        switch (lower, upper) {
        case (.unbounded, _), (_, .unbounded), (.current, .current): 0
        case (.current, .offset(let end)): BSONOrdering.compare(.int32(0), end.value)
        case (.offset(let start), .current): BSONOrdering.compare(start.value, .int32(0))
        case (.offset(let start), .offset(let end)): BSONOrdering.compare(start.value, end.value)
        }
    }

    private static let reversed = ServiceError.mongo(5_339_900, "Lower bound must not exceed upper bound")

    private static func pair(_ value: BSONValue) throws(ServiceError) -> (BSONValue, BSONValue) {
        guard case .array(let bounds) = value, bounds.count == 2 else {
            throw .mongo(.failedToParse, "Window bounds must be a 2-element array")
        }
        return (bounds[0], bounds[1])
    }

    /// nil has no bound, 0 is the current document.
    private static func documentBound(_ value: BSONValue) throws(ServiceError) -> Int? {
        switch value {
        case .string("unbounded"): return nil
        case .string("current"): return 0
        default:
            guard let number = NumericValue(value) else { throw unknownBound }
            guard let whole = number.exactInt32 else {
                throw .mongo(.failedToParse, "Numeric document-based bounds must be an integer")
            }
            return Int(whole)
        }
    }

    private static func rangeBound(_ value: BSONValue, _ unit: DateUnit?) throws(ServiceError) -> RangeBound {
        switch value {
        case .string("unbounded"): return .unbounded
        case .string("current"): return .current
        default:
            guard let number = NumericValue(value) else { throw unknownBound }
            if unit != nil, number.exactInt64 == nil {
                throw .mongo(.failedToParse, "With 'unit', range-based bounds must be an integer")
            }
            return .offset(number)
        }
    }

    private static let unknownBound = ServiceError.mongo(
        .failedToParse,
        "Window bounds must be 'unbounded', 'current', or a number."
    )
}
