/// Bytes with a subtype (4 is a UUID).
public struct BSONBinary: Sendable, Hashable {
    public var subtype: UInt8
    public var bytes: [UInt8]

    public init(subtype: UInt8, bytes: [UInt8]) {
        self.subtype = subtype
        self.bytes = bytes
    }
}

/// A pattern with its options, which are kept in alphabetical order.
public struct BSONRegularExpression: Sendable, Hashable {
    public var pattern: String
    public var options: String

    public init(pattern: String, options: String = "") {
        self.pattern = pattern
        self.options = String(options.sorted())
    }
}

/// Seconds and increment of an operation's time.
public struct BSONTimestamp: Sendable, Hashable {
    public var seconds: UInt32
    public var increment: UInt32

    public init(seconds: UInt32, increment: UInt32) {
        self.seconds = seconds
        self.increment = increment
    }
}

/// A deprecated reference: namespace and id.
public struct BSONDBPointer: Sendable, Hashable {
    public var namespace: String
    public var id: ObjectID

    public init(namespace: String, id: ObjectID) {
        self.namespace = namespace
        self.id = id
    }
}

/// JavaScript with the variables it sees.
public struct BSONCodeWithScope: Sendable, Hashable {
    public var code: String
    public var scope: BSONDocument

    public init(code: String, scope: BSONDocument) {
        self.code = code
        self.scope = scope
    }
}
