/// The text of a UUID: 8-4-4-4-12 hexadecimal digits.
enum UUIDText {
    /// Appends sixteen bytes as lower-case text.
    static func append(_ bytes: [UInt8], to out: inout [UInt8]) {
        for (index, byte) in bytes.enumerated() {
            if index == 4 || index == 6 || index == 8 || index == 10 { out.append(UInt8(ascii: "-")) }
            JSONText.appendHexadecimal(byte, to: &out)
        }
    }

    /// The sixteen bytes of exactly that form, in either case, or nil.
    static func parse(_ text: String) -> [UInt8]? {
        let characters = Array(text.utf8)
        guard characters.count == 36 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16)
        var index = 0
        while index < 36 {
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard characters[index] == UInt8(ascii: "-") else { return nil }
                index += 1
                continue
            }
            guard let high = hexadecimalDigit(characters[index]),
                let low = hexadecimalDigit(characters[index + 1])
            else { return nil }
            bytes.append(high << 4 | low)
            index += 2
        }
        return bytes
    }
}
