import BSON
import Errors

/// Reads the operand of `$push`: one element, or `$each` with its modifiers.
enum PushParser {
    /// - Throws: ``ServiceError`` with server code 2.
    static func arguments(_ value: BSONValue) throws(ServiceError) -> PushArguments {
        guard case .document(let document) = value, let each = document["$each"] else {
            return PushArguments(elements: [value])
        }
        guard case .array(let elements) = each else {
            throw .mongo(
                .badValue,
                "The argument to $each in $push must be an array but it was of type: \(known: TypeName.of(each))"
            )
        }
        var arguments = PushArguments(elements: elements)
        for field in document {
            switch field.key {
            case "$each": break
            case "$position":
                guard let position = integer(field.value) else {
                    throw .mongo(
                        .badValue,
                        "The value for $position must be an integer value, not of type: \(known: TypeName.of(field.value))"
                    )
                }
                arguments.position = position
            case "$slice":
                guard let slice = integer(field.value) else {
                    throw .mongo(
                        .badValue,
                        "The value for $slice must be an integer value but was given type: \(known: TypeName.of(field.value))"
                    )
                }
                arguments.slice = slice
            case "$sort": arguments.sort = try sort(field.value)
            default:
                throw .mongo(.badValue, "Unrecognized clause in $push: \(field.key)")
            }
        }
        return arguments
    }

    /// An integral number, held within 32 bits: no array is longer.
    private static func integer(_ value: BSONValue) -> Int? {
        value.exactInt64.map { Int(min(max($0, -2_147_483_647), 2_147_483_647)) }
    }

    private static func sort(_ value: BSONValue) throws(ServiceError) -> PushSort {
        switch value {
        case .int32, .int64, .double, .decimal128:
            guard let ascending = direction(value) else {
                throw .mongo(.badValue, "The $sort element value must be either 1 or -1")
            }
            return .value(ascending: ascending)
        case .document(let document):
            if document.isEmpty {
                throw .mongo(.badValue, "The $sort pattern is empty when it should be a set of fields.")
            }
            var keys: [Sort.Key] = []
            for field in document {
                guard let ascending = direction(field.value) else {
                    throw .mongo(.badValue, "The $sort element value must be either 1 or -1")
                }
                let components = field.key.pathComponents
                if components.contains(where: \.isEmpty) {
                    throw .mongo(
                        .badValue,
                        "The $sort field is a dotted field but has an empty part: \(field.key)"
                    )
                }
                keys.append(Sort.Key(path: FieldPath(components: components), ascending: ascending))
            }
            return .fields(Sort(keys: keys))
        default:
            throw .mongo(
                .badValue,
                "The $sort is invalid: use 1/-1 to sort the whole element, or {field:1/-1} to sort embedded fields"
            )
        }
    }

    private static func direction(_ value: BSONValue) -> Bool? {
        switch value.doubleValue {
        case 1: true
        case -1: false
        default: nil
        }
    }
}
