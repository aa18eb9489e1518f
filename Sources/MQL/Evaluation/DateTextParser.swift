import BSON
import Errors

/// Text to dates: by a format, or in the common forms when there is none.
///
/// Without a format MongoDB accepts what PHP's timelib does. Served here are ISO 8601 and its
/// looser spellings, `MM/DD/YYYY`, and dates with the month's English name.
struct DateTextParser {
    /// What is set by the text; the rest stays at the start of the period.
    private struct Parts {
        var year: Int64?
        var month: Int?
        var day: Int?
        var dayOfYear: Int?
        var isoYear: Int64?
        var isoWeek: Int?
        var isoDay: Int?
        var hour = 0
        var minute = 0
        var second = 0
        var millisecond = 0
        var zone: TimeZoneRule?
    }

    private var bytes: ArraySlice<UInt8>
    private var parts = Parts()

    private init(_ text: String) {
        bytes = Array(text.utf8)[...]
    }

    /// Reads a date.
    ///
    /// - Parameters:
    ///   - text: At most 200 bytes; a longer one does not fit.
    ///   - format: What the text looks like, in directives such as `%Y`; nil takes the common forms.
    ///   - zone: The zone of a text that names none; nil is UTC. A text that names its own
    ///     beside a given one other than UTC does not fit.
    /// - Returns: Milliseconds since 1970, or nil when the text does not fit.
    /// - Throws: ``ServiceError`` with server code 18535 or 18536 for a bad format.
    static func parse(_ text: String, format: String?, zone: TimeZoneRule?) throws(ServiceError) -> Int64? {
        if text.utf8.count > 200 { return nil }
        var parser = DateTextParser(text)
        if let format {
            try DateText.check(format, directives: "%YmdHMSLjuVGbBzZ")
            guard parser.read(format: format) else { return nil }
        } else {
            guard parser.readFree() else { return nil }
        }
        guard parser.bytes.isEmpty else { return nil }
        if parser.parts.zone != nil, let zone, !zone.isUTC { return nil }
        return parser.result(zone: parser.parts.zone ?? zone ?? .utc)
    }

    private func result(zone: TimeZoneRule) -> Int64? {
        var days: Int64?
        if let year = parts.isoYear {
            guard let first = DateFields.days(year: year, month: 1, day: 4) else { return nil }
            let monday = first - Int64(DateFields(year: year, month: 1, day: 4).isoDayOfWeek - 1)
            if parts.isoWeek == nil, parts.isoDay == nil {
                days = DateFields.days(year: year, month: 1, day: 1)
            } else {
                days = monday + Int64((parts.isoWeek ?? 1) - 1) * 7 + Int64((parts.isoDay ?? 1) - 1)
            }
        } else if let year = parts.year {
            if let ordinal = parts.dayOfYear {
                // MongoDB's library counts the ordinal from zero beside a year.
                days = DateFields.days(year: year, month: 1, day: 1).map { $0 + Int64(ordinal) }
            } else {
                let month = parts.month ?? 1
                let day = parts.day ?? 1
                guard (1...12).contains(month), (1...DateFields.daysInMonth(month, of: year)).contains(day)
                else { return nil }
                days = DateFields.days(year: year, month: month, day: day)
            }
        }
        guard let days, parts.hour <= 24, parts.minute <= 59, parts.second <= 59 else { return nil }
        let time = Int64(((parts.hour * 60 + parts.minute) * 60 + parts.second) * 1000 + parts.millisecond)
        return zone.milliseconds(local: days * DateFields.millisecondsPerDay + time)
    }

    // MARK: By a format

    private mutating func read(format: String) -> Bool {
        var scalars = format.unicodeScalars.makeIterator()
        while let scalar = scalars.next() {
            guard scalar == "%" else {
                for byte in String(scalar).utf8 where !take(byte) { return false }
                continue
            }
            guard let directive = scalars.next(), read(directive) else { return false }
        }
        return true
    }

    private mutating func read(_ directive: Unicode.Scalar) -> Bool {
        switch directive {
        case "%": return take(UInt8(ascii: "%"))
        case "Y":
            parts.year = number(4...4).map(Int64.init)
            return parts.year != nil
        case "G":
            parts.isoYear = number(4...4).map(Int64.init)
            return parts.isoYear != nil
        case "m":
            parts.month = number(1...2)
            return parts.month != nil
        case "d":
            parts.day = number(1...2)
            return parts.day != nil
        case "j":
            parts.dayOfYear = number(1...3)
            return parts.dayOfYear.map { (0...366).contains($0) } ?? false
        case "u":
            parts.isoDay = number(1...1)
            return parts.isoDay.map { (1...7).contains($0) } ?? false
        case "V":
            parts.isoWeek = number(1...2)
            return parts.isoWeek.map { (1...53).contains($0) } ?? false
        case "H": return set(\.hour, 1...2)
        case "M": return set(\.minute, 1...2)
        case "S": return set(\.second, 1...2)
        case "L":
            guard let fraction = fraction() else { return false }
            parts.millisecond = fraction
            return true
        case "b", "B":
            parts.month = monthName()
            return parts.month != nil
        case "z": return readZone()
        default:
            let sign: Int64 = take(UInt8(ascii: "-")) ? -1 : 1
            if sign == 1 { _ = take(UInt8(ascii: "+")) }
            guard let minutes = number(1...4) else { return false }
            parts.zone = .fixed(sign * Int64(minutes) * 60_000)
            return true
        }
    }

    private mutating func set(_ field: WritableKeyPath<Parts, Int>, _ width: ClosedRange<Int>) -> Bool {
        guard let value = number(width) else { return false }
        parts[keyPath: field] = value
        return true
    }

    // MARK: Common forms

    private mutating func readFree() -> Bool {
        bytes = bytes.drop { $0 == 0 }
        while bytes.last == 0 { bytes.removeLast() }
        skipSpaces()
        skipDayName()
        guard readDate() else { return false }
        skipSpaces()
        if take(anyOf: "Tt") || bytes.first.map(Self.isDigit) == true {
            guard readTime() else { return false }
        }
        skipSpaces()
        if !bytes.isEmpty { guard readZone() else { return false } }
        skipSpaces()
        // "Wed Jan 31 12:05:28 +03:30 1996": the year may stand last.
        if parts.year == nil, parts.isoYear == nil { parts.year = number(4...4).map(Int64.init) }
        skipSpaces()
        return true
    }

    private mutating func readDate() -> Bool {
        if let month = monthName() {
            // "oct 20 2020", "October 20th, 2020"
            skipSpaces()
            guard let day = number(1...2) else { return false }
            skipOrdinal()
            _ = take(UInt8(ascii: ","))
            skipSpaces()
            (parts.month, parts.day) = (month, day)
            if bytes.dropFirst(2).first == UInt8(ascii: ":") { return true }
            guard let year = number(4...4) else { return false }
            parts.year = Int64(year)
            return true
        }
        let isBeforeChrist = take(UInt8(ascii: "-"))
        let digits = bytes.prefix(while: Self.isDigit).count
        switch digits {
        case 4:
            guard readYearFirst() else { return false }
            if isBeforeChrist { parts.year = parts.year.map { -$0 } }
            return true
        case _ where isBeforeChrist: return false
        case 8:
            guard let year = number(4...4), let month = number(2...2), let day = number(2...2) else {
                return false
            }
            (parts.year, parts.month, parts.day) = (Int64(year), month, day)
            return true
        case 1, 2: return readDayOrMonthFirst()
        default: return false
        }
    }

    /// A date that begins with its year.
    ///
    /// Shape: `2020`, `2020-10`, `2020-10-05`, `2020/10/05`, `2020-W07-1`.
    private mutating func readYearFirst() -> Bool {
        guard let year = number(4...4) else { return false }
        parts.year = Int64(year)
        guard let separator = bytes.first, separator == UInt8(ascii: "-") || separator == UInt8(ascii: "/")
        else { return false }
        bytes.removeFirst()
        if take(anyOf: "Ww") {
            guard let week = number(2...2) else { return false }
            (parts.isoYear, parts.isoWeek) = (Int64(year), week)
            if take(UInt8(ascii: "-")) { parts.isoDay = number(1...1) }
            return (1...53).contains(week)
        }
        guard let month = number(1...2) else { return false }
        parts.month = month
        if take(separator) {
            guard let day = number(1...2) else { return false }
            parts.day = day
        }
        return true
    }

    /// `10/20/2020` (month first), `20 October 2020`, `20-10-2020` and `20.10.2020` (day first).
    private mutating func readDayOrMonthFirst() -> Bool {
        guard let first = number(1...2) else { return false }
        if take(UInt8(ascii: "/")) {
            guard let day = number(1...2), take(UInt8(ascii: "/")), let year = number(4...4) else {
                return false
            }
            (parts.year, parts.month, parts.day) = (Int64(year), first, day)
            return true
        }
        if let separator = bytes.first, separator == UInt8(ascii: "-") || separator == UInt8(ascii: ".") {
            bytes.removeFirst()
            guard let month = monthName() ?? number(1...2), take(separator), let year = number(4...4) else {
                return false
            }
            (parts.year, parts.month, parts.day) = (Int64(year), month, first)
            return true
        }
        skipOrdinal()
        skipSpaces()
        guard let month = monthName() else { return false }
        _ = take(UInt8(ascii: ","))
        skipSpaces()
        guard let year = number(4...4) else { return false }
        (parts.year, parts.month, parts.day) = (Int64(year), month, first)
        return true
    }

    /// `12`, `12:10`, `12:10:40`, `12:10:40.787`, `121040`, each with an optional `am` or `pm`.
    private mutating func readTime() -> Bool {
        guard let hour = number(1...2) else { return false }
        parts.hour = hour
        if take(UInt8(ascii: ":")) {
            guard let minute = number(2...2) else { return false }
            parts.minute = minute
            if take(UInt8(ascii: ":")) {
                guard let second = number(1...2) else { return false }
                parts.second = second
                if take(anyOf: ".,") {
                    guard let fraction = fraction() else { return false }
                    parts.millisecond = fraction
                }
            }
        } else if bytes.first.map(Self.isDigit) == true {
            guard let minute = number(2...2) else { return false }
            parts.minute = minute
            if let second = number(2...2) { parts.second = second }
        }
        let rest = bytes.drop { $0 == 0x20 }
        let word = rest.prefix(2).map { $0 | 0x20 }
        if word == Array("am".utf8) || word == Array("pm".utf8) {
            guard (1...12).contains(hour) else { return false }
            parts.hour = hour % 12 + (word[0] == UInt8(ascii: "p") ? 12 : 0)
            bytes = rest.dropFirst(2)
        }
        return true
    }

    // MARK: Pieces

    /// `Z`, `GMT`, `+0530`, `Europe/Berlin` and the like, up to the end of the word.
    private mutating func readZone() -> Bool {
        let word = bytes.prefix { !Self.isSpace($0) && $0 != 0xC2 }
        guard !word.isEmpty else { return false }
        let name = String(decoding: word, as: UTF8.self)
        if name == "z" || name == "Z" {
            parts.zone = .utc
        } else if let named = Self.abbreviations[name.uppercased()] {
            parts.zone = .fixed(Int64(named) * 3_600_000)
        } else if let rule = try? TimeZoneRule(name) {
            parts.zone = rule
        } else {
            return false
        }
        bytes = bytes.dropFirst(word.count)
        return true
    }

    /// Hours east of UTC.
    private static let abbreviations = [
        "UTC": 0, "GMT": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6,
        "PST": -8, "PDT": -7, "CET": 1, "CEST": 2, "BST": 1,
    ]

    private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard bytes.first == byte else { return false }
        bytes.removeFirst()
        return true
    }

    private mutating func take(anyOf characters: String) -> Bool {
        guard let first = bytes.first, characters.utf8.contains(first) else { return false }
        bytes.removeFirst()
        return true
    }

    /// Spaces, tabs, line ends and the space that does not break a line.
    private mutating func skipSpaces() {
        while let first = bytes.first {
            if Self.isSpace(first) {
                bytes = bytes.dropFirst()
            } else if first == 0xC2, bytes.dropFirst().first == 0xA0 {
                bytes = bytes.dropFirst(2)
            } else {
                return
            }
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    /// `Wed`, `Wednesday` and the like in front of a date.
    private mutating func skipDayName() {
        let word = bytes.prefix { (65...90).contains($0 & 0xDF) }.map { $0 | 0x20 }
        let days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
        guard days.contains(where: { word == Array($0.utf8) || word == Array($0.utf8.prefix(3)) }) else {
            return
        }
        bytes = bytes.dropFirst(word.count)
        _ = take(UInt8(ascii: ","))
        skipSpaces()
    }

    private mutating func skipOrdinal() {
        let suffix = bytes.prefix(2).map { $0 | 0x20 }
        if ["st", "nd", "rd", "th"].contains(where: { Array($0.utf8) == suffix }) {
            bytes = bytes.dropFirst(2)
        }
    }

    /// As many digits as there are, within the width.
    private mutating func number(_ width: ClosedRange<Int>) -> Int? {
        let digits = bytes.prefix(width.upperBound).prefix(while: Self.isDigit)
        guard digits.count >= width.lowerBound else { return nil }
        bytes = bytes.dropFirst(digits.count)
        return digits.reduce(0) { $0 * 10 + Int($1 - 48) }
    }

    /// Digits after a point as milliseconds; what is finer is cut off.
    private mutating func fraction() -> Int? {
        let digits = bytes.prefix(while: Self.isDigit)
        guard !digits.isEmpty, digits.count <= 9 else { return nil }
        bytes = bytes.dropFirst(digits.count)
        let kept = Array(digits.prefix(3)) + [UInt8](repeating: 48, count: max(0, 3 - digits.count))
        return kept.reduce(0) { $0 * 10 + Int($1 - 48) }
    }

    /// A month by its English name or the name's first three letters, in any case.
    private mutating func monthName() -> Int? {
        let word = bytes.prefix { (65...90).contains($0 & 0xDF) }.map { $0 | 0x20 }
        guard word.count >= 3 else { return nil }
        for (index, name) in DateText.months.enumerated() {
            let full = Array(name.lowercased().utf8)
            guard word == full || word == Array(full.prefix(3)) || (word == Array("sept".utf8) && index == 8)
            else { continue }
            bytes = bytes.dropFirst(word.count)
            return index + 1
        }
        return nil
    }
}
