public import BSON
import Errors

/// Reads the JSON of configuration files: Extended JSON, and the little more that hand-kept trees need.
///
/// A byte-order mark and trailing commas are taken, the latter with a finding that gives the line; nothing
/// more lenient. Both are overwritten by spaces first, so that positions in messages stay those of the file.
/// Source: `reference/app-config.md` §16.
public enum JSONDialect {
    /// Reads one file.
    ///
    /// - Returns: The value, or nil after an error was added to the findings.
    public static func read(_ bytes: [UInt8], file: String, into findings: inout Findings) -> BSONValue? {
        var bytes = bytes
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            for index in 0..<3 { bytes[index] = UInt8(ascii: " ") }
            findings.add(.adapted, Place(file: file), "byte-order mark ignored")
        }
        let commas = blankTrailingCommas(&bytes)
        if !commas.isEmpty {
            let lines = lineNumbers(of: commas, in: bytes).map(String.init).joined(separator: ", ")
            findings.add(
                .warning,
                Place(file: file),
                "trailing comma ignored, line \(lines); this is not JSON, other tools will refuse it"
            )
        }
        do {
            return try ExtendedJSON.readValue(bytes)
        } catch {
            var message = "not valid JSON: \(error.message)"
            if let position = error.details["position"].flatMap({ Int($0) }) {
                let line = lineNumbers(of: [position], in: bytes).first ?? 1
                message = "not valid JSON, line \(line): \(error.message)"
            }
            findings.add(.error, Place(file: file), message)
            return nil
        }
    }

    /// Replaces each comma that stands before a closing bracket by a space.
    ///
    /// - Returns: The commas' positions, ascending.
    static func blankTrailingCommas(_ bytes: inout [UInt8]) -> [Int] {
        var positions: [Int] = []
        var strings = JSONStringTracker()
        /// The last comma, as long as only white space followed it.
        var comma: Int?
        /// Whether a value stood before that comma; `[,]` is no trailing comma.
        var previous = UInt8(ascii: "[")
        for index in bytes.indices {
            let byte = bytes[index]
            if strings.isInside(byte) { continue }
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                continue
            case UInt8(ascii: ","):
                let follows = previous != UInt8(ascii: "[") && previous != UInt8(ascii: "{")
                comma = follows && previous != UInt8(ascii: ",") ? index : nil
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if let comma {
                    bytes[comma] = UInt8(ascii: " ")
                    positions.append(comma)
                }
                comma = nil
            default:
                comma = nil
            }
            previous = byte
        }
        return positions
    }

    /// Lines, from 1, of ascending byte positions.
    static func lineNumbers(of positions: [Int], in bytes: [UInt8]) -> [Int] {
        var lines: [Int] = []
        var line = 1
        var index = 0
        for position in positions {
            let end = min(max(position, 0), bytes.count)
            while index < end {
                if bytes[index] == UInt8(ascii: "\n") { line += 1 }
                index += 1
            }
            lines.append(line)
        }
        return lines
    }
}
