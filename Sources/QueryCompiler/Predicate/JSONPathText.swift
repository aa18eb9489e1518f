import BSON

/// Texts of the SQL/JSON path language.
///
/// They travel as binds; escaping keeps them what they are meant to be.
enum JSONPathText {
    /// A string literal: `"a\"b"`.
    static func string(_ text: String) -> String {
        guard text.utf8.contains(where: mayNeedEscape) else { return "\"" + text + "\"" }
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7f:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    private static func mayNeedEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == 0x7f || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    /// One of many predicates, joined as a balanced tree: PostgreSQL descends into each `||`, and a chain of
    /// some thousands exhausts its stack.
    static func any(_ predicates: [String]) -> String {
        var level = predicates[...]
        while level.count > 16 {
            level =
                stride(from: 0, to: level.count, by: 16).map { start in
                    let group = level[start..<min(start + 16, level.count)]
                    return group.count == 1 ? group[start] : "(" + group.joined(separator: " || ") + ")"
                }[...]
        }
        return level.joined(separator: " || ")
    }

    /// A step into a field: `."name"`.
    static func member(_ name: String) -> String {
        "." + string(name)
    }
}

/// A path into documents, as the alternatives in which a numeric component can be meant.
///
/// `a.b` is `$."a"."b"`; `a.0` is `$."a"[0]` or `$."a"."0"`. Lax mode wraps scalars before `[0]`, so a path
/// with numeric components finds at least, but not only, what it means.
struct CandidatePath {
    /// `$`, or `@` inside a filter expression.
    let root: String
    let components: [String]
    /// The texts of all readings of the path.
    let alternatives: [String]
    /// Whether the path has one reading, so that lax mode visits exactly its candidates.
    var isPlain: Bool { alternatives.count == 1 }

    /// - Returns: nil for a path that only the evaluator can follow: one with an empty component, with
    ///   a component that begins with `$` (those are the wrappers of typed values), with NUL, with more
    ///   than two numbers, or with more than 100 components.
    init?(root: String, _ path: FieldPath) {
        guard path.components.count <= 100 else { return nil }
        self.root = root
        components = path.components
        var texts = [root]
        var numbers = 0
        for component in path.components {
            guard let first = component.utf8.first, first != UInt8(ascii: "$"), !component.utf8.contains(0)
            else {
                return nil
            }
            let name = JSONPathText.member(component)
            guard component.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
                for index in texts.indices { texts[index] += name }
                continue
            }
            numbers += 1
            guard numbers <= 2 else { return nil }
            let byName = texts.map { $0 + name }
            // An index beyond 32 bits would be an error, and no array is that long.
            texts =
                component.utf8.count <= 9 ? texts.map { "\($0)[\(Int(component) ?? 0)]" } + byName : byName
        }
        alternatives = texts
    }

    /// The value itself, inside a filter expression.
    init(root: String) {
        self.root = root
        components = []
        alternatives = [root]
    }

    /// A test of each reading, joined by `||`.
    func any(_ test: (String) -> String) -> String {
        alternatives.map(test).joined(separator: " || ")
    }
}
