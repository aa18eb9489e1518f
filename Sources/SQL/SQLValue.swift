/// What can be bound to a statement.
///
/// Each case is one PostgreSQL type.
public enum SQLValue: Sendable, Hashable {
    /// A null of unknown type; only where the statement's text casts the placeholder.
    case null
    /// `text`; NUL is refused by the server.
    case text(String)
    /// `boolean`.
    case bool(Bool)
    /// `bigint`.
    case int(Int64)
    /// `integer`.
    case int4(Int32)
    /// `double precision`, with infinities and NaN.
    case double(Double)
    /// Digits as PostgreSQL's `numeric` reads them.
    case numeric(String)
    /// `text[]`, without null elements.
    case textArray([String])
    /// `integer[]`.
    case int4Array([Int32])
    /// `bigint[]`.
    case intArray([Int64])
    /// `jsonb`: JSON text, as UTF-8.
    case jsonb([UInt8])
    /// `jsonb[]`, each as JSON text.
    case jsonbArray([[UInt8]])
    /// `jsonpath`: a path's text.
    case jsonpath(String)
    /// `bytea`.
    case bytes([UInt8])
    /// Milliseconds since 1970, bound as `timestamptz`.
    case timestamp(milliseconds: Int64)
}

extension SQLValue {
    static func isSame(_ left: String, _ right: String) -> Bool {
        left.utf8.count == right.utf8.count && left.utf8.elementsEqual(right.utf8)
    }

    /// Whether both bind the same bytes; Swift's own comparison would call two spellings of a text one.
    public static func == (left: SQLValue, right: SQLValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.text(let one), .text(let other)), (.numeric(let one), .numeric(let other)),
            (.jsonpath(let one), .jsonpath(let other)):
            isSame(one, other)
        case (.bool(let one), .bool(let other)): one == other
        case (.int(let one), .int(let other)): one == other
        case (.int4(let one), .int4(let other)): one == other
        case (.double(let one), .double(let other)): one == other
        case (.textArray(let one), .textArray(let other)):
            one.count == other.count && zip(one, other).allSatisfy(isSame)
        case (.int4Array(let one), .int4Array(let other)): one == other
        case (.intArray(let one), .intArray(let other)): one == other
        case (.jsonb(let one), .jsonb(let other)), (.bytes(let one), .bytes(let other)): one == other
        case (.jsonbArray(let one), .jsonbArray(let other)): one == other
        case (.timestamp(let one), .timestamp(let other)): one == other
        default: false
        }
    }
}
