import BSON
import Errors
import Foundation
import Synchronization

/// The offset of local time from UTC: fixed, or by the rules of a named zone.
enum TimeZoneRule {
    /// Milliseconds east of UTC.
    case fixed(Int64)
    case named(TimeZone)

    static let utc = TimeZoneRule.fixed(0)

    /// Whether local time is UTC at all times.
    var isUTC: Bool { if case .fixed(0) = self { true } else { false } }

    /// Zones by name; Foundation reads a file for each new one.
    private static let cache = Mutex<[String: TimeZone]>([:])

    /// Reads `Europe/Berlin`, `+05:30`, `+0530`, `+05`, `UTC`, `GMT`.
    ///
    /// - Throws: ``ServiceError`` with server code 40485.
    init(_ name: String) throws(ServiceError) {
        if name == "UTC" || name == "GMT" {
            self = .utc
            return
        }
        if let offset = Self.offset(name) {
            self = .fixed(offset)
            return
        }
        if let zone = Self.cache.withLock({ $0[name] }) {
            self = .named(zone)
            return
        }
        // Foundation also takes abbreviations and `GMT+…`, and ignores case; MongoDB takes Olson names.
        guard name.utf8.count < 64, name.utf8.first.map({ $0 != UInt8(ascii: "+") }) == true,
            TimeZone.knownTimeZoneIdentifiers.contains(name) || Self.olsonExtras.contains(name),
            let zone = TimeZone(identifier: name)
        else {
            throw .mongo(
                40485,
                "unrecognized time zone identifier: \"\(MessageText.shortened(name))\""
            )
        }
        Self.cache.withLock { $0[name] = zone }
        self = .named(zone)
    }

    /// Names of the database that Foundation's list leaves out.
    private static let olsonExtras: Set<String> = Set([
        "EST", "EST5EDT", "CST6CDT", "MST", "MST7MDT", "PST8PDT", "HST", "CET", "CEST", "EET", "MET",
        "WET", "Etc/UTC", "Etc/GMT", "US/Eastern", "US/Central", "US/Mountain", "US/Pacific",
        "Asia/Calcutta", "Asia/Kolkata", "Asia/Katmandu", "Asia/Kathmandu", "Asia/Saigon",
        "Asia/Ho_Chi_Minh", "Europe/Kiev", "Europe/Kyiv", "America/Argentina/Buenos_Aires",
    ]).union((-14...12).map { $0 == 0 ? "Etc/GMT0" : "Etc/GMT\($0 > 0 ? "+" : "")\($0)" })

    /// `±hh`, `±hhmm`, `±hh:mm` as milliseconds.
    static func offset(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard let sign = bytes.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else {
            return nil
        }
        var digits = Array(bytes.dropFirst())
        if digits.count == 5, digits[2] == UInt8(ascii: ":") { digits.remove(at: 2) }
        guard digits.count == 2 || digits.count == 4, digits.allSatisfy({ (48...57).contains($0) }) else {
            return nil
        }
        let values = digits.map { Int64($0 - 48) }
        let minutes = digits.count == 4 ? values[2] * 10 + values[3] : 0
        let total = ((values[0] * 10 + values[1]) * 60 + minutes) * 60_000
        return sign == UInt8(ascii: "-") ? -total : total
    }

    /// Milliseconds east of UTC at a point in time.
    func offset(at milliseconds: Int64) -> Int64 {
        switch self {
        case .fixed(let offset): return offset
        case .named(let zone):
            // Past the year 10000 no zone has rules; a bounded date keeps Foundation's loops short.
            let bounded = Swift.min(Swift.max(milliseconds, -62_135_596_800_000), 253_402_300_799_000)
            let date = Date(timeIntervalSince1970: Double(bounded) / 1000)
            return Int64(zone.secondsFromGMT(for: date)) * 1000
        }
    }

    /// The calendar fields of a point in time in this zone.
    func fields(of milliseconds: Int64) -> DateFields {
        DateFields(local: milliseconds.addingReportingOverflow(offset(at: milliseconds)).partialValue)
    }

    /// The point in time of a local time; nil past 64 bits.
    ///
    /// In the gap of a forward change the later offset's complement is taken, in the overlap of a
    /// backward change the earlier time, as MongoDB's library does.
    func milliseconds(local: Int64) -> Int64? {
        let guess = local.subtractingReportingOverflow(offset(at: local))
        if guess.overflow { return nil }
        let early = offset(at: guess.partialValue &- 86_400_000)
        let candidate = local.subtractingReportingOverflow(early)
        if !candidate.overflow, offset(at: candidate.partialValue) == early { return candidate.partialValue }
        let late = offset(at: guess.partialValue &+ 86_400_000)
        let other = local.subtractingReportingOverflow(late)
        if !other.overflow, offset(at: other.partialValue) == late { return other.partialValue }
        return candidate.overflow ? nil : candidate.partialValue
    }
}
