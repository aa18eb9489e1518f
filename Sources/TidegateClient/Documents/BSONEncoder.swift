import Foundation

/// Turns `Encodable` values into documents: `Int` becomes a long, `Date` a date, `Data` a binary.
public struct BSONEncoder: Sendable {
    /// An encoder, which has no settings.
    public init() {}

    /// The document of a value.
    ///
    /// - Throws: ``TidegateError`` of the kind `invalidDocument` for what is no document, and what the value throws.
    public func encode(_ value: some Encodable) throws -> Document {
        guard case .document(let document) = try Self.value(of: value, at: []) else {
            throw TidegateError(.invalidDocument, "\(type(of: value)) is not encoded as a document")
        }
        return document
    }

    /// The value of a value, document or not.
    public func encodeValue(_ value: some Encodable) throws -> AnyBSON {
        try Self.value(of: value, at: [])
    }

    fileprivate static func value(of value: some Encodable, at path: [any CodingKey]) throws -> AnyBSON {
        switch value {
        case let value as AnyBSON: return value
        case let value as Document: return .document(value)
        case let value as ObjectId: return .objectId(value)
        case let value as Decimal128: return .decimal128(value)
        case let value as Date: return .datetime(value)
        case let value as Data: return .binary(value)
        case let value as UUID: return .uuid(value)
        case let value as URL: return .string(value.absoluteString)
        default:
            let encoder = ValueEncoder(codingPath: path)
            try value.encode(to: encoder)
            return encoder.box.value
        }
    }
}

/// A place whose value is being put together.
private final class Box {
    private enum Content {
        case nothing
        case single(AnyBSON)
        case fields([(String, Box)])
        case elements([Box])
    }

    private var content = Content.nothing

    init(_ value: AnyBSON? = nil) {
        if let value { content = .single(value) }
    }

    func set(_ value: AnyBSON) { content = .single(value) }

    func beginFields() { if case .fields = content {} else { content = .fields([]) } }

    func beginElements() { if case .elements = content {} else { content = .elements([]) } }

    func add(_ name: String, _ box: Box) {
        guard case .fields(var fields) = content else { return }
        content = .nothing
        fields.append((name, box))
        content = .fields(fields)
    }

    func add(_ box: Box) {
        guard case .elements(var elements) = content else { return }
        content = .nothing
        elements.append(box)
        content = .elements(elements)
    }

    var count: Int { if case .elements(let elements) = content { elements.count } else { 0 } }

    var value: AnyBSON {
        switch content {
        case .nothing: .document(Document())
        case .single(let value): value
        case .fields(let fields): .document(Document(fields.map { ($0.0, $0.1.value) }))
        case .elements(let elements): .array(elements.map(\.value))
        }
    }
}

private struct ValueEncoder: Encoder {
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    var box = Box()

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        box.beginFields()
        return KeyedEncodingContainer(Keyed<Key>(codingPath: codingPath, box: box))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        box.beginElements()
        return Unkeyed(codingPath: codingPath, box: box)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        Single(codingPath: codingPath, box: box)
    }
}

private struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let codingPath: [any CodingKey]
    let box: Box

    func encodeNil(forKey key: Key) { box.add(key.stringValue, Box(.null)) }

    func encode(_ value: some Encodable, forKey key: Key) throws {
        box.add(key.stringValue, Box(try BSONEncoder.value(of: value, at: codingPath + [key])))
    }

    private func nested(_ key: any CodingKey) -> ValueEncoder {
        let inner = Box()
        box.add(key.stringValue, inner)
        return ValueEncoder(codingPath: codingPath + [key], box: inner)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { nested(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        nested(key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { nested(PlainKey("super")) }

    func superEncoder(forKey key: Key) -> any Encoder { nested(key) }
}

private struct Unkeyed: UnkeyedEncodingContainer {
    let codingPath: [any CodingKey]
    let box: Box

    var count: Int { box.count }

    func encodeNil() { box.add(Box(.null)) }

    func encode(_ value: some Encodable) throws {
        box.add(Box(try BSONEncoder.value(of: value, at: codingPath + [PlainKey(count)])))
    }

    private func nested() -> ValueEncoder {
        let inner = Box()
        let path = codingPath + [PlainKey(count)]
        box.add(inner)
        return ValueEncoder(codingPath: path, box: inner)
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        nested().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nested().unkeyedContainer() }

    func superEncoder() -> any Encoder { nested() }
}

private struct Single: SingleValueEncodingContainer {
    let codingPath: [any CodingKey]
    let box: Box

    func encodeNil() { box.set(.null) }
    func encode(_ value: Bool) { box.set(.bool(value)) }
    func encode(_ value: String) { box.set(.string(value)) }
    func encode(_ value: Double) { box.set(.double(value)) }
    func encode(_ value: Float) { box.set(.double(Double(value))) }
    func encode(_ value: Int) { box.set(.int64(Int64(value))) }
    func encode(_ value: Int8) { box.set(.int32(Int32(value))) }
    func encode(_ value: Int16) { box.set(.int32(Int32(value))) }
    func encode(_ value: Int32) { box.set(.int32(value)) }
    func encode(_ value: Int64) { box.set(.int64(value)) }
    func encode(_ value: UInt8) { box.set(.int32(Int32(value))) }
    func encode(_ value: UInt16) { box.set(.int32(Int32(value))) }
    func encode(_ value: UInt32) { box.set(.int64(Int64(value))) }
    func encode(_ value: UInt) throws { try encode(UInt64(value)) }
    func encode(_ value: UInt64) throws {
        guard let whole = Int64(exactly: value) else {
            let context = EncodingError.Context(
                codingPath: codingPath,
                debugDescription: "too large for a long"
            )
            throw EncodingError.invalidValue(value, context)
        }
        box.set(.int64(whole))
    }
    func encode(_ value: some Encodable) throws { box.set(try BSONEncoder.value(of: value, at: codingPath)) }
}

/// A key that no type declares: an index, or `super`.
struct PlainKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ text: String) {
        stringValue = text
        intValue = nil
    }

    init(_ index: Int) {
        stringValue = String(index)
        intValue = index
    }

    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { self.init(intValue) }
}
