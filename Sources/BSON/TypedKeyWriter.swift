/// Values to bytes that sort as the values do, each closing itself when it is nested.
struct TypedKeyWriter {
    /// Closes a text inside a document, and the document; below every other byte that occurs.
    private static let terminator: UInt8 = 1
    var bytes: [UInt8] = []

    /// The character of the bracket, in the brackets' order.
    mutating func appendBracket(of value: BSONValue) {
        let mark: StaticString =
            switch value {
            case .minKey: "a"
            case .null, .undefined: "d"
            case .double, .int32, .int64, .decimal128: "n"
            case .string, .symbol: "s"
            case .document: "t"
            case .array: "u"
            case .binary: "w"
            case .objectID: "x"
            case .bool: "y"
            case .date: "z"
            case .timestamp: "{"
            case .regex: "|"
            case .dbPointer: "}0"
            case .code: "}1"
            case .codeWithScope: "}2"
            case .maxKey: "~"
            }
        JSONText.literal(mark, to: &bytes)
    }

    mutating func appendPayload(of value: BSONValue, isNested: Bool) {
        switch value {
        case .double, .int32, .int64, .decimal128: appendNumber(value, isNested: isNested)
        case .string(let text), .symbol(let text), .code(let text): appendText(text)
        case .document(let document): append(document)
        case .array(let elements):
            for element in elements {
                appendBracket(of: element)
                appendPayload(of: element, isNested: true)
            }
            bytes.append(Self.terminator)
        case .binary(let binary):
            appendHexadecimal(UInt64(binary.orderedLength), width: 8)
            JSONText.appendHexadecimal(binary.subtype, to: &bytes)
            for byte in binary.bytes { JSONText.appendHexadecimal(byte, to: &bytes) }
        case .objectID(let id): id.appendHex(to: &bytes)
        case .bool(let value): bytes.append(UInt8(ascii: value ? "1" : "0"))
        case .date(let milliseconds):
            // With the sign bit turned, the order of signed numbers is that of unsigned ones.
            appendHexadecimal(UInt64(bitPattern: milliseconds) ^ 1 << 63, width: 16)
        case .timestamp(let timestamp):
            appendHexadecimal(UInt64(timestamp.seconds), width: 8)
            appendHexadecimal(UInt64(timestamp.increment), width: 8)
        case .regex(let regex):
            appendText(regex.pattern)
            appendText(regex.options)
        case .dbPointer(let pointer):
            appendText(pointer.namespace)
            pointer.id.appendHex(to: &bytes)
        case .codeWithScope(let code):
            appendText(code.code)
            append(code.scope)
        case .undefined, .null, .minKey, .maxKey: break
        }
    }

    /// Fields as documents compare: bracket, then name, then value; the end is below any field.
    private mutating func append(_ document: BSONDocument) {
        for field in document.fields {
            appendBracket(of: field.value)
            appendText(field.key)
            appendPayload(of: field.value, isNested: true)
        }
        bytes.append(Self.terminator)
    }

    /// A text that closes itself: U+0001 and U+0002 are escaped by U+0002.
    private mutating func appendText(_ text: String) {
        for byte in text.utf8 {
            if byte == 1 || byte == 2 { bytes.append(2) }
            bytes.append(byte)
        }
        bytes.append(Self.terminator)
    }

    private mutating func appendHexadecimal(_ value: UInt64, width: Int) {
        for index in stride(from: (width - 1) * 4, through: 0, by: -4) {
            bytes.append(hexadecimalDigits[Int(value >> UInt64(index) & 15)])
        }
    }

    private mutating func appendNumber(_ value: BSONValue, isNested: Bool) {
        switch value {
        case .int32(let number): appendInteger(Int64(number), isNested: isNested)
        case .int64(let number): appendInteger(number, isNested: isNested)
        case .double(let number):
            if let integer = Int64(exactly: number) { return appendInteger(integer, isNested: isNested) }
            if number.isNaN || number.isInfinite {
                return appendClass(isNaN: number.isNaN, isNegative: number < 0)
            }
            append(DoubleExpansion(number), isNegative: number < 0, isNested: isNested)
        case .decimal128(let number):
            switch number.parts {
            case .nan: appendClass(isNaN: true, isNegative: false)
            case .infinity(let negative): appendClass(isNaN: false, isNegative: negative)
            case .finite(_, 0, _): bytes.append(UInt8(ascii: "3"))
            case .finite(let negative, let coefficient, let exponent):
                append(
                    DoubleExpansion(coefficient, scale: exponent),
                    isNegative: negative,
                    isNested: isNested
                )
            }
        default: break
        }
    }

    private mutating func appendClass(isNaN: Bool, isNegative: Bool) {
        bytes.append(UInt8(ascii: isNaN ? "0" : (isNegative ? "1" : "5")))
    }

    private mutating func appendInteger(_ value: Int64, isNested: Bool) {
        if value == 0 { return bytes.append(UInt8(ascii: "3")) }
        append(DoubleExpansion(UInt128(value.magnitude), scale: 0), isNegative: value < 0, isNested: isNested)
    }

    private mutating func append(_ expansion: DoubleExpansion, isNegative: Bool, isNested: Bool) {
        bytes.append(UInt8(ascii: isNegative ? "2" : "4"))
        let biased = expansion.exponent + 10000
        let shown = isNegative ? 99999 - biased : biased
        var divisor = 10000
        while divisor > 0 {
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: shown / divisor % 10))
            divisor /= 10
        }
        for digit in expansion.digits {
            bytes.append(UInt8(ascii: "0") + (isNegative ? 9 - digit : digit))
        }
        // A longer negative number is smaller, so the shorter one must end above any digit.
        if isNegative { bytes.append(UInt8(ascii: "~")) } else if isNested { bytes.append(Self.terminator) }
    }
}
