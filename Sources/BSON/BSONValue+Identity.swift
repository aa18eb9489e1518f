extension BSONValue: Hashable {
    /// Whether both have the same type and the same bits.
    public static func == (left: BSONValue, right: BSONValue) -> Bool {
        switch (left, right) {
        case (.double(let left), .double(let right)): left.bitPattern == right.bitPattern
        case (.string(let left), .string(let right)): TextOrder.equal(left, right)
        case (.document(let left), .document(let right)): left == right
        case (.array(let left), .array(let right)): left == right
        case (.binary(let left), .binary(let right)): left == right
        case (.undefined, .undefined): true
        case (.objectID(let left), .objectID(let right)): left == right
        case (.bool(let left), .bool(let right)): left == right
        case (.date(let left), .date(let right)): left == right
        case (.null, .null): true
        case (.regex(let left), .regex(let right)):
            TextOrder.equal(left.pattern, right.pattern) && TextOrder.equal(left.options, right.options)
        case (.dbPointer(let left), .dbPointer(let right)):
            TextOrder.equal(left.namespace, right.namespace) && left.id == right.id
        case (.code(let left), .code(let right)): TextOrder.equal(left, right)
        case (.symbol(let left), .symbol(let right)): TextOrder.equal(left, right)
        case (.codeWithScope(let left), .codeWithScope(let right)):
            TextOrder.equal(left.code, right.code) && left.scope == right.scope
        case (.int32(let left), .int32(let right)): left == right
        case (.timestamp(let left), .timestamp(let right)): left == right
        case (.int64(let left), .int64(let right)): left == right
        case (.decimal128(let left), .decimal128(let right)): left == right
        case (.minKey, .minKey): true
        case (.maxKey, .maxKey): true
        default: false
        }
    }

    /// Feeds the type and the bits; texts that are canonically equivalent may share a hash.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(type)
        switch self {
        case .double(let value): hasher.combine(value.bitPattern)
        case .string(let value), .code(let value), .symbol(let value): hasher.combine(value)
        case .document(let value): hasher.combine(value)
        case .array(let value): hasher.combine(value)
        case .binary(let value): hasher.combine(value)
        case .objectID(let value): hasher.combine(value)
        case .bool(let value): hasher.combine(value)
        case .date(let value), .int64(let value): hasher.combine(value)
        case .regex(let value): hasher.combine(value)
        case .dbPointer(let value): hasher.combine(value)
        case .codeWithScope(let value): hasher.combine(value)
        case .int32(let value): hasher.combine(value)
        case .timestamp(let value): hasher.combine(value)
        case .decimal128(let value): hasher.combine(value)
        case .undefined, .null, .minKey, .maxKey: break
        }
    }
}

extension BSONDocument.Field: Hashable {
    /// Whether key and value are the same, the key by its bytes.
    public static func == (left: BSONDocument.Field, right: BSONDocument.Field) -> Bool {
        TextOrder.equal(left.key, right.key) && left.value == right.value
    }

    /// Feeds key and value.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(key)
        hasher.combine(value)
    }
}
