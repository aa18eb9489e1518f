import BSON

/// Cuts a query into tokens, in one pass.
///
/// The lexical rules are those of the client's library.
struct RQLScanner {
    private let bytes: [UInt8]
    var place = 0

    init(_ text: String) {
        bytes = Array(text.utf8)
    }

    /// All tokens with the byte at which each begins.
    static func tokens(_ text: String) throws(RQLFault) -> [(token: RQLToken, place: Int)] {
        var scanner = RQLScanner(text)
        var tokens: [(token: RQLToken, place: Int)] = []
        while let found = try scanner.next() { tokens.append(found) }
        return tokens
    }

    func peek(_ offset: Int = 0) -> UInt8? {
        place + offset < bytes.count ? bytes[place + offset] : nil
    }

    func fault(_ message: String) -> RQLFault { RQLFault("\(message) at byte \(place)") }

    func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    private mutating func next() throws(RQLFault) -> (token: RQLToken, place: Int)? {
        while let byte = peek(), byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { place += 1 }
        guard let byte = peek() else { return nil }
        let start = place
        return (try token(byte), start)
    }

    private mutating func token(_ byte: UInt8) throws(RQLFault) -> RQLToken {
        if let symbol = symbol() { return symbol }
        if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") { return .string(try quoted()) }
        if Self.isDigit(byte) || "+-.".utf8.contains(byte), let number = try numberOrDate() { return number }
        if byte == UInt8(ascii: "T"), let date = try timestamp() { return date }
        if byte == UInt8(ascii: "@") {
            let start = place
            place += 1
            while let byte = peek(), Self.isLetter(byte) { place += 1 }
            return .function(text(start..<place))
        }
        if "+-*/.,(){}[]".utf8.contains(byte) {
            if text(place..<Swift.min(place + 3, bytes.count)) == "[c]" {
                place += 3
                return .ignoringCase
            }
            place += 1
            return .sign(byte)
        }
        if let value = typedValue() { return value }
        if byte == UInt8(ascii: "B"), text(place..<Swift.min(place + 4, bytes.count)) == "B64\"" {
            place += 3
            let encoded = try quoted()
            guard let decoded = Base64.decode(encoded) else { throw fault("bad Base64") }
            return .binaryText(decoded)
        }
        guard Self.isLetter(byte) || byte >= 0x80 else { throw fault("invalid character") }
        let word = try self.word()
        if word.first == "$", word.utf8.count > 1, word.utf8.dropFirst().allSatisfy(Self.isDigit) {
            return .argument(word)
        }
        return RQLToken.Keyword(word: word).map { .keyword($0, word) } ?? .name(word)
    }

    private static let symbols: [(text: String, token: RQLToken)] = [
        ("==", .comparison(.equal)), ("=<", .comparison(.lessOrEqual)), ("=>", .comparison(.greaterOrEqual)),
        ("=", .comparison(.equal)), ("!=", .comparison(.notEqual)), ("<>", .comparison(.notEqual)),
        ("<=", .comparison(.lessOrEqual)), (">=", .comparison(.greaterOrEqual)), ("<", .comparison(.less)),
        (">", .comparison(.greater)), ("&&", .keyword(.and, "&&")), ("||", .keyword(.or, "||")),
        ("!", .keyword(.not, "!")),
    ]

    private mutating func symbol() -> RQLToken? {
        for (text, token) in Self.symbols where bytes[place...].starts(with: text.utf8) {
            place += text.utf8.count
            return token
        }
        return nil
    }

    /// A text between quotes, as it stands: an escape only keeps a quote from ending it.
    ///
    /// The client's library reads its texts so, and writes none with a backslash.
    private mutating func quoted() throws(RQLFault) -> String {
        let quote = peek()
        place += 1
        let start = place
        while let byte = peek(), byte != quote {
            guard byte == UInt8(ascii: "\\") else {
                place += 1
                continue
            }
            switch peek(1) {
            case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "/"), UInt8(ascii: "\\"),
                UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"),
                UInt8(ascii: "0"):
                place += 2
            case UInt8(ascii: "u"):
                guard (2...5).allSatisfy({ peek($0).map(Self.isHexadecimal) ?? false }) else {
                    throw fault("bad escape in a string")
                }
                place += 6
            default: throw fault("bad escape in a string")
            }
        }
        guard peek() != nil else { throw fault("a string without end") }
        place += 1
        return text(start..<place - 1)
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        Character(Unicode.Scalar(byte)).isHexDigit
    }

    private mutating func word() throws(RQLFault) -> String {
        var out: [UInt8] = []
        while let byte = peek() {
            if Self.isLetter(byte) || Self.isDigit(byte) || byte == UInt8(ascii: "-") || byte >= 0x80 {
                out.append(byte)
                place += 1
            } else if byte == UInt8(ascii: "\\"), let blank = Self.blank(peek(1)) {
                out.append(blank)
                place += 2
            } else {
                break
            }
        }
        return String(decoding: out, as: UTF8.self)
    }

    /// What an escape in a name stands for.
    private static func blank(_ escape: UInt8?) -> UInt8? {
        switch escape {
        case UInt8(ascii: " "): 0x20
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }

    /// `oid(…)` and `uuid(…)`, which are words without blanks.
    private mutating func typedValue() -> RQLToken? {
        func inside(_ head: String, _ length: Int) -> String? {
            let start = place + head.utf8.count
            guard bytes[place...].starts(with: head.utf8), start + length < bytes.count,
                bytes[start + length] == UInt8(ascii: ")")
            else { return nil }
            return text(start..<start + length)
        }
        if let hex = inside("oid(", 24), let id = ObjectID(hex: hex) {
            place += 29
            return .objectID(id)
        }
        if let text = inside("uuid(", 36), let uuid = UUIDBytes(text: text) {
            place += 42
            return .uuid(uuid)
        }
        return nil
    }

    static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    static func isLetter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
            UInt8(ascii: "$"):
            true
        default: false
        }
    }
}

extension UUIDBytes {
    /// 8-4-4-4-12 hexadecimal digits of either case, or nil.
    init?(text: String) {
        let characters = Array(text.utf8)
        guard characters.count == 36 else { return nil }
        var bytes: [UInt8] = []
        var index = 0
        while index < 36 {
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard characters[index] == UInt8(ascii: "-") else { return nil }
                index += 1
                continue
            }
            guard let high = Character(Unicode.Scalar(characters[index])).hexDigitValue,
                let low = Character(Unicode.Scalar(characters[index + 1])).hexDigitValue
            else { return nil }
            bytes.append(UInt8(high << 4 | low))
            index += 2
        }
        self.init(bytes)
    }
}
