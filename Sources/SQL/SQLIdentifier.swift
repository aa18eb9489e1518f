/// A quoted name, possibly with a schema in front.
public struct SQLIdentifier: Sendable, Hashable {
    /// Schema and name, or the name alone.
    public let components: [String]

    /// A name on its own: a column, a channel, a table on the search path.
    public init(_ name: String) {
        components = [name]
    }

    /// A name in a schema.
    public init(schema: String, _ name: String) {
        components = [schema, name]
    }

    /// The SQL text: `"schema"."name"`, quotes doubled.
    ///
    /// NUL, which PostgreSQL cannot hold, is dropped; callers refuse such names before.
    public var quoted: String {
        components.map { component in
            "\"" + component.filter { $0 != "\0" }.replacing("\"", with: "\"\"") + "\""
        }.joined(separator: ".")
    }
}
