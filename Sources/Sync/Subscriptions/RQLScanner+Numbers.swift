import BSON

extension RQLScanner {
    /// How many digits stand at an offset.
    private func digits(_ offset: Int) -> Int {
        var count = 0
        while let byte = peek(offset + count), Self.isDigit(byte) { count += 1 }
        return count
    }

    private func isSign(_ offset: Int) -> Bool {
        peek(offset) == UInt8(ascii: "+") || peek(offset) == UInt8(ascii: "-")
    }

    mutating func numberOrDate() throws(RQLFault) -> RQLToken? {
        if let date = try calendarDate() { return date }
        let sign = isSign(0) ? 1 : 0
        if let word = signedWord(sign) { return word }
        if peek(sign) == UInt8(ascii: "0"), peek(sign + 1).map({ $0 | 0x20 }) == UInt8(ascii: "x") {
            var length = sign + 2
            while let byte = peek(length), Character(Unicode.Scalar(byte)).isHexDigit { length += 1 }
            let text = self.text(place + sign + 2..<place + length)
            guard sign == 0, let number = Int64(text, radix: 16) else { throw fault("bad number") }
            place += length
            return .number(String(number))
        }
        var length = sign + digits(sign)
        var hasDigits = length > sign
        if peek(length) == UInt8(ascii: ".") {
            let fraction = digits(length + 1)
            guard hasDigits || fraction > 0 else { return nil }
            hasDigits = true
            length += 1 + fraction
        }
        guard hasDigits else { return nil }
        if let byte = peek(length), byte | 0x20 == UInt8(ascii: "e") {
            let exponent = isSign(length + 1) ? 2 : 1
            let count = digits(length + exponent)
            if count > 0 { length += exponent + count }
        }
        let number = text(place..<place + length)
        place += length
        if peek() == UInt8(ascii: "f") { place += 1 }
        return .number(number)
    }

    /// `-inf`, `+nan`.
    private mutating func signedWord(_ sign: Int) -> RQLToken? {
        guard sign == 1, let byte = peek(1), Self.isLetter(byte) else { return nil }
        var length = 1
        while let byte = peek(length), Self.isLetter(byte) { length += 1 }
        let isNegative = peek() == UInt8(ascii: "-")
        switch text(place + 1..<place + length).lowercased() {
        case "inf", "infinity":
            place += length
            return .number(isNegative ? "-Infinity" : "Infinity")
        case "nan":
            place += length
            return .number("NaN")
        default: return nil
        }
    }

    /// `T1700000000:5`: seconds and nanoseconds.
    mutating func timestamp() throws(RQLFault) -> RQLToken? {
        let first = 1 + (isSign(1) ? 1 : 0)
        let seconds = digits(first)
        guard seconds > 0, peek(first + seconds) == UInt8(ascii: ":") else { return nil }
        let second = first + seconds + 1
        let signed = second + (isSign(second) ? 1 : 0)
        let rest = digits(signed)
        guard rest > 0 else { return nil }
        guard let whole = Int64(text(place + 1..<place + first + seconds)),
            let nanoseconds = Int64(text(place + second..<place + signed + rest)),
            let time = SyncTimestamp(seconds: whole, nanoseconds: nanoseconds)
        else { throw fault("bad timestamp") }
        place += signed + rest
        return .date(time)
    }

    /// `2024-02-29@12:30:00` or with `T`, and nanoseconds after another colon.
    private mutating func calendarDate() throws(RQLFault) -> RQLToken? {
        var length = 0
        var parts: [Int64] = []
        for (index, separator) in ["-", "-", "@", ":", ":", ":"].enumerated() {
            let count = digits(length)
            guard count > 0, count < 12, let part = Int64(text(place + length..<place + length + count))
            else {
                return nil
            }
            parts.append(part)
            length += count
            let found = peek(length)
            let isSeparator = found == separator.utf8.first || separator == "@" && found == UInt8(ascii: "T")
            if index == 5 && !isSeparator { break }
            guard isSeparator else { return nil }
            length += 1
        }
        if parts.count == 6, peek(length - 1) == UInt8(ascii: ":") {
            let count = digits(length)
            guard count > 0, count < 12, let part = Int64(text(place + length..<place + length + count))
            else {
                throw fault("bad date")
            }
            parts.append(part)
            length += count
        }
        guard (1...9999).contains(parts[0]), (1...12).contains(parts[1]), (1...31).contains(parts[2]),
            parts[3] < 24, parts[4] < 60, parts[5] < 61
        else { throw fault("bad date") }
        let days = Self.days(parts[0], parts[1], parts[2])
        let seconds = days * 86400 + parts[3] * 3600 + parts[4] * 60 + parts[5]
        let nanoseconds = parts.count > 6 ? parts[6] : 0
        // Before 1970 both parts count backwards.
        let borrows = seconds < 0 && nanoseconds > 0
        guard
            let time = SyncTimestamp(
                seconds: borrows ? seconds + 1 : seconds,
                nanoseconds: borrows ? nanoseconds - 1_000_000_000 : nanoseconds
            )
        else { throw fault("bad date") }
        place += length
        return .date(time)
    }

    /// Days since 1970 of the Gregorian calendar; years begin in March here, so that leap days come last.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = year / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
