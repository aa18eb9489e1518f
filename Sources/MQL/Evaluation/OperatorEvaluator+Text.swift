import BSON
import Errors

/// Text operators. Positions are bytes or code points, never Swift's characters.
extension OperatorEvaluator {
    func text(_ op: ExpressionOperator, _ values: [BSONValue?]) throws(ServiceError) -> BSONValue {
        switch op {
        case .concat: return try concat(values)
        case .toLower: return .string(TextCase.lowered(try coerced(values[0])))
        case .toUpper: return .string(TextCase.raised(try coerced(values[0])))
        case .compareIgnoringCase:
            let order = TextOrder.compare(
                TextCase.raised(try coerced(values[0])),
                TextCase.raised(try coerced(values[1]))
            )
            return .int32(Int32(order))
        case .substring, .substringBytes: return try substringBytes(values)
        case .substringCodePoints: return try substringCodePoints(values)
        case .lengthBytes:
            return .int32(Int32(clamping: try string(values[0], "$strLenBytes", 34473).utf8.count))
        case .lengthCodePoints:
            return .int32(Int32(clamping: try string(values[0], "$strLenCP", 34471).unicodeScalars.count))
        case .split: return try split(values[0], values[1])
        default: return try index(op, values)
        }
    }

    private func string(_ value: BSONValue?, _ name: String, _ code: Int) throws(ServiceError) -> String {
        guard case .string(let text)? = value else {
            throw .mongo(code, "\(name) requires a string argument, found: \(known: TypeName.of(value))")
        }
        return text
    }

    /// A value as the text operators of old read it: null is empty, numbers and dates are spelled.
    private func coerced(_ value: BSONValue?) throws(ServiceError) -> String {
        switch value {
        case nil, .null, .undefined: return ""
        case .string(let text), .symbol(let text), .code(let text): return text
        case .double(let number): return NumberText.short(number)
        case .int32, .int64, .decimal128: return NumericValue(value)?.text ?? ""
        case .date(let milliseconds): return DateText.iso(milliseconds)
        case .timestamp(let timestamp): return DateText.short(timestamp)
        default:
            throw .mongo(16007, "can't convert from BSON type \(known: TypeName.of(value)) to String")
        }
    }

    private func concat(_ values: [BSONValue?]) throws(ServiceError) -> BSONValue {
        var result = ""
        for value in values {
            guard let value, !value.isNullish else { return .null }
            guard case .string(let text) = value else {
                throw .mongo(16702, "$concat only supports strings, not \(known: TypeName.of(value))")
            }
            try ValueSize.checkText(result.utf8.count + text.utf8.count)
            result += text
        }
        return .string(result)
    }

    /// `[text, start, length]` in bytes; a negative length is the rest.
    private func substringBytes(_ values: [BSONValue?]) throws(ServiceError) -> BSONValue {
        let text = Array(try coerced(values[0]).utf8)
        guard let start = NumericValue(values[1]) else {
            throw .mongo(
                16034,
                "$substrBytes:  starting index must be a numeric type (is BSON type \(known: TypeName.of(values[1])))"
            )
        }
        guard let length = NumericValue(values[2]) else {
            throw .mongo(
                16035,
                "$substrBytes:  length must be a numeric type (is BSON type \(known: TypeName.of(values[2])))"
            )
        }
        let lower = try Self.position(start)
        let count = try Self.position(length)
        if lower < 0 {
            throw .mongo(50752, "$substrBytes: starting index must be non-negative (got: \(lower))")
        }
        if lower < text.count, text[lower] & 0xC0 == 0x80 {
            throw .mongo(28656, "$substrBytes:  Invalid range, starting index is a UTF-8 continuation byte.")
        }
        if lower >= text.count { return "" }
        let upper = count < 0 || count > text.count - lower ? text.count : lower + count
        if upper < text.count, text[upper] & 0xC0 == 0x80 {
            throw .mongo(
                28657,
                "$substrBytes:  Invalid range, ending index is in the middle of a UTF-8 character."
            )
        }
        return .string(String(decoding: text[lower..<upper], as: UTF8.self))
    }

    /// A number as a position: doubles cut off, decimals rounded; a decimal that does not fit is
    /// the least number, as MongoDB has it.
    private static func position(_ number: NumericValue) throws(ServiceError) -> Int {
        if case .decimal(let decimal) = number {
            return Int(decimal.rounded(toPlaces: 0, .toNearestOrEven).exactInt64 ?? .min)
        }
        guard let whole = number.truncatedInt64 else {
            throw .mongo(31109, "Can't coerce out of range value \(number.text) to long")
        }
        return Int(whole)
    }

    /// `[text, start, length]` in code points.
    private func substringCodePoints(_ values: [BSONValue?]) throws(ServiceError) -> BSONValue {
        let text = try coerced(values[0])
        let start = try index32(values[1], "$substrCP: starting index", type: 34450, range: 34451)
        let length = try index32(values[2], "$substrCP: length", type: 34452, range: 34453)
        if length < 0 { throw .mongo(34454, "$substrCP: length must be a nonnegative integer.") }
        if start < 0 { throw .mongo(34455, "$substrCP: the starting index must be a nonnegative integer.") }
        return .string(String(text.unicodeScalars.dropFirst(start).prefix(length)))
    }

    private func index32(_ value: BSONValue?, _ subject: String, type: Int, range: Int)
        throws(ServiceError) -> Int
    {
        guard let number = NumericValue(value) else {
            throw .mongo(
                type,
                "\(subject) must be a numeric type (is BSON type \(known: TypeName.of(value)))"
            )
        }
        guard let index = number.exactInt32 else {
            throw .mongo(
                range,
                "\(subject) cannot be represented as a 32-bit integral value: \(number.text)"
            )
        }
        return Int(index)
    }

    private func split(_ value: BSONValue?, _ separator: BSONValue?) throws(ServiceError) -> BSONValue {
        guard let value, let separator, !value.isNullish, !separator.isNullish else { return .null }
        guard case .string(let text) = value else {
            throw .mongo(
                40085,
                "$split requires an expression that evaluates to a string as a first argument, found: \(known: TypeName.of(value))"
            )
        }
        guard case .string(let mark) = separator else {
            throw .mongo(
                10_503_900,
                "$split requires an expression that evaluates to a string as a second argument, found: \(known: TypeName.of(separator))"
            )
        }
        if mark.isEmpty { throw .mongo(40087, "$split requires a non-empty separator") }
        return .array(ByteSearch.split(text, at: mark).map { .string($0) })
    }

    /// `$indexOfBytes`, `$indexOfCP`: `[text, part, start, end]`.
    private func index(_ op: ExpressionOperator, _ values: [BSONValue?]) throws(ServiceError) -> BSONValue {
        let name = op.rawValue
        let inBytes = op == .indexOfBytes
        guard let first = values[0], !first.isNullish else { return .null }
        guard case .string(let text) = first else {
            throw .mongo(
                inBytes ? 40091 : 40093,
                "\(name) requires a string as the first argument, found: \(known: TypeName.of(first))"
            )
        }
        guard case .string(let part)? = values[1] else {
            throw .mongo(
                inBytes ? 40092 : 40094,
                "\(name) requires a string as the second argument, found: \(known: TypeName.of(values[1]))"
            )
        }
        let start = try values.count > 2 ? bound(values[2], name, "starting") : 0
        let bytes = Array(text.utf8)
        guard inBytes else {
            // Positions of the code points' first bytes, and the end.
            let points = bytes.indices.filter { bytes[$0] & 0xC0 != 0x80 } + [bytes.count]
            let count = points.count - 1
            let end = try values.count > 3 ? Swift.min(bound(values[3], name, "ending"), count) : count
            if bytes.isEmpty, part.isEmpty, start == 0 { return .int32(0) }
            // The match must begin before the end, not end there.
            guard start < end else { return .int32(-1) }
            guard let found = ByteSearch.first(part, in: bytes, from: points[start], to: bytes.count),
                found < points[end]
            else { return .int32(-1) }
            return .int32(Int32(clamping: points.partitioningIndex { $0 >= found }))
        }
        let end =
            try values.count > 3 ? Swift.min(bound(values[3], name, "ending"), bytes.count) : bytes.count
        guard start <= bytes.count, start <= end else { return .int32(-1) }
        guard let found = ByteSearch.first(part, in: bytes, from: start, to: end) else { return .int32(-1) }
        return .int32(Int32(clamping: found))
    }

    /// A start or end of a search: integral and not negative.
    func bound(
        _ value: BSONValue?,
        _ name: String,
        _ which: String,
        integral: Int = 40096,
        negative: Int = 40097
    ) throws(ServiceError) -> Int {
        guard let index = NumericValue(value)?.exactInt32 else {
            throw .mongo(
                integral,
                "\(name) requires an integral \(which) index, found a value of type: \(known: TypeName.of(value)), with value: \(MessageText.of(value))"
            )
        }
        if index < 0 {
            throw .mongo(negative, "\(name) requires a nonnegative \(which) index, found: \(index)")
        }
        return Int(index)
    }
}

extension Array {
    /// The first index whose element satisfies a condition that holds from there on.
    func partitioningIndex(where holds: (Element) -> Bool) -> Int {
        var lower = 0
        var upper = count
        while lower < upper {
            let middle = lower + (upper - lower) / 2
            if holds(self[middle]) { upper = middle } else { lower = middle + 1 }
        }
        return lower
    }
}

/// Case of ASCII letters alone, as `$toLower` and `$toUpper` change it.
enum TextCase {
    static func lowered(_ text: String) -> String {
        String(
            decoding: text.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 },
            as: UTF8.self
        )
    }

    static func raised(_ text: String) -> String {
        String(
            decoding: text.utf8.map { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) ? $0 & 0xDF : $0 },
            as: UTF8.self
        )
    }
}

/// Search for text by its bytes, in linear time.
enum ByteSearch {
    /// The first position of `part` that lies within the bounds; an empty part is found at once.
    ///
    /// Knuth, Morris and Pratt: hostile parts do not make it quadratic.
    static func first(_ part: String, in bytes: [UInt8], from start: Int, to end: Int) -> Int? {
        let needle = Array(part.utf8)
        if needle.isEmpty { return start }
        guard end - start >= needle.count else { return nil }
        let table = failures(of: needle)
        var matched = 0
        var index = start
        while index < end {
            while matched > 0, needle[matched] != bytes[index] { matched = table[matched - 1] }
            if needle[matched] == bytes[index] { matched += 1 }
            index += 1
            if matched == needle.count { return index - needle.count }
        }
        return nil
    }

    /// The positions of all occurrences that do not overlap.
    static func all(_ needle: [UInt8], in bytes: [UInt8]) -> [Int] {
        guard !needle.isEmpty, bytes.count >= needle.count else { return [] }
        let table = failures(of: needle)
        var found: [Int] = []
        var matched = 0
        for (index, byte) in bytes.enumerated() {
            while matched > 0, needle[matched] != byte { matched = table[matched - 1] }
            if needle[matched] == byte { matched += 1 }
            if matched == needle.count {
                found.append(index + 1 - needle.count)
                matched = 0
            }
        }
        return found
    }

    static func split(_ text: String, at separator: String) -> [String] {
        let bytes = Array(text.utf8)
        let mark = Array(separator.utf8)
        var parts: [String] = []
        var start = 0
        for position in all(mark, in: bytes) {
            parts.append(String(decoding: bytes[start..<position], as: UTF8.self))
            start = position + mark.count
        }
        parts.append(String(decoding: bytes[start...], as: UTF8.self))
        return parts
    }

    private static func failures(of needle: [UInt8]) -> [Int] {
        var table = [Int](repeating: 0, count: needle.count)
        var length = 0
        for index in needle.indices.dropFirst() {
            while length > 0, needle[length] != needle[index] { length = table[length - 1] }
            if needle[length] == needle[index] { length += 1 }
            table[index] = length
        }
        return table
    }
}
