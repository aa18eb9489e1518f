/// Takes the pieces that a date's text is made of off its front.
struct DateTextScanner {
    /// What is left.
    private(set) var rest: ArraySlice<UInt8>

    /// All of a text.
    init(_ text: String) {
        rest = Array(text.utf8)[...]
    }

    /// The next byte is a digit.
    var isAtDigit: Bool { rest.first.map(Self.isDigit) ?? false }
    /// So many digits come next.
    var digitCount: Int { rest.prefix(while: Self.isDigit).count }

    /// `Z`, `GMT`, `+0530`, `Europe/Berlin` and the like, up to the end of the word.
    mutating func zone() -> TimeZoneRule? {
        let word = rest.prefix { !Self.isSpace($0) && $0 != 0xC2 }
        guard !word.isEmpty else { return nil }
        let name = String(decoding: word, as: UTF8.self)
        let rule: TimeZoneRule?
        if name == "z" || name == "Z" {
            rule = .utc
        } else if let hours = Self.abbreviations[name.uppercased()] {
            rule = .fixed(Int64(hours) * 3_600_000)
        } else {
            rule = try? TimeZoneRule(name)
        }
        if rule != nil { rest = rest.dropFirst(word.count) }
        return rule
    }

    /// Hours east of UTC.
    private static let abbreviations = [
        "UTC": 0, "GMT": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6,
        "PST": -8, "PDT": -7, "CET": 1, "CEST": 2, "BST": 1,
    ]

    private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }

    mutating func take(_ byte: UInt8) -> Bool {
        guard rest.first == byte else { return false }
        rest.removeFirst()
        return true
    }

    mutating func take(anyOf characters: String) -> Bool { one(of: characters) != nil }

    /// The next byte if it is one of these.
    mutating func one(of characters: String) -> UInt8? {
        guard let first = rest.first, characters.utf8.contains(first) else { return nil }
        rest.removeFirst()
        return first
    }

    /// Zeros around the text are no part of it.
    mutating func trimZeros() {
        rest = rest.drop { $0 == 0 }
        while rest.last == 0 { rest.removeLast() }
    }

    /// `am` or `pm`, spaces before it or not; whether it was the latter.
    mutating func halfOfDay() -> Bool? {
        let after = rest.drop { $0 == 0x20 }
        let word = after.prefix(2).map { $0 | 0x20 }
        let isAfternoon = word == Array("pm".utf8)
        guard isAfternoon || word == Array("am".utf8) else { return nil }
        rest = after.dropFirst(2)
        return isAfternoon
    }

    /// Spaces, tabs, line ends and the space that does not break a line.
    mutating func skipSpaces() {
        while let first = rest.first {
            if Self.isSpace(first) {
                rest = rest.dropFirst()
            } else if first == 0xC2, rest.dropFirst().first == 0xA0 {
                rest = rest.dropFirst(2)
            } else {
                return
            }
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    /// `Wed`, `Wednesday` and the like in front of a date.
    mutating func skipDayName() {
        let word = rest.prefix { (65...90).contains($0 & 0xDF) }.map { $0 | 0x20 }
        let days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
        guard days.contains(where: { word == Array($0.utf8) || word == Array($0.utf8.prefix(3)) }) else {
            return
        }
        rest = rest.dropFirst(word.count)
        _ = take(UInt8(ascii: ","))
        skipSpaces()
    }

    mutating func skipOrdinal() {
        let suffix = rest.prefix(2).map { $0 | 0x20 }
        if ["st", "nd", "rd", "th"].contains(where: { Array($0.utf8) == suffix }) {
            rest = rest.dropFirst(2)
        }
    }

    /// As many digits as there are, within the width.
    mutating func number(_ width: ClosedRange<Int>) -> Int? {
        let digits = rest.prefix(width.upperBound).prefix(while: Self.isDigit)
        guard digits.count >= width.lowerBound else { return nil }
        rest = rest.dropFirst(digits.count)
        return digits.reduce(0) { $0 * 10 + Int($1 - 48) }
    }

    /// Digits after a point as milliseconds; what is finer is cut off.
    mutating func fraction() -> Int? {
        let digits = rest.prefix(while: Self.isDigit)
        guard !digits.isEmpty, digits.count <= 9 else { return nil }
        rest = rest.dropFirst(digits.count)
        let kept = Array(digits.prefix(3)) + [UInt8](repeating: 48, count: max(0, 3 - digits.count))
        return kept.reduce(0) { $0 * 10 + Int($1 - 48) }
    }

    /// A month by its English name or the name's first three letters, in any case.
    mutating func monthName() -> Int? {
        let word = rest.prefix { (65...90).contains($0 & 0xDF) }.map { $0 | 0x20 }
        guard word.count >= 3 else { return nil }
        for (index, name) in DateText.months.enumerated() {
            let full = Array(name.lowercased().utf8)
            guard word == full || word == Array(full.prefix(3)) || (word == Array("sept".utf8) && index == 8)
            else { continue }
            rest = rest.dropFirst(word.count)
            return index + 1
        }
        return nil
    }
}
