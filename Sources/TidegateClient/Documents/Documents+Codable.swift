// `BSONEncoder` and `BSONDecoder` know these types; for all other coders they are the text of Extended JSON, an
// ObjectId and a decimal their digits.

extension AnyBSON: Codable {
    /// Reads the text of Extended JSON.
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        self = try ExtendedJSONReader.read(Array(text.utf8))
    }

    /// Writes the text of canonical Extended JSON.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(extendedJSON)
    }
}

extension Document: Codable {
    /// Reads the text of Extended JSON.
    public init(from decoder: any Decoder) throws {
        try self.init(extendedJSON: try decoder.singleValueContainer().decode(String.self))
    }

    /// Writes the text of canonical Extended JSON.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(extendedJSON)
    }
}

extension ObjectId: Codable {
    /// Reads 24 hexadecimal digits.
    public init(from decoder: any Decoder) throws {
        try self.init(string: try decoder.singleValueContainer().decode(String.self))
    }

    /// Writes 24 hexadecimal digits.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(stringValue)
    }
}

extension Decimal128: Codable {
    /// Reads a number's text.
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    /// Writes the number's text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
