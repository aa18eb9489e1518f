/// A quoted name, possibly with a schema in front.
public struct SQLIdentifier: Sendable, Hashable {
    /// Schema and name, or the name alone.
    public let components: [String]
    /// The SQL text: `"schema"."name"`, quotes doubled.
    ///
    /// NUL, which PostgreSQL cannot hold, is dropped; callers refuse such names before.
    public let quoted: String

    /// A name on its own: a column, a channel, a table on the search path.
    public init(_ name: String) {
        self.init(components: [name])
    }

    /// A name in a schema.
    public init(schema: String, _ name: String) {
        self.init(components: [schema, name])
    }

    private init(components: [String]) {
        self.components = components
        var text: [UInt8] = []
        for component in components {
            if !text.isEmpty { text.append(UInt8(ascii: ".")) }
            text.append(UInt8(ascii: "\""))
            for byte in component.utf8 where byte != 0 {
                if byte == UInt8(ascii: "\"") { text.append(byte) }
                text.append(byte)
            }
            text.append(UInt8(ascii: "\""))
        }
        quoted = String(decoding: text, as: UTF8.self)
    }
}
