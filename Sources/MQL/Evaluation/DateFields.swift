import BSON

/// A point in time as calendar fields, in the proleptic Gregorian calendar.
///
/// The conversions are those of Howard Hinnant's "chrono-Compatible Low-Level Date Algorithms".
struct DateFields: Equatable {
    static let millisecondsPerDay: Int64 = 86_400_000

    var year: Int64
    /// 1 to 12.
    var month: Int
    /// 1 to 31.
    var day: Int
    var hour = 0
    var minute = 0
    var second = 0
    var millisecond = 0

    init(
        year: Int64,
        month: Int,
        day: Int,
        hour: Int = 0,
        minute: Int = 0,
        second: Int = 0,
        millisecond: Int = 0
    ) {
        self.year = year
        self.month = month
        self.day = day
        self.hour = hour
        self.minute = minute
        self.second = second
        self.millisecond = millisecond
    }

    /// From milliseconds since 1970 of local time.
    init(local milliseconds: Int64) {
        let days = Self.floorDivide(milliseconds, Self.millisecondsPerDay)
        let rest = Int(milliseconds &- days &* Self.millisecondsPerDay)
        self = Self.civil(days: days)
        hour = rest / 3_600_000
        minute = rest / 60_000 % 60
        second = rest / 1000 % 60
        millisecond = rest % 1000
    }

    /// Milliseconds since 1970 of local time; nil past 64 bits.
    var local: Int64? {
        guard let days = Self.days(year: year, month: month, day: day) else { return nil }
        let (whole, overflow) = days.multipliedReportingOverflow(by: Self.millisecondsPerDay)
        let rest = Int64(((hour * 60 + minute) * 60 + second) * 1000 + millisecond)
        let (total, overflows) = whole.addingReportingOverflow(rest)
        return overflow || overflows ? nil : total
    }

    static func floorDivide(_ dividend: Int64, _ divisor: Int64) -> Int64 {
        let quotient = dividend / divisor
        return dividend % divisor != 0 && (dividend < 0) != (divisor < 0) ? quotient - 1 : quotient
    }

    /// Days since 1970-01-01; nil for years that no 64-bit date reaches.
    static func days(year: Int64, month: Int, day: Int) -> Int64? {
        guard year.magnitude < 400_000_000 else { return nil }
        let shifted = month <= 2 ? year - 1 : year
        let era = floorDivide(shifted, 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = Int64((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1)
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    private static func civil(days: Int64) -> DateFields {
        let shifted = days + 719_468
        let era = floorDivide(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = Int(dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
        let month = Int(shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9)
        return DateFields(year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month: month, day: day)
    }

    static func isLeap(_ year: Int64) -> Bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }

    static func daysInMonth(_ month: Int, of year: Int64) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days since 1970-01-01.
    var dayNumber: Int64 { Self.days(year: year, month: month, day: day) ?? 0 }

    /// 1 to 366.
    var dayOfYear: Int {
        Int(dayNumber - (Self.days(year: year, month: 1, day: 1) ?? 0)) + 1
    }

    /// 1 (Sunday) to 7 (Saturday).
    var dayOfWeek: Int { Self.dayOfWeek(dayNumber) }

    static func dayOfWeek(_ days: Int64) -> Int {
        Int(days + 4 - floorDivide(days + 4, 7) * 7) + 1
    }

    /// 1 (Monday) to 7 (Sunday).
    var isoDayOfWeek: Int { dayOfWeek == 1 ? 7 : dayOfWeek - 1 }

    /// 0 to 53: weeks begin on Sunday, week 1 with the year's first Sunday.
    var week: Int { (dayOfYear - dayOfWeek + 7) / 7 }

    /// The year and week (1 to 53) of ISO 8601: weeks begin on Monday, week 1 has the year's first
    /// Thursday.
    var isoWeek: (year: Int64, week: Int) {
        let week = (dayOfYear - isoDayOfWeek + 10) / 7
        if week < 1 {
            return (year - 1, Self.isoWeeks(in: year - 1))
        }
        if week > Self.isoWeeks(in: year) { return (year + 1, 1) }
        return (year, week)
    }

    private static func isoWeeks(in year: Int64) -> Int {
        let first = DateFields(year: year, month: 1, day: 1).isoDayOfWeek
        return first == 4 || (first == 3 && isLeap(year)) ? 53 : 52
    }
}
