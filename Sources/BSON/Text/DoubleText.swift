/// A finite double as text: always the shortest digits that read back as the same double.
enum DoubleText {
    /// As Extended JSON writes it: `1.0`, `0.1`, `1.2345678921232E+18`, `5E-324`.
    static func appendCanonical(_ value: Double, to out: inout [UInt8]) {
        for byte in value.description.utf8 {
            out.append(byte == UInt8(ascii: "e") ? UInt8(ascii: "E") : byte)
        }
    }

    /// As ordinary JSON writes it: `1`, `0.1`, `100000000000000000000`, `1e+21`, `1e-7`.
    ///
    /// Plain digits from 1e-6 up to 1e21, as ECMAScript and Go print numbers.
    static func appendPlain(_ value: Double, to out: inout [UInt8]) {
        var text = value.description
        let isScientific = text.withUTF8 { $0.contains(UInt8(ascii: "e")) }
        guard isScientific else {
            // Negative zero is a number of its own only in typed forms.
            if value == 0 { return out.append(UInt8(ascii: "0")) }
            text.withUTF8 { bytes in
                let isWhole =
                    bytes.count > 2 && bytes[bytes.count - 1] == UInt8(ascii: "0")
                    && bytes[bytes.count - 2] == UInt8(ascii: ".")
                out.append(
                    contentsOf: UnsafeBufferPointer(rebasing: bytes[..<(bytes.count - (isWhole ? 2 : 0))])
                )
            }
            return
        }
        let (digits, exponent) = shortest(value)
        if value < 0 { out.append(UInt8(ascii: "-")) }
        if exponent > -6 && exponent <= 21 {
            return appendPositional(digits, exponent: exponent, fraction: false, to: &out)
        }
        out.append(digits[0])
        if digits.count > 1 {
            out.append(UInt8(ascii: "."))
            out.append(contentsOf: digits[1...])
        }
        out.append(UInt8(ascii: "e"))
        if exponent > 0 { out.append(UInt8(ascii: "+")) }
        JSONText.append(Int64(exponent - 1), to: &out)
    }

    /// As jsonb keeps it: never an exponent, always a fraction, so that the display scale tells a double.
    ///
    /// From 2^53 to 2^64 all digits are exact, which keeps equality and order with 64-bit integers;
    /// elsewhere the shortest digits stand, padded with zeros.
    static func appendStored(_ value: Double, to out: inout [UInt8]) {
        let magnitude = value.magnitude
        if magnitude >= 0x1p53, magnitude < 0x1p64 {
            if value < 0 { out.append(UInt8(ascii: "-")) }
            JSONText.append(UInt64(magnitude), to: &out)
            JSONText.literal(".0", to: &out)
            return
        }
        var text = value.description
        let isScientific = text.withUTF8 { bytes in
            if bytes.contains(UInt8(ascii: "e")) { return true }
            out.append(contentsOf: bytes)
            return false
        }
        guard isScientific else { return }
        let (digits, exponent) = shortest(value)
        if value < 0 { out.append(UInt8(ascii: "-")) }
        appendPositional(digits, exponent: exponent, fraction: true, to: &out)
    }

    /// The shortest digits as ASCII without zeros at the end; the magnitude is 0.d₁d₂… × 10^exponent.
    private static func shortest(_ value: Double) -> (digits: [UInt8], exponent: Int) {
        var digits: [UInt8] = []
        var exponent = 0
        var point: Int?
        var scientific = 0
        var isNegative = false
        var inExponent = false
        for byte in value.magnitude.description.utf8 {
            switch byte {
            case UInt8(ascii: "."): point = digits.count
            case UInt8(ascii: "e"): inExponent = true
            case UInt8(ascii: "-"): isNegative = true
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                if inExponent {
                    scientific = scientific * 10 + Int(byte - UInt8(ascii: "0"))
                } else {
                    digits.append(byte)
                }
            default: break
            }
        }
        exponent = (point ?? digits.count) + (isNegative ? -scientific : scientific)
        while digits.count > 1, digits.last == UInt8(ascii: "0") { digits.removeLast() }
        return (digits, exponent)
    }

    private static func appendPositional(
        _ digits: [UInt8],
        exponent: Int,
        fraction: Bool,
        to out: inout [UInt8]
    ) {
        if exponent <= 0 {
            JSONText.literal("0.", to: &out)
            out.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: -exponent))
            out.append(contentsOf: digits)
            return
        }
        if digits.count <= exponent {
            out.append(contentsOf: digits)
            out.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: exponent - digits.count))
            if fraction { JSONText.literal(".0", to: &out) }
            return
        }
        out.append(contentsOf: digits[..<exponent])
        out.append(UInt8(ascii: "."))
        out.append(contentsOf: digits[exponent...])
    }
}
