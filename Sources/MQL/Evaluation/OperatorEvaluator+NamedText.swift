import BSON
import Errors

/// The operands of an operator by name, each evaluated when asked for.
struct NamedOperands {
    let evaluator: OperatorEvaluator
    let operands: [NamedExpression]

    /// Whether the operand was written at all.
    func has(_ name: String) -> Bool { operands.contains { $0.name == name } }

    /// Whether the operand is the same for every document.
    func isConstant(_ name: String) -> Bool {
        operands.first { $0.name == name }?.expression.isConstant ?? false
    }

    /// The operand's value; nil when it is absent or missing.
    func value(_ name: String) throws(ServiceError) -> BSONValue? {
        guard let operand = operands.first(where: { $0.name == name }) else { return nil }
        return try evaluator.value(operand.expression)
    }
}

/// `$trim` and its relatives, `$replaceOne`, `$replaceAll`.
extension OperatorEvaluator {
    func trim(_ op: ExpressionOperator, _ operands: NamedOperands) throws(ServiceError) -> BSONValue {
        let name = op.rawValue
        let input = try operands.value("input")
        let hasCharacters = operands.has("chars")
        let characters = try operands.value("chars")
        guard let input, !input.isNullish else { return .null }
        guard case .string(let text) = input else {
            throw .mongo(
                50699,
                "\(name) requires its input to be a string, got \(MessageText.of(input)) (of type \(known: TypeName.of(input))) instead."
            )
        }
        var set = Self.whitespace
        if hasCharacters {
            guard let characters, !characters.isNullish else { return .null }
            guard case .string(let list) = characters else {
                throw .mongo(
                    50700,
                    "\(name) requires 'chars' to be a string, got \(MessageText.of(characters)) (of type \(known: TypeName.of(characters))) instead."
                )
            }
            set = Set(list.unicodeScalars)
        }
        var scalars = text.unicodeScalars[...]
        if op != .trimEnd { scalars = scalars.drop { set.contains($0) } }
        if op != .trimStart {
            while let last = scalars.last, set.contains(last) { scalars.removeLast() }
        }
        return .string(String(scalars))
    }

    /// What `$trim` removes by default: NUL and Unicode's spaces.
    private static let whitespace: Set<Unicode.Scalar> = [
        "\u{0}", "\u{20}", "\u{9}", "\u{A}", "\u{B}", "\u{C}", "\u{D}", "\u{A0}", "\u{1680}",
        "\u{2000}", "\u{2001}", "\u{2002}", "\u{2003}", "\u{2004}", "\u{2005}", "\u{2006}",
        "\u{2007}", "\u{2008}", "\u{2009}", "\u{200A}",
    ]

    func replace(_ op: ExpressionOperator, _ operands: NamedOperands) throws(ServiceError) -> BSONValue {
        let name = op.rawValue
        let input = try text(operands, "input", name, 10_503_904)
        let find = try text(operands, "find", name, 10_503_901)
        let replacement = try text(operands, "replacement", name, 10_503_902)
        guard let input, let find, let replacement else { return .null }
        let bytes = Array(input.utf8)
        let needle = Array(find.utf8)
        let insert = Array(replacement.utf8)
        var places: [Int]
        if needle.isEmpty {
            // An empty text is found before each code point, and at the end.
            places = bytes.indices.filter { bytes[$0] & 0xC0 != 0x80 } + [bytes.count]
        } else {
            places = ByteSearch.all(needle, in: bytes)
        }
        if op == .replaceOne { places = Array(places.prefix(1)) }
        let (growth, overflow) = places.count.multipliedReportingOverflow(by: insert.count)
        try ValueSize.checkText(overflow ? .max : growth &+ bytes.count &- places.count &* needle.count)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + growth)
        var start = 0
        for place in places {
            result += bytes[start..<place]
            result += insert
            start = place + needle.count
        }
        result += bytes[start...]
        return .string(String(decoding: result, as: UTF8.self))
    }

    private func text(_ operands: NamedOperands, _ part: String, _ name: String, _ code: Int)
        throws(ServiceError) -> String?
    {
        let value = try operands.value(part)
        guard let value, !value.isNullish else { return nil }
        guard case .string(let text) = value else {
            throw .mongo(
                code,
                "\(name) requires that '\(part)' be a string, found: \(MessageText.of(value))"
            )
        }
        return text
    }
}
