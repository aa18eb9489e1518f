/// Base64 with padding, for bodies and encoded words.
enum Base64Text {
    private static let digits = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
    )

    static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var number: UInt32 = 0
            for byte in group { number = number << 8 | UInt32(byte) }
            number <<= 8 * UInt32(3 - group.count)
            for place in 0..<4 {
                let digit = Int(number >> UInt32(18 - 6 * place) & 63)
                text.append(place <= group.count ? digits[digit] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

/// Dates as header fields hold them.
enum MailDate {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// `Thu, 01 Jan 1970 00:00:00 +0000`, of seconds since 1970.
    static func text(_ seconds: Int64) -> String {
        let day = Int(seconds / 86_400)
        let rest = Int(seconds % 86_400)
        // Years that begin in March, so that leap days come last (Howard Hinnant, “chrono-compatible date algorithms”).
        let shifted = day + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let year = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * year + year / 4 - year / 100)
        let month = (5 * dayOfYear + 2) / 153
        let dayOfMonth = dayOfYear - (153 * month + 2) / 5 + 1
        let calendarMonth = month < 10 ? month + 2 : month - 10
        let calendarYear = year + era * 400 + (calendarMonth < 2 ? 1 : 0)
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(days[day % 7]), \(two(dayOfMonth)) \(months[calendarMonth]) \(calendarYear) "
            + "\(two(rest / 3600)):\(two(rest % 3600 / 60)):\(two(rest % 60)) +0000"
    }
}
