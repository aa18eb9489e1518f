/// A value as a key of sets and dictionaries, by BSON's equality: `1`, `1.0` and `Decimal("1.00")` are one key.
///
/// For grouping, distinct values and `$addToSet`.
public struct BSONKey: Hashable, Sendable {
    /// The value as it was given.
    public let value: BSONValue

    /// Makes a key of any value.
    public init(_ value: BSONValue) {
        self.value = value
    }

    /// Whether the values are equal in ``BSONOrdering``.
    public static func == (left: BSONKey, right: BSONKey) -> Bool {
        BSONOrdering.equal(left.value, right.value)
    }

    /// Feeds what equal values share: the bracket, and for numbers the nearest double.
    public func hash(into hasher: inout Hasher) {
        Self.feed(value, into: &hasher)
    }

    private static func feed(_ value: BSONValue, into hasher: inout Hasher) {
        hasher.combine(BSONOrdering.bracket(value))
        switch value {
        case .double, .int32, .int64, .decimal128:
            let number = value.doubleValue ?? 0
            // One NaN, one zero.
            hasher.combine(number.isNaN ? UInt64.max : (number == 0 ? 0 : number.bitPattern))
        case .string(let text), .code(let text), .symbol(let text): hasher.combine(text)
        case .document(let document):
            feed(document, into: &hasher)
        case .array(let elements):
            hasher.combine(elements.count)
            for element in elements { feed(element, into: &hasher) }
        case .binary(let binary): hasher.combine(binary)
        case .objectID(let id): hasher.combine(id)
        case .bool(let value): hasher.combine(value)
        case .date(let value): hasher.combine(value)
        case .regex(let regex): hasher.combine(regex)
        case .dbPointer(let pointer): hasher.combine(pointer)
        case .codeWithScope(let code):
            hasher.combine(code.code)
            feed(code.scope, into: &hasher)
        case .timestamp(let timestamp): hasher.combine(timestamp)
        case .undefined, .null, .minKey, .maxKey: break
        }
    }

    private static func feed(_ document: BSONDocument, into hasher: inout Hasher) {
        hasher.combine(document.count)
        for field in document.fields {
            hasher.combine(field.key)
            feed(field.value, into: &hasher)
        }
    }
}
