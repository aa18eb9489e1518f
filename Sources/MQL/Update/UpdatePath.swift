public import BSON

/// A path of an update, whose array steps may be `$`, `$[]` or `$[id]`.
public struct UpdatePath: Sendable, Hashable {
    /// One part between dots.
    public enum Component: Sendable, Hashable {
        /// A field's name, or an array index when the value there is an array.
        case name(String)
        /// `$`
        case matched
        /// `$[]`
        case all
        /// `$[identifier]`
        case filtered(String)

        /// Whether both were written with the same bytes.
        public static func == (left: Component, right: Component) -> Bool {
            switch (left, right) {
            case (.name(let one), .name(let other)), (.filtered(let one), .filtered(let other)):
                TextOrder.equal(one, other)
            case (.matched, .matched), (.all, .all): true
            default: false
            }
        }

        /// Feeds the text's bytes.
        public func hash(into hasher: inout Hasher) {
            ByteText(text).hash(into: &hasher)
        }
    }

    /// The parts, outermost first.
    public let components: [Component]

    /// Made of its parts.
    public init(components: [Component]) {
        self.components = components
    }

    /// The plain path, when no component is positional.
    public var literal: FieldPath? {
        var names: [String] = []
        for component in components {
            guard case .name(let name) = component else { return nil }
            names.append(name)
        }
        return FieldPath(components: names)
    }

    /// The path as it was written.
    public var text: String { components.map(\.text).joined(separator: ".") }

    /// Whether a component is `$`, `$[]` or `$[id]`.
    public var isPositional: Bool {
        components.contains { if case .name = $0 { false } else { true } }
    }
}

extension UpdatePath.Component {
    /// The component as it was written.
    public var text: String {
        switch self {
        case .name(let name): name
        case .matched: "$"
        case .all: "$[]"
        case .filtered(let identifier): "$[\(identifier)]"
        }
    }
}
