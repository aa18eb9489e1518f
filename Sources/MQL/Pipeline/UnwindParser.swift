import BSON
import Errors

/// Reads the operand of `$unwind`.
enum UnwindParser {
    /// Reads `"$path"` or `{path, includeArrayIndex, preserveNullAndEmptyArrays}`.
    ///
    /// - Throws: ``ServiceError`` with server code 15981, 28808 to 28822, or that of a bad path.
    static func parse(_ operand: BSONValue) throws(ServiceError) -> UnwindArguments {
        switch operand {
        case .string(let path): return UnwindArguments(path: try parsePath(path))
        case .document(let document): return try parse(document)
        default:
            throw .mongo(
                15981,
                "expected either a string or an object as specification for $unwind stage, got \(known: TypeName.of(operand))"
            )
        }
    }

    private static func parse(_ document: BSONDocument) throws(ServiceError) -> UnwindArguments {
        var arguments: UnwindArguments?
        var index: String?
        var preserves = false
        for field in document {
            switch field.key {
            case "path":
                guard case .string(let path) = field.value else {
                    throw .mongo(
                        28808,
                        "expected a string as the path for $unwind stage, got \(known: TypeName.of(field.value))"
                    )
                }
                arguments = UnwindArguments(path: try parsePath(path))
            case "preserveNullAndEmptyArrays":
                guard case .bool(let flag) = field.value else {
                    throw .mongo(
                        28809,
                        "expected a boolean for the preserveNullAndEmptyArrays option to $unwind stage, got \(known: TypeName.of(field.value))"
                    )
                }
                preserves = flag
            case "includeArrayIndex":
                guard case .string(let name) = field.value, !name.isEmpty else {
                    throw .mongo(
                        28810,
                        "expected a non-empty string for the includeArrayIndex  option to $unwind stage, got \(known: TypeName.of(field.value))"
                    )
                }
                if name.utf8.first == UInt8(ascii: "$") {
                    throw .mongo(
                        28822,
                        "includeArrayIndex option to $unwind stage should not be prefixed with a '$': \(name)"
                    )
                }
                _ = try ExpressionPath.components(name)
                index = name
            default: throw .mongo(28811, "unrecognized option to $unwind stage: \(field.key)")
            }
        }
        guard var arguments else { throw .mongo(28812, "no path specified to $unwind stage") }
        arguments.indexField = index
        arguments.preservesEmpty = preserves
        return arguments
    }

    private static func parsePath(_ path: String) throws(ServiceError) -> FieldPath {
        if path.isEmpty { throw .mongo(28812, "no path specified to $unwind stage") }
        if path.utf8.contains(0) {
            throw .mongo(16419, "field path must not contain an embedded null byte")
        }
        guard path.utf8.first == UInt8(ascii: "$") else {
            throw .mongo(28818, "path option to $unwind stage should be prefixed with a '$': \(path)")
        }
        return FieldPath(components: try ExpressionPath.components(Substring(path.utf8.dropFirst())))
    }
}
