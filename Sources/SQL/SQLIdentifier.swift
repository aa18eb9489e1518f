/// A quoted name, possibly with a schema in front.
public struct SQLIdentifier: Sendable, Hashable {
    /// Schema and name, or the name alone.
    public let components: [String]

    public init(_ name: String) {
        components = [name]
    }

    public init(schema: String, _ name: String) {
        components = [schema, name]
    }

    /// The SQL text: `"schema"."name"`, quotes doubled. NUL, which PostgreSQL cannot hold, is dropped;
    /// callers refuse such names before.
    public var quoted: String {
        components.map { component in
            "\"" + component.filter { $0 != "\0" }.replacing("\"", with: "\"\"") + "\""
        }.joined(separator: ".")
    }
}
