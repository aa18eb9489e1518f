import BSON
import MQL

/// Tests of texts as regular expressions.
enum RQLPattern {
    /// The longest text in a test: patterns have at most 32,764 bytes, and each byte may need an escape.
    static let textLimit = 6000

    /// A text that is the same but for the case of its letters.
    static func whole(_ text: String) throws(RQLFault) -> RegexPattern {
        RegexPattern(pattern: "^\(try escaped(text))\\z", options: "i")
    }

    /// The pattern of a test.
    ///
    /// One that only asks for plain letters, perhaps at the beginning, is what the store can look up in an index.
    static func pattern(_ test: RQLTextTest, _ text: String, ignoresCase: Bool) throws(RQLFault)
        -> RegexPattern
    {
        let options = ignoresCase ? "i" : ""
        return switch test {
        case .beginsWith: RegexPattern(pattern: "^" + (try escaped(text)), options: options)
        case .endsWith: RegexPattern(pattern: try escaped(text) + "\\z", options: options)
        case .contains: RegexPattern(pattern: try escaped(text), options: options)
        case .like: RegexPattern(pattern: try like(text), options: options + "s")
        }
    }

    /// `*` is any text and `?` any one character.
    ///
    /// The first place at which a part between two stars fits is as good as any later one. So each part is atomic, and
    /// no pattern makes the matcher try combinations.
    private static func like(_ text: String) throws(RQLFault) -> String {
        let parts = text.split(separator: "*", omittingEmptySubsequences: false)
        var out = "^"
        for (index, part) in parts.enumerated() {
            var piece = ""
            var literal = ""
            for scalar in part.unicodeScalars {
                if scalar == "?" {
                    piece += try escaped(literal) + "."
                    literal = ""
                } else {
                    literal.unicodeScalars.append(scalar)
                }
            }
            piece += try escaped(literal)
            if index == 0 {
                out += piece
            } else if index == parts.count - 1 {
                out += piece.isEmpty ? ".*" : ".*" + piece
            } else if !piece.isEmpty {
                out += "(?>.*?\(piece))"
            }
        }
        return out + "\\z"
    }

    private static func escaped(_ text: String) throws(RQLFault) -> String {
        guard text.utf8.count <= textLimit else {
            throw RQLFault("a text in a test of texts has at most \(textLimit) bytes")
        }
        var out = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\0": out += "\\x{0}"
            case ".", "\\", "+", "*", "?", "[", "]", "^", "$", "(", ")", "{", "}", "|", "#":
                out += "\\\(scalar)"
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out
    }
}

/// Comparisons of times: devices have nanoseconds, documents milliseconds.
enum RQLTimes {
    static func test(_ comparison: RQLComparison, _ time: SyncTimestamp) -> FieldTest {
        let rest = time.nanoseconds % 1_000_000
        let milliseconds = time.milliseconds
        // The millisecond at or before the time.
        let floor = rest < 0 && milliseconds > .min ? milliseconds - 1 : milliseconds
        let value = BSONValue.date(floor)
        let never = FieldTest.inside([])
        guard rest != 0 else {
            return switch comparison {
            case .equal: .compare(.equal, value)
            case .notEqual: .not([.compare(.equal, value)])
            case .less: .compare(.less, value)
            case .lessOrEqual: .compare(.lessOrEqual, value)
            case .greater: .compare(.greater, value)
            case .greaterOrEqual: .compare(.greaterOrEqual, value)
            }
        }
        return switch comparison {
        case .equal: never
        case .notEqual: .not([never])
        case .less, .lessOrEqual: .compare(.lessOrEqual, value)
        case .greater, .greaterOrEqual: .compare(.greater, value)
        }
    }
}
