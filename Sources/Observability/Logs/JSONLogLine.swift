import Glibc
import Logging

/// One JSON object in the making.
struct JSONLogLine {
    private var bytes: [UInt8] = []
    private var names: Set<String> = ["time"]

    init(time: timespec) {
        bytes.append(contentsOf: #"{"time":""#.utf8)
        appendDate(time)
        bytes.append(UInt8(ascii: "\""))
    }

    mutating func add(_ name: String, _ text: String) {
        appendName(name)
        append(text)
    }

    mutating func add(_ name: String, _ value: Logger.MetadataValue) {
        appendName(name)
        append(value)
    }

    /// The object, with the end of its line.
    consuming func finished() -> [UInt8] {
        bytes.append(contentsOf: "}\n".utf8)
        return bytes
    }

    private mutating func appendName(_ name: String) {
        var free = name
        while !names.insert(free).inserted { free = "metadata_" + free }
        bytes.append(UInt8(ascii: ","))
        append(free)
        bytes.append(UInt8(ascii: ":"))
    }

    private mutating func append(_ value: Logger.MetadataValue) {
        switch value {
        case .string(let text): append(text)
        case .stringConvertible(let number as Int): bytes.append(contentsOf: "\(number)".utf8)
        case .stringConvertible(let number as Double) where number.isFinite:
            bytes.append(contentsOf: "\(number)".utf8)
        case .stringConvertible(let flag as Bool): bytes.append(contentsOf: "\(flag)".utf8)
        case .stringConvertible(let other): append(other.description)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                append(element)
            }
            bytes.append(UInt8(ascii: "]"))
        case .dictionary(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                append(member.key)
                bytes.append(UInt8(ascii: ":"))
                append(member.value)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    /// A JSON string; control characters, quotes and backslashes are escaped, so that a line stays a line.
    private mutating func append(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): bytes.append(contentsOf: #"\""#.utf8)
            case UInt8(ascii: "\\"): bytes.append(contentsOf: #"\\"#.utf8)
            case UInt8(ascii: "\n"): bytes.append(contentsOf: #"\n"#.utf8)
            case UInt8(ascii: "\r"): bytes.append(contentsOf: #"\r"#.utf8)
            case UInt8(ascii: "\t"): bytes.append(contentsOf: #"\t"#.utf8)
            case 0..<0x20, 0x7F:
                let digits = Array("0123456789abcdef".utf8)
                bytes.append(contentsOf: #"\u00"#.utf8)
                bytes.append(digits[Int(byte >> 4)])
                bytes.append(digits[Int(byte & 15)])
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// `2026-11-21T08:55:59.123Z`.
    private mutating func appendDate(_ time: timespec) {
        var seconds = time.tv_sec
        var date = tm()
        gmtime_r(&seconds, &date)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let day = "\(date.tm_year + 1900)-\(two(date.tm_mon + 1))-\(two(date.tm_mday))"
        let clock = "\(two(date.tm_hour)):\(two(date.tm_min)):\(two(date.tm_sec))"
        let milliseconds = "\(1000 + time.tv_nsec / 1_000_000)".dropFirst()
        bytes.append(contentsOf: "\(day)T\(clock).\(milliseconds)Z".utf8)
    }
}
