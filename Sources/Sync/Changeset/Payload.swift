public import BSON

/// A value in a changeset.
///
/// Source: `realm-sync-protocol.md` §6.2.
public enum Payload: Sendable, Hashable {
    case null
    case int(Int64)
    case bool(Bool)
    case string(ByteText)
    case binary([UInt8])
    case timestamp(SyncTimestamp)
    /// The bits of a float; NaN equals itself.
    case float(UInt32)
    /// The bits of a double; NaN equals itself.
    case double(UInt64)
    case decimal(Decimal128)
    case link(ObjectAddress)
    case objectID(ObjectID)
    case uuid(UUIDBytes)
    /// An embedded object begins to exist here.
    case objectValue
    /// A dictionary begins to exist here, in a mixed value.
    case dictionary
    /// The key of a dictionary goes away.
    case erased
    /// A list begins to exist here, in a mixed value.
    case list
    /// A set begins to exist here, in a mixed value.
    case set

    /// The number that tells the types apart on the wire.
    public enum Kind: Int64, Sendable, Hashable, CaseIterable {
        /// As the type of a column: mixed.
        case null = 0
        case int = 1
        case bool = 2
        case string = 3
        case binary = 4
        case timestamp = 5
        case float = 6
        case double = 7
        case decimal = 8
        case link = 9
        case objectID = 10
        case uuid = 11
        case objectValue = -2
        case dictionary = -3
        case erased = -4
        case list = -5
        case set = -6
    }

    /// The type.
    public var kind: Kind {
        switch self {
        case .null: .null
        case .int: .int
        case .bool: .bool
        case .string: .string
        case .binary: .binary
        case .timestamp: .timestamp
        case .float: .float
        case .double: .double
        case .decimal: .decimal
        case .link: .link
        case .objectID: .objectID
        case .uuid: .uuid
        case .objectValue: .objectValue
        case .dictionary: .dictionary
        case .erased: .erased
        case .list: .list
        case .set: .set
        }
    }
}

/// A point in time; before 1970 both parts are negative or zero.
public struct SyncTimestamp: Sendable, Hashable {
    /// Since 1970-01-01T00:00:00Z.
    public let seconds: Int64
    /// Of the same sign, below 10^9 in size.
    public let nanoseconds: Int32

    /// Both parts; nil when the signs differ or there are too many nanoseconds.
    public init?(seconds: Int64, nanoseconds: Int64) {
        guard (-999_999_999...999_999_999).contains(nanoseconds),
            !(seconds > 0 && nanoseconds < 0), !(seconds < 0 && nanoseconds > 0)
        else { return nil }
        self.seconds = seconds
        self.nanoseconds = Int32(nanoseconds)
    }

    /// Milliseconds since 1970, as documents hold dates.
    public init(milliseconds: Int64) {
        seconds = milliseconds / 1000
        nanoseconds = Int32(milliseconds % 1000) * 1_000_000
    }

    /// Milliseconds since 1970, towards zero, and held at the ends of 64 bits.
    public var milliseconds: Int64 {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        let rest = Int64(nanoseconds / 1_000_000)
        let sum = product.addingReportingOverflow(rest)
        if overflow || sum.overflow { return seconds < 0 ? .min : .max }
        return sum.partialValue
    }
}
