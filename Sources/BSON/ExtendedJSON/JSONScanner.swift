internal import Errors

/// A cursor over JSON text: strings, numbers and punctuation as places in the bytes, without copying.
///
/// The pointer is valid only inside the `withUnsafeBufferPointer` of whoever made the scanner.
struct JSONScanner {
    let base: UnsafePointer<UInt8>
    let count: Int
    var position = 0

    /// A string between its quotes.
    struct Text {
        var start: Int
        var end: Int
        var isEscaped: Bool
    }

    /// Throws on an empty text, which need not even have an address.
    init(_ bytes: UnsafeBufferPointer<UInt8>) throws(ServiceError) {
        guard let base = bytes.baseAddress, bytes.count > 0 else { throw Self.fault(0, "no text") }
        self.base = base
        count = bytes.count
    }

    /// The error of malformed text, with its place.
    static func fault(_ position: Int, _ what: String, _ code: ServerErrorCode? = nil) -> ServiceError {
        ServiceError(
            .invalidParameter,
            "invalid JSON at byte \(position): \(what)",
            serverCode: code,
            details: ["position": String(position)]
        )
    }

    func fault(_ what: String, _ code: ServerErrorCode? = nil) -> ServiceError {
        Self.fault(position, what, code)
    }

    /// The next byte, or 0 at the end; a NUL in the text is no token either.
    @inline(__always)
    var next: UInt8 { position < count ? base[position] : 0 }

    @inline(__always)
    mutating func skipSpace() {
        while position < count {
            let byte = base[position]
            guard byte == 0x20 || (byte <= 0x0D && (byte == 0x0A || byte == 0x0D || byte == 0x09)) else {
                return
            }
            position &+= 1
        }
    }

    /// Whether the object here begins with a `$` key; only such objects may be wrappers.
    @inline(__always)
    var isDollarObject: Bool {
        var index = position + 1
        while index < count, base[index] <= 0x20 { index += 1 }
        return index + 1 < count && base[index] == UInt8(ascii: "\"") && base[index + 1] == UInt8(ascii: "$")
    }

    /// Why the next byte cannot stand where it does.
    func unexpected(_ wanted: String) -> ServiceError {
        if position >= count { return fault("unexpected end, expected \(wanted)") }
        let byte = base[position]
        let shown = byte >= 0x20 && byte < 0x7F ? "'\(Character(UnicodeScalar(byte)))'" : "byte \(byte)"
        return fault("unexpected \(shown), expected \(wanted)")
    }

    /// Takes a literal such as `true`, whose first letter has been seen.
    mutating func literal(_ word: StaticString) throws(ServiceError) {
        let length = word.utf8CodeUnitCount
        guard count - position >= length, compareBytes(base + position, word.utf8Start, length) == 0 else {
            throw unexpected("a value")
        }
        position += length
    }

    /// Takes a string; the cursor is at its opening quote.
    @inline(__always)
    mutating func text() throws(ServiceError) -> Text {
        position &+= 1
        let start = position
        var isEscaped = false
        while true {
            // Eight bytes at a time while none is a quote, a backslash or a control character.
            while position &+ 8 <= count {
                let word = UnsafeRawPointer(base + position).loadUnaligned(as: UInt64.self)
                let quote = word ^ 0x2222_2222_2222_2222
                let backslash = word ^ 0x5C5C_5C5C_5C5C_5C5C
                let found =
                    ((quote &- 0x0101_0101_0101_0101) & ~quote)
                    | ((backslash &- 0x0101_0101_0101_0101) & ~backslash)
                    | ((word &- 0x2020_2020_2020_2020) & ~word)
                let marks = found & 0x8080_8080_8080_8080
                if marks == 0 {
                    position &+= 8
                    continue
                }
                // The lowest mark is exact; higher ones may be carried over from it.
                position &+= marks.littleEndian.trailingZeroBitCount >> 3
                break
            }
            guard position < count else { throw fault("unterminated string") }
            let byte = base[position]
            if byte == UInt8(ascii: "\"") {
                let end = position
                position &+= 1
                return Text(start: start, end: end, isEscaped: isEscaped)
            }
            if byte == UInt8(ascii: "\\") {
                isEscaped = true
                position &+= 2
                continue
            }
            if byte < 0x20 { throw fault("control character in a string must be escaped") }
            position &+= 1
        }
    }

    /// The string itself.
    ///
    /// Throws on invalid UTF-8, bad escapes and lone surrogates.
    @inline(__always)
    func string(_ text: Text) throws(ServiceError) -> String {
        if text.isEscaped { return try unescaped(text) }
        let bytes = UnsafeBufferPointer(start: base + text.start, count: text.end - text.start)
        guard let string = validText(bytes) else {
            throw Self.fault(text.start + Self.invalidOffset(bytes), "invalid UTF-8")
        }
        return string
    }

    /// The bytes of the string, its escapes resolved.
    func unescapedBytes(_ text: Text) throws(ServiceError) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.end - text.start)
        var index = text.start
        while index < text.end {
            let byte = base[index]
            if byte != UInt8(ascii: "\\") {
                bytes.append(byte)
                index += 1
                continue
            }
            let place = index
            index += 2
            guard index <= text.end else { throw Self.fault(place, "incomplete escape") }
            switch base[index - 1] {
            case UInt8(ascii: "n"): bytes.append(0x0A)
            case UInt8(ascii: "t"): bytes.append(0x09)
            case UInt8(ascii: "r"): bytes.append(0x0D)
            case UInt8(ascii: "b"): bytes.append(0x08)
            case UInt8(ascii: "f"): bytes.append(0x0C)
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): bytes.append(base[index - 1])
            case UInt8(ascii: "u"):
                let scalar = try scalar(at: &index, end: text.end, place: place)
                bytes.append(contentsOf: scalar.utf8)
            default: throw Self.fault(place, "unknown escape")
            }
        }
        return bytes
    }

    private func unescaped(_ text: Text) throws(ServiceError) -> String {
        let bytes = try unescapedBytes(text)
        guard let string = bytes.withUnsafeBufferPointer(validText) else {
            throw Self.fault(text.start, "invalid UTF-8 in string")
        }
        return string
    }

    /// One code point of one or two `\u` escapes; `index` is behind the first `u`.
    private func scalar(at index: inout Int, end: Int, place: Int) throws(ServiceError) -> UnicodeScalar {
        let first = try codeUnit(at: &index, end: end, place: place)
        if let scalar = UnicodeScalar(UInt32(first)) { return scalar }
        guard first < 0xDC00, index + 6 <= end, base[index] == UInt8(ascii: "\\"),
            base[index + 1] == UInt8(ascii: "u")
        else { throw Self.fault(place, "lone surrogate in \\u escape") }
        index += 2
        let second = try codeUnit(at: &index, end: end, place: place)
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = UnicodeScalar(0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00))
        else { throw Self.fault(place, "lone surrogate in \\u escape") }
        return scalar
    }

    private func codeUnit(at index: inout Int, end: Int, place: Int) throws(ServiceError) -> UInt16 {
        guard index + 4 <= end else { throw Self.fault(place, "incomplete \\u escape") }
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = hexadecimalDigit(base[index]) else {
                throw Self.fault(place, "\\u takes four hexadecimal digits")
            }
            unit = unit << 4 | UInt16(digit)
            index += 1
        }
        return unit
    }

    /// Where the longest valid beginning of the bytes ends.
    private static func invalidOffset(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        var decoder = UTF8.ForwardParser()
        var iterator = bytes.makeIterator()
        var offset = 0
        while case .valid(let scalar) = decoder.parseScalar(from: &iterator) { offset += scalar.count }
        return offset
    }

    /// Takes the comma or the closing mark.
    @inline(__always)
    mutating func isLast(before closing: UInt8) throws(ServiceError) -> Bool {
        skipSpace()
        let mark = next
        guard mark == UInt8(ascii: ",") || mark == closing else { throw unexpected("',' or the end") }
        position &+= 1
        skipSpace()
        return mark == closing
    }
}
