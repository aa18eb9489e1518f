import CPCRE2
import Errors

/// A compiled regular expression with its bounds.
///
/// The pointers are made in `init`, freed in `deinit` and never change in between; every match
/// has its own match data. PCRE2 documents compiled code and contexts as shareable under these
/// conditions, which is why the class may claim to be `Sendable`.
final class CompiledPattern: @unchecked Sendable {
    /// Backtracking steps of one match: some tens of milliseconds.
    private static let matchLimit: UInt32 = 1_000_000
    /// Nested backtracking points of one match.
    private static let depthLimit: UInt32 = 250_000
    /// Memory of one match, in KiB.
    private static let heapLimit: UInt32 = 32_768

    private let code: OpaquePointer
    private let matchContext: OpaquePointer

    /// Compiles UTF-8 bytes.
    ///
    /// - Throws: ``ServiceError`` with server code 2, 51091 or 51108.
    init(pattern: [UInt8], options: String) throws(ServiceError) {
        if pattern.contains(0) {
            throw .mongo(.badValue, "Regular expression cannot contain an embedded null byte")
        }
        if pattern.count > RegexMatcher.maximumPatternBytes {
            throw .mongo(
                51091,
                "Regular expression is invalid: pattern string is longer than the limit set by the application"
            )
        }
        let flags = try Self.flags(options)
        var errorNumber: Int32 = 0
        var errorOffset = 0
        guard let code = pcre2_compile_8(pattern, pattern.count, flags, &errorNumber, &errorOffset, nil)
        else {
            throw .mongo(51091, "Regular expression is invalid: \(Self.message(errorNumber))")
        }
        guard let context = pcre2_match_context_create_8(nil) else {
            pcre2_code_free_8(code)
            throw ServiceError(.internalServerError, "no memory for a regular expression")
        }
        pcre2_set_match_limit_8(context, Self.matchLimit)
        pcre2_set_depth_limit_8(context, Self.depthLimit)
        pcre2_set_heap_limit_8(context, Self.heapLimit)
        self.code = code
        matchContext = context
    }

    deinit {
        pcre2_match_context_free_8(matchContext)
        pcre2_code_free_8(code)
    }

    /// How many groups the pattern captures.
    var captureCount: Int {
        var count: UInt32 = 0
        pcre2_pattern_info_8(code, UInt32(PCRE2_INFO_CAPTURECOUNT), &count)
        return Int(count)
    }

    /// Whether the pattern occurs in the text.
    ///
    /// - Throws: ``ServiceError`` with server code 51156 when a bound is reached.
    func matches(_ text: String) throws(ServiceError) -> Bool {
        try captures(in: text, from: 0) != nil
    }

    /// The first occurrence at or after a byte offset: the whole match, then each group, as ranges
    /// of bytes; nil for a group that took no part.
    ///
    /// - Parameters:
    ///   - text: The subject.
    ///   - start: A byte offset on a character's boundary.
    /// - Returns: nil when there is none.
    /// - Throws: ``ServiceError`` with server code 51156 when a bound is reached.
    func captures(in text: String, from start: Int) throws(ServiceError) -> [Range<Int>?]? {
        guard start >= 0, start <= text.utf8.count else { return nil }
        guard let data = pcre2_match_data_create_from_pattern_8(code, nil) else {
            throw ServiceError(.internalServerError, "no memory for a regular expression")
        }
        defer { pcre2_match_data_free_8(data) }
        var subject = text
        // Swift strings are valid UTF-8, so PCRE2 need not check them again.
        let result = subject.withUTF8 { bytes in
            pcre2_match_8(
                code,
                bytes.baseAddress,
                bytes.count,
                start,
                UInt32(PCRE2_NO_UTF_CHECK),
                data,
                matchContext
            )
        }
        if result == PCRE2_ERROR_NOMATCH { return nil }
        guard result >= 0, let offsets = pcre2_get_ovector_pointer_8(data) else {
            throw .mongo(
                51156,
                "Error occurred while executing the regular expression. Result code: \(result)"
            )
        }
        let pairs = Int(pcre2_get_ovector_count_8(data))
        return (0..<pairs).map { pair in
            let lower = offsets[2 * pair]
            let upper = offsets[2 * pair + 1]
            // An unset group is marked by -1; \K can put a start behind its end.
            guard lower >= 0, lower <= upper, upper <= text.utf8.count else { return nil }
            return Int(lower)..<Int(upper)
        }
    }

    private static func flags(_ options: String) throws(ServiceError) -> UInt32 {
        var flags = UInt32(PCRE2_UTF) | UInt32(PCRE2_NEVER_BACKSLASH_C)
        for option in options.unicodeScalars {
            switch option {
            case "i": flags |= UInt32(PCRE2_CASELESS)
            case "m": flags |= UInt32(PCRE2_MULTILINE)
            case "s": flags |= UInt32(PCRE2_DOTALL)
            case "x": flags |= UInt32(PCRE2_EXTENDED)
            case "u": break
            default: throw .mongo(51108, "invalid flag in regex options: \(option)")
            }
        }
        return flags
    }

    private static func message(_ number: Int32) -> String {
        var buffer = [UInt8](repeating: 0, count: 256)
        let length = pcre2_get_error_message_8(number, &buffer, buffer.count)
        return String(decoding: buffer.prefix(Int(max(length, 0))), as: UTF8.self)
    }
}
