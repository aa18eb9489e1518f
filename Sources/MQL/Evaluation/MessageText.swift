import BSON

/// Values in error messages: short, so that a message never carries a document back.
enum MessageText {
    /// The most characters of a value in a message.
    private static let maximum = 120

    static func of(_ value: BSONValue?) -> String {
        switch value {
        case nil: "missing"
        case .string(let text): "\"\(shortened(text))\""
        case .bool(let flag): String(flag)
        case .null: "null"
        case .int32, .int64, .double, .decimal128: NumericValue(value)?.text ?? ""
        case .objectID(let id): "ObjectId('\(id.hex)')"
        default: "a value of type \(TypeName.of(value))"
        }
    }

    /// The beginning of a text.
    static func shortened(_ text: String) -> String {
        text.utf8.count <= maximum ? text : "\(text.prefix(maximum))..."
    }
}
