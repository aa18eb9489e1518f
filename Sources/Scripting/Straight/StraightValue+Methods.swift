internal import BSON

/// Methods of texts, lists and ids.
extension StraightValue {
    /// How much a method looks at.
    var steps: Int {
        switch self {
        case .given(.string(let text)), .made(.string(let text)): 1 + text.utf8.count / 64
        default: 1 + (array?.count ?? 0)
        }
    }

    func call(_ name: String, _ arguments: [StraightValue]) throws(NotStraight) -> StraightValue {
        if let array { return try Self.call(name, arguments, of: array.map { part($0) }) }
        switch (try data(), name, arguments.count) {
        case (.objectID(let id), "toString", 0), (.objectID(let id), "toHexString", 0):
            return .made(.string(id.hex))
        case (.string(let text), _, 0): return .made(.string(try Self.changed(text, name)))
        case (.string(let text), _, 1):
            guard case .string(let other) = try arguments[0].scalar else { throw NotStraight() }
            return .made(.bool(try Self.looked(text, name, for: other)))
        default: throw NotStraight()
        }
    }

    private static func changed(_ text: String, _ name: String) throws(NotStraight) -> String {
        if name == "toString" { return text }
        // Beyond ASCII the engine has tables of its own.
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else { throw NotStraight() }
        switch name {
        case "toLowerCase": return text.lowercased()
        case "toUpperCase": return text.uppercased()
        case "trim":
            let isSpace = { (byte: UInt8) in byte == 32 || (9...13).contains(byte) }
            let start = text.utf8.drop(while: isSpace)
            return String(decoding: start.reversed().drop(while: isSpace).reversed(), as: UTF8.self)
        default: throw NotStraight()
        }
    }

    private static func looked(_ text: String, _ name: String, for other: String) throws(NotStraight) -> Bool
    {
        switch name {
        case "startsWith": return text.utf8.starts(with: other.utf8)
        case "endsWith": return text.utf8.reversed().starts(with: other.utf8.reversed())
        case "includes":
            // Beginning anew at each place is no more than a few times what a short text takes.
            guard other.utf8.count <= 64 else { throw NotStraight() }
            var rest = text.utf8[...]
            while rest.count >= other.utf8.count {
                if rest.starts(with: other.utf8) { return true }
                rest = rest.dropFirst()
            }
            return false
        default: throw NotStraight()
        }
    }

    private static func call(_ name: String, _ arguments: [StraightValue], of elements: [StraightValue])
        throws(NotStraight) -> StraightValue
    {
        guard name == "includes", arguments.count == 1 else { throw NotStraight() }
        // It finds what is no number, which `===` does not.
        if case .number(let number) = try arguments[0].scalar, number.isNaN { throw NotStraight() }
        for element in elements where try element.isSame(as: arguments[0]) { return .made(true) }
        return .made(false)
    }
}
