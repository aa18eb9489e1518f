import Foundation

/// The times of a trigger: five fields, minute, hour, day of the month, month, weekday.
///
/// A field is `*`, a value, a range, a list of these, or, for minutes and hours, a step: `*/25` is every value that
/// 25 divides. Months and weekdays have names; Sunday is 0 and 7. Where both days are given, one of them is enough.
/// Source: `reference/functions.md` §13.
public struct CronSchedule: Sendable, Hashable {
    /// Why a text is no schedule.
    public struct Fault: Error {
        /// Names the field.
        public let message: String
    }

    private let minutes: Set<Int>
    private let hours: Set<Int>
    private let days: Set<Int>
    private let months: Set<Int>
    private let weekdays: Set<Int>
    /// Whether the day of the month, or the weekday, is `*`.
    private let anyDay: Bool
    private let anyWeekday: Bool

    /// Reads `0 7 * * MON-FRI`.
    public init(_ text: String) throws(Fault) {
        let fields = text.split(whereSeparator: \.isWhitespace).map(String.init)
        guard fields.count == 5 else {
            throw Fault(message: "must have five fields: minute, hour, day of month, month, weekday")
        }
        minutes = try Field("minute", 0...59, hasSteps: true).values(fields[0])
        hours = try Field("hour", 0...23, hasSteps: true).values(fields[1])
        days = try Field("day of month", 1...31).values(fields[2])
        months = try Field("month", 1...12, names: Self.monthNames).values(fields[3])
        weekdays = Set(
            try Field("weekday", 0...7, names: Self.weekdayNames).values(fields[4]).map { $0 % 7 }
        )
        anyDay = fields[2] == "*"
        anyWeekday = fields[4] == "*"
        guard
            anyWeekday == false
                || days.contains(where: { day in months.contains { day <= Self.longest[$0 - 1] } })
        else { throw Fault(message: "no month that it names has such a day") }
    }

    private static let longest = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    private static let monthNames = [
        "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC",
    ]
    private static let weekdayNames = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]

    /// Whether a name is that of a time zone: `Europe/Berlin`, `UTC`.
    static func isTimeZone(_ name: String) -> Bool {
        name == "UTC" || TimeZone.knownTimeZoneIdentifiers.contains(name)
    }

    /// The next time behind one, in seconds since 1970.
    ///
    /// A time that a change of clocks leaves out does not come on that day; one that it brings twice comes once.
    ///
    /// - Returns: nil when there is none within the eight years that hold every 29th of February.
    public func next(after seconds: Int64, timeZone: String) -> Int64? {
        var calendar = Calendar(identifier: .gregorian)
        guard let zone = TimeZone(identifier: timeZone) else { return nil }
        calendar.timeZone = zone
        let start = Date(timeIntervalSince1970: Double(seconds))
        guard var day = calendar.dateInterval(of: .day, for: start)?.start else { return nil }
        for _ in 0..<(366 * 9) {
            let parts = calendar.dateComponents([.year, .month, .day, .weekday], from: day)
            if matches(parts) {
                for hour in hours.sorted() {
                    for minute in minutes.sorted() {
                        var wanted = parts
                        wanted.weekday = nil
                        wanted.hour = hour
                        wanted.minute = minute
                        guard let time = calendar.date(from: wanted), time > start,
                            calendar.component(.hour, from: time) == hour,
                            calendar.component(.minute, from: time) == minute
                        else { continue }
                        return Int64(time.timeIntervalSince1970)
                    }
                }
            }
            // Noon is on the next day whatever clocks do at midnight.
            guard let later = calendar.date(byAdding: .hour, value: 36, to: day),
                let next = calendar.dateInterval(of: .day, for: later)?.start
            else { return nil }
            day = next
        }
        return nil
    }

    private func matches(_ parts: DateComponents) -> Bool {
        guard let month = parts.month, let day = parts.day, let weekday = parts.weekday,
            months.contains(month)
        else { return false }
        let isDay = days.contains(day)
        let isWeekday = weekdays.contains(weekday - 1)
        return anyDay || anyWeekday ? isDay && isWeekday : isDay || isWeekday
    }

    /// One of the five.
    private struct Field {
        let name: String
        let bounds: ClosedRange<Int>
        let names: [String]
        let hasSteps: Bool

        init(_ name: String, _ bounds: ClosedRange<Int>, names: [String] = [], hasSteps: Bool = false) {
            self.name = name
            self.bounds = bounds
            self.names = names
            self.hasSteps = hasSteps
        }

        func values(_ text: String) throws(Fault) -> Set<Int> {
            var found: Set<Int> = []
            for part in text.split(separator: ",", omittingEmptySubsequences: false) {
                let pieces = part.split(separator: "/", omittingEmptySubsequences: false)
                guard pieces.count <= 2 else { throw fault(text) }
                var range = bounds
                if pieces[0] != "*" {
                    let ends = pieces[0].split(separator: "-", omittingEmptySubsequences: false)
                    guard ends.count <= 2, let low = value(ends[0]), let high = value(ends[ends.count - 1]),
                        low <= high
                    else { throw fault(text) }
                    range = low...high
                }
                guard pieces.count == 2 else {
                    found.formUnion(range)
                    continue
                }
                guard hasSteps else { throw Fault(message: "the \(name) cannot have a step, is '\(text)'") }
                guard let step = Int(pieces[1]), step > 0 else { throw fault(text) }
                found.formUnion(range.filter { $0 % step == 0 })
            }
            guard !found.isEmpty else { throw fault(text) }
            return found
        }

        private func value(_ text: Substring) -> Int? {
            if let place = names.firstIndex(of: text.uppercased()) {
                return place + (bounds.lowerBound == 1 ? 1 : 0)
            }
            guard text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let number = Int(text),
                bounds.contains(number)
            else { return nil }
            return number
        }

        private func fault(_ text: String) -> Fault {
            Fault(
                message:
                    "the \(name) must be *, or values from \(bounds.lowerBound) to \(bounds.upperBound), is '\(text)'"
            )
        }
    }
}
