// `BSONEncoder` and `BSONDecoder` know these types; for all other coders they are the text of Extended JSON, an
// ObjectId and a decimal their digits.

/// A value that is one string to coders which do not know it.
private protocol CodedAsText {
    init(codedText: String) throws
    var codedText: String { get }
}

extension CodedAsText {
    init(textFrom decoder: any Decoder) throws {
        try self.init(codedText: try decoder.singleValueContainer().decode(String.self))
    }

    func encodeText(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(codedText)
    }
}

extension AnyBSON: Codable, CodedAsText {
    fileprivate init(codedText: String) throws { self = try ExtendedJSONReader.read(Array(codedText.utf8)) }
    fileprivate var codedText: String { extendedJSON }

    /// Reads the text of Extended JSON.
    public init(from decoder: any Decoder) throws { try self.init(textFrom: decoder) }
    /// Writes the text of canonical Extended JSON.
    public func encode(to encoder: any Encoder) throws { try encodeText(to: encoder) }
}

extension Document: Codable, CodedAsText {
    fileprivate init(codedText: String) throws { try self.init(extendedJSON: codedText) }
    fileprivate var codedText: String { extendedJSON }

    /// Reads the text of Extended JSON.
    public init(from decoder: any Decoder) throws { try self.init(textFrom: decoder) }
    /// Writes the text of canonical Extended JSON.
    public func encode(to encoder: any Encoder) throws { try encodeText(to: encoder) }
}

extension ObjectId: Codable, CodedAsText {
    fileprivate init(codedText: String) throws { try self.init(string: codedText) }
    fileprivate var codedText: String { stringValue }

    /// Reads 24 hexadecimal digits.
    public init(from decoder: any Decoder) throws { try self.init(textFrom: decoder) }
    /// Writes 24 hexadecimal digits.
    public func encode(to encoder: any Encoder) throws { try encodeText(to: encoder) }
}

extension Decimal128: Codable, CodedAsText {
    fileprivate init(codedText: String) throws { self.init(codedText) }
    fileprivate var codedText: String { description }

    /// Reads a number's text.
    public init(from decoder: any Decoder) throws { try self.init(textFrom: decoder) }
    /// Writes the number's text.
    public func encode(to encoder: any Encoder) throws { try encodeText(to: encoder) }
}
