public import BSON

extension ObjectKey {
    /// The key that an `_id` is to devices; nil when no device can have it.
    public init?(_ value: BSONValue) {
        switch value {
        case .null: self = .null
        case .int32(let number): self = .int(Int64(number))
        case .int64(let number): self = .int(number)
        case .string(let text): self = .string(ByteText(text))
        case .objectID(let id): self = .objectID(id)
        case .binary(let binary) where binary.subtype == 4:
            guard let uuid = UUIDBytes(binary.bytes) else { return nil }
            self = .uuid(uuid)
        default: return nil
        }
    }

    /// The `_id`, with integers as wide as the class has them.
    public func bsonValue(_ type: SyncType) -> BSONValue {
        switch self {
        case .null: .null
        case .int(let number): type == .int ? BSONValue(narrowing: number) : .int64(number)
        case .string(let text): .string(text.text)
        case .objectID(let id): .objectID(id)
        case .uuid(let uuid): .binary(BSONBinary(subtype: 4, bytes: uuid.bytes))
        }
    }

    /// The type of the key; null is of any.
    var kind: Payload.Kind {
        switch self {
        case .null: .null
        case .int: .int
        case .string: .string
        case .objectID: .objectID
        case .uuid: .uuid
        }
    }

    /// How a key stands in reasons and log entries.
    ///
    /// Source: `sync-semantics.md` §6.5.
    public enum Printing: Sendable, Hashable {
        /// As the pages of the SDKs show it: bare.
        case bare
        /// As newer servers wrote it: `ObjectID("…")`, `"text"`, `UUID(…)`.
        case typed
    }

    /// The key for people; ``Printing/bare`` where nobody asks for another.
    public func text(_ printing: Printing = .bare) -> String {
        switch (self, printing) {
        case (.null, _): "null"
        case (.int(let number), _): String(number)
        case (.string(let text), .bare): text.text
        case (.string(let text), .typed): "\"\(text.text)\""
        case (.objectID(let id), .bare): id.hex
        case (.objectID(let id), .typed): "ObjectID(\"\(id.hex)\")"
        case (.uuid(let uuid), .bare): uuid.text
        case (.uuid(let uuid), .typed): "UUID(\(uuid.text))"
        }
    }
}

extension UUIDBytes {
    /// 8-4-4-4-12 lower-case hexadecimal digits.
    public var text: String {
        let digits = Array("0123456789abcdef".utf8)
        var out: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            if index == 4 || index == 6 || index == 8 || index == 10 { out.append(UInt8(ascii: "-")) }
            out.append(digits[Int(byte >> 4)])
            out.append(digits[Int(byte & 15)])
        }
        return String(decoding: out, as: UTF8.self)
    }
}

extension BSONValue {
    /// An int32 where it fits, an int64 otherwise.
    init(narrowing number: Int64) {
        self = Int32(exactly: number).map { .int32($0) } ?? .int64(number)
    }
}
