/// A dotted path, split: `a.b.0` is `["a", "b", "0"]`.
///
/// Paths are equal when their bytes are: the two spellings of `é` name two fields.
public struct FieldPath: Sendable, Hashable {
    /// The parts between the dots; empty ones are kept, since each language treats them its own way.
    public let components: [String]

    /// Takes the parts as they are.
    public init(components: [String]) {
        self.components = components
    }

    /// Splits at dots: at each byte, since a dot before a combining mark is no `Character` of its own.
    public init(_ dotted: String) {
        components = dotted.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
    }

    /// The path with its dots.
    public var dotted: String { components.joined(separator: ".") }

    /// The first component, which names the top-level field.
    public var root: String { components[0] }

    /// Whether this is `other` or lies above it.
    public func isPrefix(of other: FieldPath) -> Bool {
        components.count <= other.components.count
            && zip(components, other.components).allSatisfy { TextOrder.equal($0, $1) }
    }

    /// Whether both have the same components, byte by byte.
    public static func == (left: FieldPath, right: FieldPath) -> Bool {
        left.components.count == right.components.count && left.isPrefix(of: right)
    }

    /// Feeds the components' bytes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(components.count)
        for component in components { ByteText(component).hash(into: &hasher) }
    }
}

extension FieldPath: ExpressibleByStringLiteral {
    /// Splits a literal at dots.
    public init(stringLiteral value: String) { self.init(value) }
}
