import BSON
import Errors

/// Which documents `$densify` adds.
public struct DensifyArguments: Sendable {
    /// How far the values reach.
    enum Bounds: Sendable {
        /// From the least to the greatest value of all documents.
        case full
        /// From the least to the greatest value of each partition.
        case partition
        /// From one value up to, and without, another.
        case explicit(BSONValue, BSONValue)
    }

    /// The field whose gaps are filled.
    let field: FieldPath
    /// The fields that documents of one partition agree in.
    let partition: [FieldPath]
    /// How far neighbours lie apart.
    let step: NumericValue
    /// What the step counts, where the field holds dates.
    let unit: DateUnit?
    let bounds: Bounds
}

/// Reads the operand of `$densify`.
enum DensifyParser {
    /// Reads `{field, partitionByFields, range: {step, unit, bounds}}`.
    ///
    /// - Throws: ``ServiceError`` with server code 14, 40414, 40415, 5733401 to 5733411, 8993000.
    static func parse(_ operand: BSONValue) throws(ServiceError) -> DensifyArguments {
        guard case .document(let document) = operand else {
            throw .mongo(
                5_733_201,
                "The $densify stage specification must be an object, found \(known: TypeName.of(operand))"
            )
        }
        var path: FieldPath?
        var partition: [FieldPath] = []
        var range: BSONDocument?
        for field in document {
            switch field.key {
            case "field":
                guard case .string(let name) = field.value else { throw mismatch("field", field.value) }
                path = FieldPath(components: try ExpressionPath.components(name))
            case "partitionByFields":
                guard case .array(let names) = field.value else {
                    throw mismatch("partitionByFields", field.value)
                }
                for name in names {
                    guard case .string(let name) = name else { throw mismatch("partitionByFields", name) }
                    partition.append(FieldPath(components: try ExpressionPath.components(name)))
                }
            case "range":
                guard case .document(let value) = field.value else { throw mismatch("range", field.value) }
                range = value
            default: throw .mongo(40415, "BSON field '$densify.\(field.key)' is an unknown field.")
            }
        }
        guard let path else { throw missing("field") }
        guard let range else { throw missing("range") }
        if PathCollision(in: partition + [path]) != nil {
            throw .mongo(
                8_993_000,
                "BSON field '$densify.partitionByFields' contains a field that is, or lies above or below, the field to densify."
            )
        }
        return try parseRange(range, path, partition)
    }

    private static func parseRange(
        _ range: BSONDocument,
        _ path: FieldPath,
        _ partition: [FieldPath]
    ) throws(ServiceError) -> DensifyArguments {
        for field in range where !["step", "unit", "bounds"].contains(field.key) {
            throw .mongo(40415, "BSON field 'range.\(field.key)' is an unknown field.")
        }
        guard let value = range["step"] else { throw missing("range.step") }
        guard let step = NumericValue(value) else { throw mismatch("range.step", value) }
        guard step.doubleValue > 0 else {
            throw .mongo(
                5_733_401,
                "The step parameter in a range statement must be a strictly positive numeric value"
            )
        }
        var unit: DateUnit?
        if let value = range["unit"] {
            guard case .string(let name) = value else { throw mismatch("range.unit", value) }
            guard let known = DateUnit(rawValue: name) else {
                throw .mongo(.failedToParse, "unknown time unit value: \(name)")
            }
            guard step.exactInt64 != nil else {
                throw .mongo(
                    6_586_400,
                    "The step parameter in a range statement must be a whole number when densifying a date range"
                )
            }
            unit = known
        }
        guard let value = range["bounds"] else { throw missing("range.bounds") }
        return DensifyArguments(
            field: path,
            partition: partition,
            step: step,
            unit: unit,
            bounds: try parseBounds(value, unit, isPartitioned: !partition.isEmpty)
        )
    }

    private static func parseBounds(
        _ value: BSONValue,
        _ unit: DateUnit?,
        isPartitioned: Bool
    ) throws(ServiceError) -> DensifyArguments.Bounds {
        switch value {
        case .string("full"): return .full
        case .string("partition"):
            guard isPartitioned else {
                throw .mongo(
                    5_733_408,
                    "one may not specify the bounds as 'partition' without specifying a non-empty array of partitionByFields. You may have meant to specify 'full' bounds."
                )
            }
            return .partition
        case .string:
            throw .mongo(5_733_404, "the bounds, if passed as a string, can only be 'full' or 'partition'")
        case .array(let ends):
            guard ends.count == 2 else {
                throw .mongo(
                    5_733_403,
                    "a bounding array in a range statement must have exactly two elements"
                )
            }
            if case .date(let first) = ends[0], case .date(let last) = ends[1] {
                guard unit != nil else {
                    throw .mongo(5_733_405, "a bounding array of dates must have an accompanying unit")
                }
                guard first <= last else { throw reversed }
                return .explicit(ends[0], ends[1])
            }
            guard ends[0].isNumber, ends[1].isNumber else {
                throw .mongo(
                    5_733_402,
                    "a bounding array must be an ascending array of either two dates or two numbers"
                )
            }
            if unit != nil {
                throw .mongo(5_733_409, "a bounding array of numbers cannot have an accompanying unit")
            }
            guard BSONOrdering.compare(ends[0], ends[1]) <= 0 else { throw reversed }
            return .explicit(ends[0], ends[1])
        default:
            throw .mongo(
                5_733_410,
                "the range's bounds must be either 'full', 'partition', or an ascending array of two numbers or two dates"
            )
        }
    }

    private static let reversed = ServiceError.mongo(
        5_733_402,
        "the bounds in a range statement must be the string 'full', 'partition', or an ascending array of two numbers or two dates"
    )

    private static func missing(_ name: String) -> ServiceError {
        .mongo(40414, "BSON field '$densify.\(name)' is missing but a required field")
    }

    private static func mismatch(_ name: String, _ value: BSONValue) -> ServiceError {
        .mongo(
            .typeMismatch,
            "BSON field '$densify.\(name)' is the wrong type '\(known: TypeName.of(value))'"
        )
    }
}
