/// What can be bound to a statement. Each case is one PostgreSQL type, sent in text form.
public enum SQLValue: Sendable, Hashable {
    /// A null of unknown type; only where the statement's text casts the placeholder.
    case null
    case text(String)
    case bool(Bool)
    case int(Int64)
    case int4(Int32)
    case double(Double)
    /// Digits as PostgreSQL's `numeric` reads them.
    case numeric(String)
    case textArray([String])
    case int4Array([Int32])
    case intArray([Int64])
    /// JSON text, as UTF-8.
    case jsonb([UInt8])
    case jsonbArray([[UInt8]])
    case jsonpath(String)
    case bytes([UInt8])
    /// Milliseconds since 1970, bound as `timestamptz`.
    case timestamp(milliseconds: Int64)
}
