extension BSONType {
    /// The name by which `$type` and error messages call it, for example `binData`.
    public var alias: String {
        switch self {
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

    /// The type of an alias, which is case-sensitive; `number` names four types and is not one of them.
    public init?(alias: String) {
        guard let type = Self.allCases.first(where: { $0.alias == alias }) else { return nil }
        self = type
    }
}

extension BSONValue {
    /// Which type of the specification this is.
    public var type: BSONType {
        switch self {
        case .double: .double
        case .string: .string
        case .document: .document
        case .array: .array
        case .binary: .binary
        case .undefined: .undefined
        case .objectID: .objectID
        case .bool: .bool
        case .date: .date
        case .null: .null
        case .regex: .regex
        case .dbPointer: .dbPointer
        case .code: .code
        case .symbol: .symbol
        case .codeWithScope: .codeWithScope
        case .int32: .int32
        case .timestamp: .timestamp
        case .int64: .int64
        case .decimal128: .decimal128
        case .minKey: .minKey
        case .maxKey: .maxKey
        }
    }
}
