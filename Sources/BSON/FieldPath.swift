/// A dotted path, split: `a.b.0` is `["a", "b", "0"]`.
public struct FieldPath: Sendable, Hashable {
    /// The parts between the dots; empty ones are kept, since each language treats them its own way.
    public let components: [String]

    /// Takes the parts as they are.
    public init(components: [String]) {
        self.components = components
    }

    /// Splits at dots.
    public init(_ dotted: String) {
        components = dotted.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }

    /// The path with its dots.
    public var dotted: String { components.joined(separator: ".") }

    /// The first component, which names the top-level field.
    public var root: String { components[0] }

    /// Whether this is `other` or lies above it.
    public func isPrefix(of other: FieldPath) -> Bool {
        other.components.starts(with: components)
    }
}

extension FieldPath: ExpressibleByStringLiteral {
    /// Splits a literal at dots.
    public init(stringLiteral value: String) { self.init(value) }
}
