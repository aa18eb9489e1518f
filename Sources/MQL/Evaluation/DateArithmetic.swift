import BSON
import Errors

/// A unit of time, as `$dateAdd` and its relatives name it.
enum DateUnit: String {
    case year
    case quarter
    case month
    case week
    case day
    case hour
    case minute
    case second
    case millisecond

    /// Milliseconds, for units of a fixed length.
    var milliseconds: Int64? {
        switch self {
        case .hour: 3_600_000
        case .minute: 60_000
        case .second: 1000
        case .millisecond: 1
        case .year, .quarter, .month, .week, .day: nil
        }
    }

    /// Months, for units that are counted in them.
    var months: Int64? {
        switch self {
        case .year: 12
        case .quarter: 3
        case .month: 1
        case .week, .day, .hour, .minute, .second, .millisecond: nil
        }
    }
}

/// Adding to dates, their difference and truncation, in a time zone.
///
/// Days and longer units follow the local calendar, shorter ones the clock. Source: MongoDB manual,
/// `$dateAdd`, `$dateDiff`, `$dateTrunc`.
enum DateArithmetic {
    /// A date moved by some units; nil when it leaves the range of dates.
    static func add(_ date: Int64, _ unit: DateUnit, _ amount: Int64, _ zone: TimeZoneRule) -> Int64? {
        if let length = unit.milliseconds {
            let (span, overflow) = amount.multipliedReportingOverflow(by: length)
            let (sum, overflows) = date.addingReportingOverflow(span)
            return overflow || overflows ? nil : sum
        }
        // More than any range of dates; keeps the arithmetic below within its type.
        guard amount.magnitude < 1 << 40 else { return nil }
        var fields = zone.fields(of: date)
        if let months = unit.months {
            let total = fields.year * 12 + Int64(fields.month - 1) + amount * months
            fields.year = DateFields.floorDivide(total, 12)
            fields.month = Int(total - fields.year * 12) + 1
            guard fields.year.magnitude < 300_000_000 else { return nil }
            fields.day = min(fields.day, DateFields.daysInMonth(fields.month, of: fields.year))
            return fields.local.flatMap { zone.milliseconds(local: $0) }
        }
        let days = amount * (unit == .week ? 7 : 1)
        guard let local = fields.local else { return nil }
        let (span, overflow) = days.multipliedReportingOverflow(by: DateFields.millisecondsPerDay)
        let (sum, overflows) = local.addingReportingOverflow(span)
        return overflow || overflows ? nil : zone.milliseconds(local: sum)
    }

    /// How many boundaries of a unit lie between two dates.
    ///
    /// - Parameters:
    ///   - start: Milliseconds since 1970.
    ///   - end: Milliseconds since 1970; before the start, the answer is negative.
    ///   - unit: The unit whose boundaries are counted.
    ///   - zone: Where the boundaries are those of the local clock.
    ///   - startOfWeek: 1 (Monday) to 7 (Sunday).
    /// - Returns: nil when the number does not fit 64 bits.
    static func difference(
        from start: Int64,
        to end: Int64,
        _ unit: DateUnit,
        _ zone: TimeZoneRule,
        startOfWeek: Int
    ) -> Int64? {
        let first = zone.fields(of: start)
        let last = zone.fields(of: end)
        switch unit {
        case .year: return last.year - first.year
        case .quarter:
            return (last.year - first.year) * 4 + Int64((last.month - 1) / 3 - (first.month - 1) / 3)
        case .month: return (last.year - first.year) * 12 + Int64(last.month - first.month)
        case .week:
            // Day 0, 1970-01-01, was a Thursday.
            let shift = Int64(3 - (startOfWeek - 1))
            return DateFields.floorDivide(last.dayNumber + shift, 7)
                - DateFields.floorDivide(first.dayNumber + shift, 7)
        case .day: return last.dayNumber - first.dayNumber
        case .hour, .minute, .second, .millisecond:
            guard let length = unit.milliseconds else { return nil }
            if unit == .millisecond {
                let (span, overflow) = end.subtractingReportingOverflow(start)
                return overflow ? nil : span
            }
            // Both by the start's offset, so that a change of the clock in between counts real time.
            let offset = zone.offset(at: start)
            let from = start.addingReportingOverflow(offset)
            let to = end.addingReportingOverflow(offset)
            if from.overflow || to.overflow { return nil }
            return DateFields.floorDivide(to.partialValue, length)
                - DateFields.floorDivide(from.partialValue, length)
        }
    }

    /// The start of the bin that a date lies in; bins are counted from 2000-01-01 local time.
    static func truncate(
        _ date: Int64,
        _ unit: DateUnit,
        bin: Int64,
        _ zone: TimeZoneRule,
        startOfWeek: Int
    ) -> Int64? {
        if let length = unit.milliseconds {
            let (size, overflow) = length.multipliedReportingOverflow(by: bin)
            if overflow { return nil }
            // 2000-01-01T00:00 local, by the offset in force at the date, so that a change of the
            // clock does not shift the bins.
            let reference = 946_684_800_000 - zone.offset(at: date)
            let distance = date.subtractingReportingOverflow(reference)
            if distance.overflow { return nil }
            let (start, low) = DateFields.floorDivide(distance.partialValue, size)
                .multipliedReportingOverflow(by: size)
            let (result, lower) = start.addingReportingOverflow(reference)
            return low || lower ? nil : result
        }
        let fields = zone.fields(of: date)
        if let months = unit.months {
            let (size, overflow) = months.multipliedReportingOverflow(by: bin)
            if overflow { return nil }
            let distance = (fields.year - 2000) * 12 + Int64(fields.month - 1)
            let (span, low) = DateFields.floorDivide(distance, size).multipliedReportingOverflow(by: size)
            guard !low, span.magnitude < 3_000_000_000 else { return nil }
            let start = span + 2000 * 12
            let year = DateFields.floorDivide(start, 12)
            return DateFields(year: year, month: Int(start - year * 12) + 1, day: 1).local
                .flatMap { zone.milliseconds(local: $0) }
        }
        let (size, overflow) = bin.multipliedReportingOverflow(by: unit == .week ? 7 : 1)
        if overflow { return nil }
        // Day 10957 is 2000-01-01, a Saturday (6); weeks count from the first start of a week after.
        let reference = 10_957 + (unit == .week ? Int64((startOfWeek - 6 + 7) % 7) : 0)
        let (span, low) = DateFields.floorDivide(fields.dayNumber - reference, size)
            .multipliedReportingOverflow(by: size)
        let (local, lower) = (span &+ reference).multipliedReportingOverflow(
            by: DateFields.millisecondsPerDay
        )
        return low || lower ? nil : zone.milliseconds(local: local)
    }
}
