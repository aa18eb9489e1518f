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

    private var text: DateTextScanner
    private var parts = Parts()

    private init(_ text: String) {
        self.text = DateTextScanner(text)
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
        guard parser.text.rest.isEmpty else { return nil }
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
                for byte in String(scalar).utf8 where !text.take(byte) { return false }
                continue
            }
            guard let directive = scalars.next(), read(directive) else { return false }
        }
        return true
    }

    private mutating func read(_ directive: Unicode.Scalar) -> Bool {
        switch directive {
        case "%": return text.take(UInt8(ascii: "%"))
        case "Y":
            parts.year = text.number(4...4).map(Int64.init)
            return parts.year != nil
        case "G":
            parts.isoYear = text.number(4...4).map(Int64.init)
            return parts.isoYear != nil
        case "m":
            parts.month = text.number(1...2)
            return parts.month != nil
        case "d":
            parts.day = text.number(1...2)
            return parts.day != nil
        case "j":
            parts.dayOfYear = text.number(1...3)
            return parts.dayOfYear.map { (0...366).contains($0) } ?? false
        case "u":
            parts.isoDay = text.number(1...1)
            return parts.isoDay.map { (1...7).contains($0) } ?? false
        case "V":
            parts.isoWeek = text.number(1...2)
            return parts.isoWeek.map { (1...53).contains($0) } ?? false
        case "H": return set(\.hour, 1...2)
        case "M": return set(\.minute, 1...2)
        case "S": return set(\.second, 1...2)
        case "L":
            guard let fraction = text.fraction() else { return false }
            parts.millisecond = fraction
            return true
        case "b", "B":
            parts.month = text.monthName()
            return parts.month != nil
        case "z": return readZone()
        default:
            let sign: Int64 = text.take(UInt8(ascii: "-")) ? -1 : 1
            if sign == 1 { _ = text.take(UInt8(ascii: "+")) }
            guard let minutes = text.number(1...4) else { return false }
            parts.zone = .fixed(sign * Int64(minutes) * 60_000)
            return true
        }
    }

    private mutating func set(_ field: WritableKeyPath<Parts, Int>, _ width: ClosedRange<Int>) -> Bool {
        guard let value = text.number(width) else { return false }
        parts[keyPath: field] = value
        return true
    }

    // MARK: Common forms

    private mutating func readFree() -> Bool {
        text.trimZeros()
        text.skipSpaces()
        text.skipDayName()
        guard readDate() else { return false }
        text.skipSpaces()
        if text.take(anyOf: "Tt") || text.isAtDigit {
            guard readTime() else { return false }
        }
        text.skipSpaces()
        if !text.rest.isEmpty { guard readZone() else { return false } }
        text.skipSpaces()
        // "Wed Jan 31 12:05:28 +03:30 1996": the year may stand last.
        if parts.year == nil, parts.isoYear == nil { parts.year = text.number(4...4).map(Int64.init) }
        text.skipSpaces()
        return true
    }

    private mutating func readDate() -> Bool {
        if let month = text.monthName() {
            // "oct 20 2020", "October 20th, 2020"
            text.skipSpaces()
            guard let day = text.number(1...2) else { return false }
            text.skipOrdinal()
            _ = text.take(UInt8(ascii: ","))
            text.skipSpaces()
            (parts.month, parts.day) = (month, day)
            if text.rest.dropFirst(2).first == UInt8(ascii: ":") { return true }
            guard let year = text.number(4...4) else { return false }
            parts.year = Int64(year)
            return true
        }
        let isBeforeChrist = text.take(UInt8(ascii: "-"))
        switch text.digitCount {
        case 4:
            guard readYearFirst() else { return false }
            if isBeforeChrist { parts.year = parts.year.map { -$0 } }
            return true
        case _ where isBeforeChrist: return false
        case 8:
            guard let year = text.number(4...4), let month = text.number(2...2), let day = text.number(2...2)
            else {
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
        guard let year = text.number(4...4) else { return false }
        parts.year = Int64(year)
        guard let separator = text.one(of: "-/") else { return false }
        if text.take(anyOf: "Ww") {
            guard let week = text.number(2...2) else { return false }
            (parts.isoYear, parts.isoWeek) = (Int64(year), week)
            if text.take(UInt8(ascii: "-")) { parts.isoDay = text.number(1...1) }
            return (1...53).contains(week)
        }
        guard let month = text.number(1...2) else { return false }
        parts.month = month
        if text.take(separator) {
            guard let day = text.number(1...2) else { return false }
            parts.day = day
        }
        return true
    }

    /// `10/20/2020` (month first), `20 October 2020`, `20-10-2020` and `20.10.2020` (day first).
    private mutating func readDayOrMonthFirst() -> Bool {
        guard let first = text.number(1...2) else { return false }
        if text.take(UInt8(ascii: "/")) {
            guard let day = text.number(1...2), text.take(UInt8(ascii: "/")), let year = text.number(4...4)
            else {
                return false
            }
            (parts.year, parts.month, parts.day) = (Int64(year), first, day)
            return true
        }
        if let separator = text.one(of: "-.") {
            guard let month = text.monthName() ?? text.number(1...2), text.take(separator),
                let year = text.number(4...4)
            else {
                return false
            }
            (parts.year, parts.month, parts.day) = (Int64(year), month, first)
            return true
        }
        text.skipOrdinal()
        text.skipSpaces()
        guard let month = text.monthName() else { return false }
        _ = text.take(UInt8(ascii: ","))
        text.skipSpaces()
        guard let year = text.number(4...4) else { return false }
        (parts.year, parts.month, parts.day) = (Int64(year), month, first)
        return true
    }

    /// `12`, `12:10`, `12:10:40`, `12:10:40.787`, `121040`, each with an optional `am` or `pm`.
    private mutating func readTime() -> Bool {
        guard let hour = text.number(1...2) else { return false }
        parts.hour = hour
        if text.take(UInt8(ascii: ":")) {
            guard let minute = text.number(2...2) else { return false }
            parts.minute = minute
            if text.take(UInt8(ascii: ":")) {
                guard let second = text.number(1...2) else { return false }
                parts.second = second
                if text.take(anyOf: ".,") {
                    guard let fraction = text.fraction() else { return false }
                    parts.millisecond = fraction
                }
            }
        } else if text.isAtDigit {
            guard let minute = text.number(2...2) else { return false }
            parts.minute = minute
            if let second = text.number(2...2) { parts.second = second }
        }
        if let isAfternoon = text.halfOfDay() {
            guard (1...12).contains(hour) else { return false }
            parts.hour = hour % 12 + (isAfternoon ? 12 : 0)
        }
        return true
    }

    private mutating func readZone() -> Bool {
        parts.zone = text.zone()
        return parts.zone != nil
    }
}
