/// SQL text with its binds: the only form in which a statement exists before it is sent.
///
/// Shape: `"SELECT doc FROM \(table) WHERE _id = \(bind: .text(key))"`. A literal is program text;
/// an interpolated value becomes a placeholder; an ``SQLIdentifier`` is quoted. There is no way to
/// interpolate a run-time `String` as text, so nothing from a caller can become SQL.
public struct SQLFragment: Sendable {
    /// The text as UTF-8, with ``placeholder`` for each bind: nesting fragments is copying bytes, and the
    /// numbers that a bind's place gives it are written only where the server reads the text.
    public private(set) var template: [UInt8]
    /// The binds, in the order of their places.
    public private(set) var binds: [SQLValue]

    /// Stands for a bind in ``template``; SQL text cannot hold NUL, and identifiers drop it.
    public static let placeholder: UInt8 = 0

    /// The empty fragment.
    public init() {
        template = []
        binds = []
    }

    private init(template: [UInt8], binds: [SQLValue] = []) {
        self.template = template
        self.binds = binds
    }

    /// Whether there is neither text nor a bind.
    public var isEmpty: Bool { template.isEmpty }

    /// An empty fragment with room.
    ///
    /// - Parameters:
    ///   - bytes: About how long its text will be.
    ///   - count: About how many binds it will have.
    public init(room bytes: Int, binds count: Int = 0) {
        self.init()
        template.reserveCapacity(bytes)
        binds.reserveCapacity(count)
    }

    /// Appends program text.
    public mutating func append(_ literal: StaticString) {
        literal.withUTF8Buffer { template.append(contentsOf: $0) }
    }

    /// Appends a quoted name.
    public mutating func append(_ identifier: SQLIdentifier) {
        template.append(contentsOf: identifier.quoted.utf8)
    }

    /// Appends another fragment.
    public static func += (left: inout SQLFragment, right: SQLFragment) {
        left.template.append(contentsOf: right.template)
        if !right.binds.isEmpty { left.binds.append(contentsOf: right.binds) }
    }

    /// One fragment after the other.
    public static func + (left: SQLFragment, right: SQLFragment) -> SQLFragment {
        var sum = left
        sum += right
        return sum
    }

    /// One bind on its own.
    public static func bind(_ value: SQLValue) -> SQLFragment {
        SQLFragment(template: [placeholder], binds: [value])
    }

    /// Fragments with a literal between them.
    public static func joined(_ fragments: [SQLFragment], separator: StaticString) -> SQLFragment {
        if fragments.count == 1 { return fragments[0] }
        var result = SQLFragment(
            room: fragments.reduce(0) { $0 + $1.template.count + separator.utf8CodeUnitCount },
            binds: fragments.reduce(0) { $0 + $1.binds.count }
        )
        for (index, fragment) in fragments.enumerated() {
            if index > 0 { result.append(separator) }
            result += fragment
        }
        return result
    }

    /// The text with numbered placeholders, and the binds in their order.
    public func rendered() -> (text: String, binds: [SQLValue]) {
        (Self.text(of: template), binds)
    }

    /// The text of a template, with numbered placeholders.
    public static func text(of template: [UInt8]) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(template.count + 64)
        var number = 0
        for byte in template {
            if byte == placeholder {
                number += 1
                bytes.append(UInt8(ascii: "$"))
                bytes.append(contentsOf: String(number).utf8)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension SQLFragment: Hashable {
    /// Equal text and equal binds.
    public static func == (left: SQLFragment, right: SQLFragment) -> Bool {
        left.template == right.template && left.binds == right.binds
    }

    /// By the text alone: what differs in binds only is rare.
    public func hash(into hasher: inout Hasher) {
        template.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}

extension SQLFragment: ExpressibleByStringInterpolation {
    /// Collects literals, binds, identifiers and nested fragments.
    public struct StringInterpolation: StringInterpolationProtocol {
        var fragment = SQLFragment()

        /// Called by the compiler with estimates.
        public init(literalCapacity: Int, interpolationCount: Int) {
            fragment.template.reserveCapacity(literalCapacity + 16 * interpolationCount)
        }

        /// Program text between interpolations.
        public mutating func appendLiteral(_ literal: String) {
            fragment.template.append(contentsOf: literal.utf8)
        }

        /// A value that travels as a bind.
        public mutating func appendInterpolation(bind value: SQLValue) {
            fragment.template.append(SQLFragment.placeholder)
            fragment.binds.append(value)
        }

        /// A quoted name.
        public mutating func appendInterpolation(_ identifier: SQLIdentifier) {
            fragment.template.append(contentsOf: identifier.quoted.utf8)
        }

        /// A nested fragment with its own binds.
        public mutating func appendInterpolation(_ nested: SQLFragment) {
            fragment += nested
        }
    }

    /// Called by the compiler for a literal; a test refuses explicit calls in the sources.
    public init(stringLiteral value: String) {
        self.init(template: Array(value.utf8))
    }

    /// Called by the compiler for a literal with interpolations.
    public init(stringInterpolation: StringInterpolation) {
        self = stringInterpolation.fragment
    }
}
