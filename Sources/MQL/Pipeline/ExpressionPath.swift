import BSON
import Errors

/// Checks and splits the `"$a.b"` and `"$$name.a"` of expressions.
enum ExpressionPath {
    /// The most components that a path may have.
    static let maximumComponents = 200

    /// Splits a path without its leading `$`.
    ///
    /// - Throws: ``ServiceError`` with server code 40352, 40353, 15998, 16410, 16411 or, for a path that is too long,
    ///   15; 5984700 in an expression.
    static func components(_ text: String, inExpression: Bool = false) throws(ServiceError) -> [String] {
        try components(text[...], inExpression: inExpression)
    }

    /// Splits a path that is part of a longer text.
    ///
    /// By bytes, since a dot before a combining mark is no character of its own.
    ///
    /// - Throws: ``ServiceError`` as for a whole text.
    static func components(_ text: Substring, inExpression: Bool = false) throws(ServiceError) -> [String] {
        if text.isEmpty { throw .mongo(40352, "FieldPath cannot be constructed with empty string") }
        if text.utf8.last == UInt8(ascii: ".") { throw .mongo(40353, "FieldPath must not end with a '.'.") }
        if text.utf8.contains(0) {
            throw .mongo(16411, "FieldPath field names may not contain '\\0'.")
        }
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        if parts.count > maximumComponents {
            throw .mongo(inExpression ? ServerErrorCode(5_984_700) : .overflow, "FieldPath is too long")
        }
        for part in parts { try checkName(part) }
        return parts
    }

    /// The fields of a reference to a document, which begin with a dollar.
    private static let referenceNames: Set<String> = ["$ref", "$id", "$db"]

    /// Checks one field name of a path.
    static func checkName(_ name: String) throws(ServiceError) {
        if name.isEmpty { throw .mongo(15998, "FieldPath field names may not be empty strings.") }
        if name.utf8.first == UInt8(ascii: "$"), !referenceNames.contains(name) {
            throw .mongo(
                16410,
                "FieldPath field names may not start with '$'. Consider using $getField or $setField."
            )
        }
        if name.utf8.contains(0) { throw .mongo(16411, "FieldPath field names may not contain '\\0'.") }
        if name.utf8.contains(UInt8(ascii: ".")) {
            throw .mongo(
                16412,
                "FieldPath field names may not contain '.'. Consider using $getField or $setField."
            )
        }
    }

    /// Checks the name of a variable that a pipeline defines: a lower-case letter or a byte beyond
    /// ASCII, then letters, digits and underscores.
    static func checkVariable(_ name: String) throws(ServiceError) {
        if name == "CURRENT" { return }
        guard let first = name.utf8.first else {
            throw .mongo(.failedToParse, "empty variable names are not allowed")
        }
        guard (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first) || first >= 0x80 else {
            throw .mongo(
                .failedToParse,
                "'\(name)' starts with an invalid character for a user variable name"
            )
        }
        for byte in name.utf8 where !isNameByte(byte) {
            throw .mongo(
                .failedToParse,
                "'\(name)' contains an invalid character for a variable name: '\(Character(UnicodeScalar(byte)))'"
            )
        }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }
}
