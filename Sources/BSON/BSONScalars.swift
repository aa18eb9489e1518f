/// Bytes with a subtype (4 is a UUID).
public struct BSONBinary: Sendable, Hashable {
    /// What the bytes are; from 128 on the application decides.
    public var subtype: UInt8
    /// The content, without the length that subtype 2 repeats.
    public var bytes: [UInt8]

    /// Takes bytes as they are.
    public init(subtype: UInt8, bytes: [UInt8]) {
        self.subtype = subtype
        self.bytes = bytes
    }

    /// The length by which MongoDB orders: subtype 2 has its own length in front of the content.
    var orderedLength: Int { subtype == 2 ? bytes.count + 4 : bytes.count }

    /// The bytes as MongoDB stores them, with the length that subtype 2 repeats.
    public var storedBytes: [UInt8] {
        guard subtype == 2 else { return bytes }
        return withUnsafeBytes(of: UInt32(clamping: bytes.count).littleEndian, Array.init) + bytes
    }
}

/// A pattern with its options, which are kept in alphabetical order.
public struct BSONRegularExpression: Sendable, Hashable {
    /// The pattern, in PCRE's syntax.
    public var pattern: String
    /// One letter each, sorted.
    public var options: String

    /// Sorts the options.
    public init(pattern: String, options: String = "") {
        self.pattern = pattern
        self.options = String(options.sorted())
    }
}

/// Seconds and increment of an operation's time.
public struct BSONTimestamp: Sendable, Hashable {
    /// Seconds since 1970, UTC.
    public var seconds: UInt32
    /// Which operation within the second.
    public var increment: UInt32

    /// Takes both parts.
    public init(seconds: UInt32, increment: UInt32) {
        self.seconds = seconds
        self.increment = increment
    }
}

/// A deprecated reference: namespace and id.
public struct BSONDBPointer: Sendable, Hashable {
    /// Database and collection, joined by a dot.
    public var namespace: String
    /// The document there.
    public var id: ObjectID

    /// Takes both parts.
    public init(namespace: String, id: ObjectID) {
        self.namespace = namespace
        self.id = id
    }
}

/// JavaScript with the variables it sees.
public struct BSONCodeWithScope: Sendable, Hashable {
    /// The source text.
    public var code: String
    /// Names and the values they are bound to.
    public var scope: BSONDocument

    /// Takes both parts.
    public init(code: String, scope: BSONDocument) {
        self.code = code
        self.scope = scope
    }
}
