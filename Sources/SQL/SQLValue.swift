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
