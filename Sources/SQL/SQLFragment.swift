/// SQL text with its binds: the only form in which a statement exists before it is sent.
///
/// Shape: `"SELECT doc FROM \(table) WHERE _id = \(bind: .text(key))"`. A literal is program text;
/// an interpolated value becomes a placeholder; an ``SQLIdentifier`` is quoted. There is no way to
/// interpolate a run-time `String` as text, so nothing from a caller can become SQL.
public struct SQLFragment: Sendable, Hashable {
    enum Part: Sendable, Hashable {
        case text(String)
        case bind(SQLValue)
    }

    var parts: [Part]

    /// The empty fragment.
    public init() {
        parts = []
    }

    init(parts: [Part]) {
        self.parts = parts
    }

    /// Whether there is neither text nor a bind.
    public var isEmpty: Bool { parts.isEmpty }

    /// Appends another fragment.
    public static func += (left: inout SQLFragment, right: SQLFragment) {
        for part in right.parts {
            if case .text(let text) = part, case .text(let last)? = left.parts.last {
                left.parts[left.parts.count - 1] = .text(last + text)
            } else {
                left.parts.append(part)
            }
        }
    }

    /// One fragment after the other.
    public static func + (left: SQLFragment, right: SQLFragment) -> SQLFragment {
        var sum = left
        sum += right
        return sum
    }

    /// One bind on its own.
    public static func bind(_ value: SQLValue) -> SQLFragment {
        SQLFragment(parts: [.bind(value)])
    }

    /// Fragments with a literal between them.
    public static func joined(_ fragments: [SQLFragment], separator: StaticString) -> SQLFragment {
        var result = SQLFragment()
        for (index, fragment) in fragments.enumerated() {
            if index > 0 { result += SQLFragment(parts: [.text("\(separator)")]) }
            result += fragment
        }
        return result
    }

    /// The text with numbered placeholders, and the binds in their order.
    public func rendered() -> (text: String, binds: [SQLValue]) {
        var text = ""
        text.reserveCapacity(512)
        var binds: [SQLValue] = []
        binds.reserveCapacity(parts.count / 2)
        for part in parts {
            switch part {
            case .text(let literal): text += literal
            case .bind(let value):
                binds.append(value)
                text += "$\(binds.count)"
            }
        }
        return (text, binds)
    }
}

extension SQLFragment: ExpressibleByStringInterpolation {
    /// Collects literals, binds, identifiers and nested fragments.
    public struct StringInterpolation: StringInterpolationProtocol {
        var fragment = SQLFragment()

        /// Called by the compiler; the capacities are estimates of no use here.
        public init(literalCapacity: Int, interpolationCount: Int) {}

        /// Program text between interpolations.
        public mutating func appendLiteral(_ literal: String) {
            guard !literal.isEmpty else { return }
            fragment += SQLFragment(parts: [.text(literal)])
        }

        /// A value that travels as a bind.
        public mutating func appendInterpolation(bind value: SQLValue) {
            fragment += .bind(value)
        }

        /// A quoted name.
        public mutating func appendInterpolation(_ identifier: SQLIdentifier) {
            fragment += SQLFragment(parts: [.text(identifier.quoted)])
        }

        /// A nested fragment with its own binds.
        public mutating func appendInterpolation(_ nested: SQLFragment) {
            fragment += nested
        }
    }

    /// Called by the compiler for a literal; a test refuses explicit calls in the sources.
    public init(stringLiteral value: String) {
        self.init(parts: [.text(value)])
    }

    /// Called by the compiler for a literal with interpolations.
    public init(stringInterpolation: StringInterpolation) {
        self = stringInterpolation.fragment
    }
}
