import BSON
import Errors

/// What `$fill` puts in the place of nulls and missing fields.
public struct FillArguments: Sendable {
    /// The fields that are filled from their neighbours; nil when none is.
    let window: WindowArguments?
    /// The fields that are filled with a value of their own.
    let assignments: [(path: FieldPath, expression: AggregationExpression)]
}

/// Reads the operand of `$fill`.
enum FillParser {
    /// Reads `{partitionBy, partitionByFields, sortBy, output: {field: {value} or {method}}}`.
    ///
    /// - Throws: ``ServiceError`` with server code 14, 40414, 40415, 6050200 to 6050205.
    static func parse(_ operand: BSONValue, _ budget: ParseBudget) throws(ServiceError) -> FillArguments {
        guard case .document(let document) = operand else {
            throw .mongo(
                .failedToParse,
                "The $fill stage specification must be an object, found \(known: TypeName.of(operand))"
            )
        }
        var partition: AggregationExpression?
        var fields: [NamedExpression]?
        var sort: Sort?
        var output: BSONDocument?
        for field in document {
            switch field.key {
            case "partitionBy":
                guard field.value.document != nil || field.value.string != nil else {
                    throw mismatch("partitionBy", field.value)
                }
                partition = try ExpressionParser.parse(field.value, budget)
            case "partitionByFields": fields = try parseFields(field.value)
            case "sortBy":
                guard case .document(let keys) = field.value else { throw mismatch("sortBy", field.value) }
                sort = keys.isEmpty ? nil : try SortParser.parse(keys, budget)
            case "output":
                guard case .document(let value) = field.value else { throw mismatch("output", field.value) }
                output = value
            default: throw .mongo(40415, "BSON field '$fill.\(field.key)' is an unknown field.")
            }
        }
        guard let output else {
            throw .mongo(40414, "BSON field '$fill.output' is missing but a required field")
        }
        if let fields {
            if partition != nil {
                throw .mongo(
                    6_050_204,
                    "Maximum one of 'partitionBy' and 'partitionByFields can be specified in '$fill'"
                )
            }
            partition = .document(fields)
        }
        return try parseOutput(output, partition, sort, budget)
    }

    private static func parseFields(_ value: BSONValue) throws(ServiceError) -> [NamedExpression] {
        guard case .array(let names) = value else { throw mismatch("partitionByFields", value) }
        var fields: [NamedExpression] = []
        for (index, name) in names.enumerated() {
            guard case .string(let name) = name else { throw mismatch("partitionByFields", name) }
            let path = FieldPath(components: try ExpressionPath.components(name))
            fields.append(NamedExpression(name: "f\(index)", expression: .path(path)))
        }
        return fields
    }

    private static func parseOutput(
        _ output: BSONDocument,
        _ partition: AggregationExpression?,
        _ sort: Sort?,
        _ budget: ParseBudget
    ) throws(ServiceError) -> FillArguments {
        try budget.checkFields(output.count)
        var outputs: [WindowOutput] = []
        var assignments: [(path: FieldPath, expression: AggregationExpression)] = []
        for field in output {
            let path = FieldPath(components: try ExpressionPath.components(field.key))
            guard case .document(let how) = field.value else {
                throw mismatch("output.\(field.key)", field.value)
            }
            guard how.count == 1, let option = how.fields.first else { throw malformed }
            switch (option.key, option.value) {
            case ("value", let value):
                let fallback = try ExpressionParser.parse(value, budget)
                assignments.append((path, .call(.ifNull, [.path(path), fallback])))
            case ("method", .string("linear")):
                guard sort?.keys.count == 1 else {
                    throw .mongo(
                        605_001,
                        "$linearFill must be specified with a top level sortBy expression with exactly one element"
                    )
                }
                outputs.append(WindowOutput(path: path, function: .linearFill(.path(path)), frame: .whole))
            case ("method", .string("locf")):
                outputs.append(WindowOutput(path: path, function: .carryForward(.path(path)), frame: .whole))
            case ("method", .string):
                throw .mongo(6_050_202, "Method must be either locf or linear")
            case ("method", let value): throw mismatch("output.\(field.key).method", value)
            default: throw malformed
            }
        }
        let window = WindowArguments(partition: partition, sort: sort, outputs: outputs)
        return FillArguments(window: outputs.isEmpty ? nil : window, assignments: assignments)
    }

    private static let malformed = ServiceError.mongo(
        6_050_200,
        "Each field of the output of $fill must have exactly one of 'value' and 'method'"
    )

    private static func mismatch(_ name: String, _ value: BSONValue) -> ServiceError {
        .mongo(.typeMismatch, "BSON field '$fill.\(name)' is the wrong type '\(known: TypeName.of(value))'")
    }
}
