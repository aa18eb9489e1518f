import Foundation

/// Makes `Decodable` values of documents; numbers fit any numeric type that holds them.
public struct BSONDecoder: Sendable {
    /// A decoder, which has no settings.
    public init() {}

    /// The value of a document.
    ///
    /// - Throws: `DecodingError`.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self, from document: Document) throws
        -> Value
    {
        try Self.decode(type, .document(document), [])
    }

    /// The value of a value, document or not.
    public func decodeValue<Value: Decodable>(_ type: Value.Type = Value.self, from value: AnyBSON) throws
        -> Value
    {
        try Self.decode(type, value, [])
    }

    fileprivate static func decode<Value: Decodable>(
        _ type: Value.Type,
        _ value: AnyBSON,
        _ path: [any CodingKey]
    ) throws -> Value {
        let known: Any? =
            switch (type, value) {
            case (is AnyBSON.Type, _): value
            case (is Document.Type, .document(let document)): document
            case (is ObjectId.Type, .objectId(let id)): id
            case (is Decimal128.Type, .decimal128(let number)): number
            case (is Date.Type, .datetime(let date)): date
            case (is Data.Type, .binary(let data)): data
            case (is UUID.Type, .uuid(let uuid)): uuid
            case (is URL.Type, .string(let text)): URL(string: text)
            default: nil
            }
        if let known = known as? Value { return known }
        if type is any Leaf.Type { throw mismatch(type, value, path) }
        return try Value(from: ValueDecoder(value: value, codingPath: path))
    }

    fileprivate static func mismatch(
        _ type: Any.Type,
        _ value: AnyBSON,
        _ path: [any CodingKey]
    ) -> DecodingError {
        .typeMismatch(
            type,
            .init(codingPath: path, debugDescription: "the document holds \(value.extendedJSON.prefix(80))")
        )
    }
}

/// Types that no other coder's form stands for.
private protocol Leaf {}
extension ObjectId: Leaf {}
extension Decimal128: Leaf {}
extension Document: Leaf {}
extension Date: Leaf {}
extension Data: Leaf {}
extension UUID: Leaf {}

private struct ValueDecoder: Decoder {
    let value: AnyBSON
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .document(let document) = value else {
            throw BSONDecoder.mismatch([String: Any].self, value, codingPath)
        }
        return KeyedDecodingContainer(Keyed<Key>(document: document, codingPath: codingPath))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = value else {
            throw BSONDecoder.mismatch([Any].self, value, codingPath)
        }
        return Unkeyed(elements: elements, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer {
        Single(value: value, codingPath: codingPath)
    }
}

private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let document: Document
    let codingPath: [any CodingKey]

    var allKeys: [Key] { document.fields.compactMap { Key(stringValue: $0.name) } }

    func contains(_ key: Key) -> Bool { document[key.stringValue] != nil }

    private func value(_ key: any CodingKey) throws -> AnyBSON {
        guard let value = document[key.stringValue] else {
            throw DecodingError.keyNotFound(
                key,
                .init(codingPath: codingPath, debugDescription: "the document has no '\(key.stringValue)'")
            )
        }
        return value
    }

    func decodeNil(forKey key: Key) throws -> Bool { try value(key) == .null }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try BSONDecoder.decode(type, try value(key), codingPath + [key])
    }

    private func nested(_ key: any CodingKey) throws -> ValueDecoder {
        ValueDecoder(value: try value(key), codingPath: codingPath + [key])
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { try nested(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try nested(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { try nested(PlainKey("super")) }

    func superDecoder(forKey key: Key) throws -> any Decoder { try nested(key) }
}

private struct Unkeyed: UnkeyedDecodingContainer {
    let elements: [AnyBSON]
    let codingPath: [any CodingKey]
    var currentIndex = 0

    init(elements: [AnyBSON], codingPath: [any CodingKey]) {
        self.elements = elements
        self.codingPath = codingPath
    }

    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    private mutating func next() throws -> ValueDecoder {
        let path = codingPath + [PlainKey(currentIndex)]
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                AnyBSON.self,
                .init(codingPath: path, debugDescription: "the array has no more elements")
            )
        }
        defer { currentIndex += 1 }
        return ValueDecoder(value: elements[currentIndex], codingPath: path)
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, elements[currentIndex] == .null else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let next = try next()
        return try BSONDecoder.decode(type, next.value, next.codingPath)
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> { try next().container(keyedBy: type) }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next().unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder { try next() }
}

private struct Single: SingleValueDecodingContainer {
    let value: AnyBSON
    let codingPath: [any CodingKey]

    func decodeNil() -> Bool { value == .null }

    func decode(_ type: Bool.Type) throws -> Bool {
        guard case .bool(let flag) = value else { throw BSONDecoder.mismatch(type, value, codingPath) }
        return flag
    }

    func decode(_ type: String.Type) throws -> String {
        guard case .string(let text) = value else { throw BSONDecoder.mismatch(type, value, codingPath) }
        return text
    }

    func decode(_ type: Double.Type) throws -> Double {
        switch value {
        case .double(let number): return number
        case .int32(let number): return Double(number)
        case .int64(let number): return Double(number)
        default: throw BSONDecoder.mismatch(type, value, codingPath)
        }
    }

    func decode(_ type: Float.Type) throws -> Float { Float(try decode(Double.self)) }
    func decode(_ type: Int.Type) throws -> Int { try whole(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try whole(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try whole(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try whole(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try whole(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try whole(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try whole(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try whole(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try whole(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try whole(type) }

    private func whole<Number: FixedWidthInteger>(_ type: Number.Type) throws -> Number {
        guard let whole = value.asInt.flatMap({ Number(exactly: $0) }) else {
            throw BSONDecoder.mismatch(type, value, codingPath)
        }
        return whole
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try BSONDecoder.decode(type, value, codingPath)
    }
}
