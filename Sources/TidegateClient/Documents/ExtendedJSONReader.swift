import Foundation

/// Reads Extended JSON, canonical or relaxed, in one pass over its bytes.
struct ExtendedJSONReader {
    private let bytes: [UInt8]
    private var index = 0
    private var depth = 0
    private static let maxDepth = 200

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// - Throws: ``TidegateError`` of the kind `invalidDocument`, with the place.
    static func read(_ bytes: [UInt8]) throws -> AnyBSON {
        var reader = ExtendedJSONReader(bytes)
        let value = try reader.value()
        reader.skipSpace()
        guard reader.index == bytes.count else { throw reader.fault("something follows the value") }
        return value
    }

    private func fault(_ what: String) -> TidegateError {
        TidegateError(.invalidDocument, "Extended JSON: \(what), at byte \(index)")
    }

    private mutating func skipSpace() {
        while index < bytes.count, [0x20, 0x0A, 0x0D, 0x09].contains(bytes[index]) { index += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        skipSpace()
        guard index < bytes.count, bytes[index] == byte else { return false }
        index += 1
        return true
    }

    private mutating func value() throws -> AnyBSON {
        skipSpace()
        guard index < bytes.count else { throw fault("a value is missing") }
        switch bytes[index] {
        case UInt8(ascii: "{"):
            return try nested { (reader) in ExtendedJSONForms.value(of: try reader.document()) }
        case UInt8(ascii: "["): return try nested { (reader) in .array(try reader.array()) }
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func nested(_ body: (inout Self) throws -> AnyBSON) throws -> AnyBSON {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.maxDepth else { throw fault("more than \(Self.maxDepth) levels") }
        index += 1
        return try body(&self)
    }

    private mutating func document() throws -> Document {
        var document = Document()
        if take(UInt8(ascii: "}")) { return document }
        repeat {
            skipSpace()
            guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else {
                throw fault("a name is missing")
            }
            let name = try string()
            guard take(UInt8(ascii: ":")) else { throw fault("a colon is missing") }
            document.append(name, try value())
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw fault("a brace is missing") }
        return document
    }

    private mutating func array() throws -> [AnyBSON] {
        var elements: [AnyBSON] = []
        if take(UInt8(ascii: "]")) { return elements }
        repeat { elements.append(try value()) } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw fault("a bracket is missing") }
        return elements
    }

    private mutating func word(_ text: String, _ value: AnyBSON) throws -> AnyBSON {
        guard bytes[index...].starts(with: text.utf8) else { throw fault("no such word") }
        index += text.utf8.count
        return value
    }

    private mutating func number() throws -> AnyBSON {
        let start = index
        while index < bytes.count, "+-.0123456789eE".utf8.contains(bytes[index]) { index += 1 }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        if let whole = Int64(text) { return Int32(exactly: whole).map { .int32($0) } ?? .int64(whole) }
        guard let number = Double(text) else { throw fault("no number") }
        return .double(number)
    }

    private mutating func string() throws -> String {
        index += 1
        var out: [UInt8] = []
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: out, as: UTF8.self)
            case UInt8(ascii: "\\"): try escape(&out)
            default: out.append(byte)
            }
        }
        throw fault("a quotation mark is missing")
    }

    private mutating func escape(_ out: inout [UInt8]) throws {
        guard index < bytes.count else { throw fault("an escape is cut short") }
        let byte = bytes[index]
        index += 1
        switch byte {
        case UInt8(ascii: "b"): out.append(8)
        case UInt8(ascii: "f"): out.append(12)
        case UInt8(ascii: "n"): out.append(10)
        case UInt8(ascii: "r"): out.append(13)
        case UInt8(ascii: "t"): out.append(9)
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): out.append(byte)
        case UInt8(ascii: "u"): try unicode(&out)
        default: throw fault("no such escape")
        }
    }

    private mutating func unicode(_ out: inout [UInt8]) throws {
        var units = [try unit()]
        if UTF16.isLeadSurrogate(units[0]), bytes[index...].starts(with: #"\u"#.utf8) {
            index += 2
            units.append(try unit())
        }
        out += String(decoding: units, as: UTF16.self).utf8
    }

    private mutating func unit() throws -> UInt16 {
        guard index + 4 <= bytes.count,
            let unit = UInt16(String(decoding: bytes[index..<index + 4], as: UTF8.self), radix: 16)
        else { throw fault("an escape is cut short") }
        index += 4
        return unit
    }
}

/// What the documents of Extended JSON stand for whose only field is a type.
enum ExtendedJSONForms {
    static func value(of document: Document) -> AnyBSON {
        guard document.count == 1, let field = document.fields.first, field.name.hasPrefix("$") else {
            return .document(document)
        }
        return value(field.name, field.value) ?? .document(document)
    }

    private static func value(_ name: String, _ value: AnyBSON) -> AnyBSON? {
        switch (name, value) {
        case ("$numberInt", .string(let text)): Int32(text).map { .int32($0) }
        case ("$numberLong", .string(let text)): Int64(text).map { .int64($0) }
        case ("$numberDouble", .string(let text)): double(text).map { .double($0) }
        case ("$numberDecimal", .string(let text)): .decimal128(Decimal128(text))
        case ("$oid", .string(let text)): (try? ObjectId(string: text)).map { .objectId($0) }
        case ("$uuid", .string(let text)): UUID(uuidString: text).map { .uuid($0) }
        case ("$date", .int64(let milliseconds)): date(Double(milliseconds))
        case ("$date", .int32(let milliseconds)): date(Double(milliseconds))
        case ("$date", .string(let text)): isoDate(text).map { .datetime($0) }
        case ("$binary", .document(let parts)): binary(parts)
        default: nil
        }
    }

    private static func date(_ milliseconds: Double) -> AnyBSON {
        .datetime(Date(timeIntervalSince1970: milliseconds / 1000))
    }

    private static func isoDate(_ text: String) -> Date? {
        (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
            ?? (try? Date(text, strategy: .iso8601))
    }

    private static func double(_ text: String) -> Double? {
        switch text {
        case "NaN": .nan
        case "Infinity": .infinity
        case "-Infinity": -.infinity
        default: Double(text)
        }
    }

    private static func binary(_ parts: Document) -> AnyBSON? {
        guard let text = parts["base64"]?.stringValue, let data = Data(base64Encoded: text) else {
            return nil
        }
        switch parts["subType"]?.stringValue {
        case "00", "0": return .binary(data)
        case "04", "4":
            guard data.count == 16 else { return nil }
            let digits = data.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
            return UUID(uuidString: hyphenated(digits)).map { .uuid($0) }
        default: return nil
        }
    }

    private static func hyphenated(_ digits: String) -> String {
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append("-") }
            text.append(digit)
        }
        return text
    }
}
