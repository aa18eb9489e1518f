/// The tokens of a JavaScript source, read with doubt: what could be read in two ways ends the reading.
struct SourceTokens {
    /// One token.
    struct Token: Hashable {
        /// What it is.
        enum Kind {
            /// A name or a keyword.
            case word
            /// A name behind a dot.
            case member
            case number
            /// A literal without its quotes, as it is spelt.
            case string
            /// A piece of a template's text, as it is spelt.
            case template
            case regex
            case mark
        }

        let kind: Kind
        let text: String
        /// Where it starts, in bytes of UTF-8; of a string, where its text does.
        ///
        /// Of a template's `${` and `}`, which are parentheses here, as of any other.
        let start: Int
        /// Whether a line ended between the token before and this one: there a statement may have ended, too.
        var startsLine = false
    }

    private let bytes: [UInt8]
    private var position = 0
    private(set) var tokens: [Token] = []
    /// What is open: `(`, `[`, `{`, or a backtick for `${` within a template.
    private var open: [UInt8] = []
    /// Whether a line ended since the last token: there a statement may end, too.
    private var isNewLine = false

    /// Nil for a source that is not surely read as the engine reads it.
    static func read(_ source: String) -> [Token]? {
        var reader = SourceTokens(bytes: Array(source.utf8))
        return reader.readAll() ? reader.tokens : nil
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private var current: UInt8 { peek(0) }

    /// Zero past the end; a source with a NUL is not read.
    private func peek(_ distance: Int) -> UInt8 {
        position + distance < bytes.count ? bytes[position + distance] : 0
    }

    private func isNext(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { bytes[position...].starts(with: $0) }
    }

    private var isUnicodeLineEnd: Bool {
        current >= 0x80 && (isNext("\u{2028}") || isNext("\u{2029}"))
    }

    private mutating func readAll() -> Bool {
        while position < bytes.count {
            // Comments of old browsers, and ends of lines that are not of ASCII.
            if isNext("<!--") || isNext("-->") || isUnicodeLineEnd { return false }
            guard readOne() else { return false }
        }
        return open.isEmpty
    }

    private mutating func readOne() -> Bool {
        switch current {
        case UInt8(ascii: " "), 9: position += 1
        case 10, 13:
            position += 1
            isNewLine = true
        case UInt8(ascii: "/") where peek(1) == UInt8(ascii: "/"): return skipLine()
        case UInt8(ascii: "/") where peek(1) == UInt8(ascii: "*"): return skipComment()
        case UInt8(ascii: "/"): return readSlash()
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return readString()
        case UInt8(ascii: "`"):
            position += 1
            return readTemplate()
        case let byte where Self.isDigit(byte): readNumber()
        case let byte where Self.isLetter(byte): readWord()
        case UInt8(ascii: "."): return readDot()
        case let byte: return readMark(byte)
        }
        return true
    }

    private mutating func skipLine() -> Bool {
        while position < bytes.count, current != 10, current != 13 {
            // An end of line of Unicode ends the comment, too.
            if isUnicodeLineEnd || isNext("-->") || isNext("<!--") { return false }
            position += 1
        }
        return true
    }

    private mutating func skipComment() -> Bool {
        position += 2
        while position < bytes.count {
            if current == UInt8(ascii: "*"), peek(1) == UInt8(ascii: "/") {
                position += 2
                return true
            }
            if isUnicodeLineEnd { return false }
            if current == 10 || current == 13 { isNewLine = true }
            position += 1
        }
        return false
    }

    /// A division where a value stands before, a regular expression where none can.
    private mutating func readSlash() -> Bool {
        guard let last = tokens.last else { return false }
        switch last.kind {
        case .member, .number: return isNewLine ? false : readMark(current)
        case .word: return isNewLine || !SourceProof.isOperand(last.text) ? false : readMark(current)
        case .mark where last.text == "]": return isNewLine ? false : readMark(current)
        case .mark where ["(", ",", "=", ":", "[", "!", "&&", "||", "?", "=>"].contains(last.text): break
        default: return false
        }
        let start = position
        position += 1
        var isInClass = false
        while true {
            switch current {
            case 0, 10, 13: return false
            case let byte where byte >= 0x80: return false
            case UInt8(ascii: "\\"):
                if peek(1) < 32 || peek(1) >= 0x80 { return false }
                position += 1
            case UInt8(ascii: "["): isInClass = true
            case UInt8(ascii: "]"): isInClass = false
            case UInt8(ascii: "/") where !isInClass:
                position += 1
                while Self.isLetter(current) { position += 1 }
                put(.regex, start)
                return true
            default: break
            }
            position += 1
        }
    }

    private mutating func readString() -> Bool {
        let quote = current
        position += 1
        let start = position
        while current != quote {
            // A line's end cannot stand in a string; an escape that may spell a letter is not followed.
            if current == 0 || current == 10 || current == 13 { return false }
            if current == UInt8(ascii: "\\") {
                guard #"ntr\"'`/$"#.utf8.contains(peek(1)) else { return false }
                position += 1
            }
            position += 1
        }
        put(.string, start)
        position += 1
        return true
    }

    /// Reads on in a template, to its end or to the next `${`.
    private mutating func readTemplate() -> Bool {
        let start = position
        while true {
            switch current {
            case 0: return false
            case UInt8(ascii: "\\"): position += 1
            case UInt8(ascii: "`"):
                put(.template, start)
                position += 1
                return true
            case UInt8(ascii: "$") where peek(1) == UInt8(ascii: "{"):
                put(.template, start)
                // Between two marks, so that what stands inside is an expression of its own.
                tokens.append(Token(kind: .mark, text: "(", start: position))
                open.append(UInt8(ascii: "`"))
                position += 2
                return true
            default: break
            }
            position += 1
        }
    }

    private mutating func readNumber() {
        let start = position
        while Self.isLetter(current) || Self.isDigit(current) { position += 1 }
        if current == UInt8(ascii: "."), Self.isDigit(peek(1)) {
            position += 1
            while Self.isLetter(current) || Self.isDigit(current) { position += 1 }
        }
        put(.number, start)
    }

    private mutating func readWord() {
        let start = position
        while Self.isLetter(current) || Self.isDigit(current) { position += 1 }
        let isMember = tokens.last.map { $0.kind == .mark && ($0.text == "." || $0.text == "?.") } ?? false
        put(isMember ? .member : .word, start)
    }

    private mutating func readDot() -> Bool {
        if Self.isDigit(peek(1)) {
            readNumber()
        } else {
            let start = position
            position += isNext("...") ? 3 : 1
            put(.mark, start)
        }
        return true
    }

    private static let marks = [
        "?.", "=>", "==", "!=", "<=", ">=", "&&", "||", "??", "++", "--", "+=", "-=", "*=", "/=", "%=", "**",
    ]

    private mutating func readMark(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"): open.append(byte)
        case UInt8(ascii: ")"): if open.popLast() != UInt8(ascii: "(") { return false }
        case UInt8(ascii: "]"): if open.popLast() != UInt8(ascii: "[") { return false }
        case UInt8(ascii: "}"):
            guard let opening = open.popLast() else { return false }
            if opening == UInt8(ascii: "`") {
                tokens.append(Token(kind: .mark, text: ")", start: position))
                position += 1
                return readTemplate()
            }
            if opening != UInt8(ascii: "{") { return false }
        default:
            // Also what is not of ASCII, a private name, an escape and a decorator.
            guard ";,<>=!+-*%&|^~?:/".utf8.contains(byte) else { return false }
        }
        let start = position
        let pair = String(decoding: [byte, peek(1)], as: UTF8.self)
        position += Self.marks.contains(pair) ? 2 : 1
        put(.mark, start)
        return true
    }

    private mutating func put(_ kind: Token.Kind, _ start: Int) {
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        tokens.append(Token(kind: kind, text: text, start: start, startsLine: isNewLine))
        isNewLine = false
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= 48 && byte <= 57 }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (byte >= 65 && byte <= 90) || (byte >= 97 && byte <= 122) || byte == UInt8(ascii: "_")
            || byte == UInt8(ascii: "$")
    }
}

extension [SourceTokens.Token] {
    /// The mark at a place; nil for another token, a string of the same text among them.
    func mark(_ index: Int) -> String? {
        indices.contains(index) && self[index].kind == .mark ? self[index].text : nil
    }

    /// Whether a mark at a place is one of some.
    func isMark(_ index: Int, _ marks: Set<String>) -> Bool { mark(index).map(marks.contains) ?? false }

    /// Whether a word at a place, and no member, is one of some.
    func isWord(_ index: Int, _ words: Set<String>) -> Bool {
        indices.contains(index) && self[index].kind == .word && words.contains(self[index].text)
    }

    func isKind(_ index: Int, _ kind: SourceTokens.Token.Kind) -> Bool {
        indices.contains(index) && self[index].kind == kind
    }
}
