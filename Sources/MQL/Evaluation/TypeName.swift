import BSON

/// Names of types as MongoDB's messages write them.
enum TypeName {
    /// `int`, `string`, … or `missing`.
    static func of(_ value: BSONValue?) -> String {
        switch value {
        case nil: "missing"
        case .double: "double"
        case .string: "string"
        case .document: "object"
        case .array: "array"
        case .binary: "binData"
        case .undefined: "undefined"
        case .objectID: "objectId"
        case .bool: "bool"
        case .date: "date"
        case .null: "null"
        case .regex: "regex"
        case .dbPointer: "dbPointer"
        case .code: "javascript"
        case .symbol: "symbol"
        case .codeWithScope: "javascriptWithScope"
        case .int32: "int"
        case .timestamp: "timestamp"
        case .int64: "long"
        case .decimal128: "decimal"
        case .minKey: "minKey"
        case .maxKey: "maxKey"
        }
    }
}
