/// Milliseconds since 1970 to and from ISO 8601 text, in the proleptic Gregorian calendar.
///
/// Source: RFC 3339; ECMAScript's expanded years (`+010000-…`) beyond 0000–9999.
enum ISODate {
    /// 1970-01-01T00:00:00Z up to the last millisecond of 9999, where relaxed Extended JSON writes text.
    static let relaxedRange: ClosedRange<Int64> = 0...253_402_300_799_999
    private static let dayMilliseconds: Int64 = 86_400_000

    enum Fraction {
        /// Always three digits.
        case always
        /// Three digits unless they are zero.
        case unlessZero
    }

    /// `2022-01-12T02:33:23.067Z`.
    static func append(_ milliseconds: Int64, fraction: Fraction, to out: inout [UInt8]) {
        var days = milliseconds / dayMilliseconds
        var rest = milliseconds % dayMilliseconds
        if rest < 0 {
            rest += dayMilliseconds
            days -= 1
        }
        let (year, month, day) = date(ofDay: days)
        if (0...9999).contains(year) {
            append(year, width: 4, to: &out)
        } else {
            out.append(year < 0 ? UInt8(ascii: "-") : UInt8(ascii: "+"))
            append(abs(year), width: 6, to: &out)
        }
        out.append(UInt8(ascii: "-"))
        append(month, width: 2, to: &out)
        out.append(UInt8(ascii: "-"))
        append(day, width: 2, to: &out)
        out.append(UInt8(ascii: "T"))
        append(rest / 3_600_000, width: 2, to: &out)
        out.append(UInt8(ascii: ":"))
        append(rest / 60_000 % 60, width: 2, to: &out)
        out.append(UInt8(ascii: ":"))
        append(rest / 1000 % 60, width: 2, to: &out)
        if fraction == .always || rest % 1000 != 0 {
            out.append(UInt8(ascii: "."))
            append(rest % 1000, width: 3, to: &out)
        }
        out.append(UInt8(ascii: "Z"))
    }

    /// At least `width` digits.
    private static func append(_ value: Int64, width: Int, to out: inout [UInt8]) {
        var threshold: Int64 = 10
        for _ in 1..<width {
            if value < threshold { out.append(UInt8(ascii: "0")) }
            threshold *= 10
        }
        JSONText.append(value, to: &out)
    }

    /// Year, month and day of a day count; algorithm `civil_from_days` of Howard Hinnant.
    static func date(ofDay day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let index = (5 * dayOfYear + 2) / 153
        let month = index < 10 ? index + 3 : index - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * index + 2) / 5 + 1)
    }

    /// The day count of a date; `days_from_civil`.
    static func day(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// Reads `YYYY-MM-DDTHH:MM[:SS[.fraction]](Z|±HH[:]MM|±HH)`; nil for anything else, impossible dates included.
    static func parse(_ text: String) -> Int64? {
        var cursor = Cursor(rest: Array(text.utf8)[...])
        var sign: Int64 = 1
        var width = 4
        if let mark = cursor.take(anyOf: "+-") {
            sign = mark == UInt8(ascii: "-") ? -1 : 1
            width = 6
        }
        guard let year = cursor.number(width), cursor.take(anyOf: "-") != nil,
            let month = cursor.number(2), (1...12).contains(month), cursor.take(anyOf: "-") != nil,
            let day = cursor.number(2), (1...31).contains(day), cursor.take(anyOf: "Tt ") != nil,
            let hour = cursor.number(2), hour <= 23, cursor.take(anyOf: ":") != nil,
            let minute = cursor.number(2), minute <= 59
        else { return nil }
        var milliseconds: Int64 = (hour * 60 + minute) * 60_000
        if cursor.take(anyOf: ":") != nil {
            guard let second = cursor.number(2), second <= 59 else { return nil }
            milliseconds += second * 1000
            if cursor.take(anyOf: ".,") != nil {
                guard let fraction = cursor.fraction() else { return nil }
                milliseconds += fraction
            }
        }
        guard let offset = cursor.zone(), cursor.rest.isEmpty else { return nil }
        let days = self.day(year: sign * year, month: month, day: day)
        let written = date(ofDay: days)
        guard written.month == month, written.day == day else { return nil }
        return days * dayMilliseconds + milliseconds - offset
    }

    private struct Cursor {
        var rest: ArraySlice<UInt8>

        mutating func take(anyOf characters: StaticString) -> UInt8? {
            guard let next = rest.first else { return nil }
            guard characters.withUTF8Buffer({ $0.contains(next) }) else { return nil }
            return rest.popFirst()
        }

        mutating func number(_ width: Int) -> Int64? {
            guard rest.count >= width else { return nil }
            var value: Int64 = 0
            for _ in 0..<width {
                guard let digit = rest.popFirst(), digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9")
                else {
                    return nil
                }
                value = value * 10 + Int64(digit - UInt8(ascii: "0"))
            }
            return value
        }

        /// Milliseconds; digits beyond the third are cut off.
        mutating func fraction() -> Int64? {
            var value: Int64 = 0
            var count = 0
            while let digit = rest.first, digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") {
                rest.removeFirst()
                if count < 3 { value = value * 10 + Int64(digit - UInt8(ascii: "0")) }
                count += 1
            }
            guard count > 0 else { return nil }
            for _ in 0..<max(0, 3 - count) { value *= 10 }
            return value
        }

        /// The offset from UTC in milliseconds.
        mutating func zone() -> Int64? {
            if take(anyOf: "Zz") != nil { return 0 }
            guard let mark = take(anyOf: "+-"), let hours = number(2), hours <= 23 else { return nil }
            var minutes: Int64 = 0
            if take(anyOf: ":") != nil || !rest.isEmpty {
                guard let written = number(2), written <= 59 else { return nil }
                minutes = written
            }
            return (hours * 60 + minutes) * (mark == UInt8(ascii: "-") ? -60_000 : 60_000)
        }
    }
}
