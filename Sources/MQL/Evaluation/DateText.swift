import BSON
import Errors

/// Dates to text by a format, as `$dateToString` writes them.
enum DateText {
    static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September",
        "October", "November", "December",
    ]

    /// Milliseconds since 1970 as `2017-02-08T12:10:40.787Z`.
    static func iso(_ milliseconds: Int64) -> String {
        let fields = DateFields(local: milliseconds)
        return "\(dateAndTime(fields))Z"
    }

    /// A timestamp as the text operators read it: `Jul 20 18:40:00:1`.
    static func short(_ timestamp: BSONTimestamp) -> String {
        let fields = DateFields(local: Int64(timestamp.seconds) * 1000)
        let day = fields.day < 10 ? " \(fields.day)" : String(fields.day)
        return
            "\(months[fields.month - 1].prefix(3)) \(day) \(padded(fields.hour, 2)):\(padded(fields.minute, 2))"
            + ":\(padded(fields.second, 2)):\(timestamp.increment)"
    }

    /// A date without its zone: `2017-02-08T12:10:40.787`.
    static func dateAndTime(_ fields: DateFields) -> String {
        let year = fields.year < 0 ? "-" + padded(-fields.year, 4) : padded(fields.year, 4)
        return "\(year)-\(padded(fields.month, 2))-\(padded(fields.day, 2))T\(padded(fields.hour, 2))"
            + ":\(padded(fields.minute, 2)):\(padded(fields.second, 2)).\(padded(fields.millisecond, 3))"
    }

    /// Fills in a format.
    ///
    /// - Parameters:
    ///   - fields: The date, as the clock of its zone shows it.
    ///   - offset: Milliseconds east of UTC.
    ///   - format: Text with directives such as `%Y`; `%%` is a percent sign.
    /// - Returns: The format's text with every directive replaced.
    /// - Throws: ``ServiceError`` with server code 18535, 18536 or 18537.
    static func formatted(_ fields: DateFields, offset: Int64, format: String) throws(ServiceError) -> String
    {
        var result = ""
        var scalars = format.unicodeScalars.makeIterator()
        while let scalar = scalars.next() {
            guard scalar == "%" else {
                result.unicodeScalars.append(scalar)
                continue
            }
            guard let directive = scalars.next() else {
                throw .mongo(18535, "Unmatched '%' at end of format string")
            }
            result += try text(of: directive, fields, offset)
        }
        return result
    }

    /// Whether a format has only directives that exist.
    static func check(_ format: String, directives: String) throws(ServiceError) {
        var scalars = format.unicodeScalars.makeIterator()
        while let scalar = scalars.next() {
            guard scalar == "%" else { continue }
            guard let directive = scalars.next() else {
                throw .mongo(18535, "Unmatched '%' at end of format string")
            }
            guard directives.unicodeScalars.contains(directive) else {
                throw .mongo(18536, "Invalid format character '%\(directive)' in format string")
            }
        }
    }

    private static func text(of directive: Unicode.Scalar, _ fields: DateFields, _ offset: Int64)
        throws(ServiceError) -> String
    {
        switch directive {
        case "%": return "%"
        case "Y": return try year(fields.year)
        case "m": return padded(fields.month, 2)
        case "d": return padded(fields.day, 2)
        case "H": return padded(fields.hour, 2)
        case "M": return padded(fields.minute, 2)
        case "S": return padded(fields.second, 2)
        case "L": return padded(fields.millisecond, 3)
        case "j": return padded(fields.dayOfYear, 3)
        case "w": return String(fields.dayOfWeek)
        case "u": return String(fields.isoDayOfWeek)
        case "U": return padded(fields.week, 2)
        case "V": return padded(fields.isoWeek.week, 2)
        case "G": return try year(fields.isoWeek.year)
        case "b": return String(months[fields.month - 1].prefix(3))
        case "B": return months[fields.month - 1]
        case "z":
            let minutes = offset / 60_000
            return "\(minutes < 0 ? "-" : "+")\(padded(abs(minutes) / 60, 2))\(padded(abs(minutes) % 60, 2))"
        case "Z":
            return String(offset / 60_000)
        default: throw .mongo(18536, "Invalid format character '%\(directive)' in format string")
        }
    }

    private static func year(_ year: Int64) throws(ServiceError) -> String {
        guard (0...9999).contains(year) else {
            throw .mongo(
                18537,
                "Could not convert date to string: date component was outside the supported range of 0-9999: \(year)"
            )
        }
        return padded(year, 4)
    }

    static func padded(_ number: some BinaryInteger, _ width: Int) -> String {
        let text = String(number)
        return text.utf8.count < width ? String(repeating: "0", count: width - text.utf8.count) + text : text
    }
}
