import Errors

/// A place in the change log, as it stands in `_id._data` of an event.
///
/// Shape: 40 hexadecimal digits: which log (16), which collection (8), the change's number (16). Any gateway on the
/// same database understands it. It proves nothing and gives no rights: whoever makes one up sees what the rules
/// show, from another place on.
struct ResumeToken: Sendable, Hashable {
    let log: String
    let collection: Int32
    let sequence: Int64

    var text: String {
        log + Self.hex(UInt64(UInt32(bitPattern: collection)), digits: 8)
            + Self.hex(UInt64(bitPattern: sequence), digits: 16)
    }

    init(log: String, collection: Int32, sequence: Int64) {
        self.log = log
        self.collection = collection
        self.sequence = sequence
    }

    /// - Throws: ``ServiceError`` InvalidResumeToken (260).
    init(_ text: String) throws(ServiceError) {
        let digits = Array(text.utf8)
        guard digits.count == 40, text.allSatisfy({ $0.isASCII && $0.isHexDigit }),
            let collection = UInt32(String(decoding: digits[16..<24], as: UTF8.self), radix: 16),
            let sequence = UInt64(String(decoding: digits[24...], as: UTF8.self), radix: 16)
        else { throw .mongo(260, "the resume token is malformed") }
        log = String(decoding: digits[..<16], as: UTF8.self).lowercased()
        self.collection = Int32(bitPattern: collection)
        self.sequence = Int64(bitPattern: sequence)
    }

    private static func hex(_ number: UInt64, digits: Int) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    /// The error of a place behind which changes are missing.
    static let lost = ServiceError.mongo(
        286,
        "Resume of change stream was not possible, as the resume point may no longer be in the change log."
    )
}
