import BSON
import Errors

/// Reads the operand of `$text`.
///
/// Source: `reference/mql.md` §3.1.
enum TextSearchParser {
    /// - Throws: ``ServiceError`` with server code 4 without `$search`, 14 for a member of another type, else 2.
    static func parse(_ value: BSONValue) throws(ServiceError) -> TextSearch {
        guard case .document(let document) = value else {
            throw .mongo(.badValue, "$text expects an object")
        }
        guard let search = document["$search"] else {
            throw .mongo(4, "Missing required BSONElement: $search")
        }
        guard case .string(let text) = search else { throw mismatch("$search", search, "string") }
        var result = TextSearch(text)
        if let language = document["$language"] {
            guard case .string(let name) = language else { throw mismatch("$language", language, "string") }
            guard name.isEmpty || languages.contains(name.lowercased()) else {
                throw .mongo(.badValue, "unsupported language: \"\(name)\" for text index version 3")
            }
            result.language = name
        }
        result.isCaseSensitive = try flag("$caseSensitive", document)
        result.isDiacriticSensitive = try flag("$diacriticSensitive", document)
        if let other = document.keys.first(where: { !members.contains($0) }) {
            throw .mongo(.badValue, "extra fields in $text: \(other)")
        }
        return result
    }

    private static let members: Set<String> = [
        "$search", "$language", "$caseSensitive", "$diacriticSensitive",
    ]

    /// The names and codes that `tidegate.text_dictionary` knows.
    private static let languages: Set<String> = [
        "none", "danish", "da", "dutch", "nl", "english", "en", "finnish", "fi", "french", "fr", "german",
        "de",
        "hungarian", "hu", "italian", "it", "norwegian", "nb", "portuguese", "pt", "romanian", "ro",
        "russian",
        "ru", "spanish", "es", "swedish", "sv", "turkish", "tr",
    ]

    private static func flag(_ name: String, _ document: BSONDocument) throws(ServiceError) -> Bool {
        guard let value = document[name] else { return false }
        guard case .bool(let flag) = value else { throw mismatch(name, value, "bool") }
        return flag
    }

    private static func mismatch(_ name: String, _ value: BSONValue, _ expected: String) -> ServiceError {
        .mongo(
            .typeMismatch,
            "\"\(name)\" had the wrong type. Expected \(expected), found \(known: TypeName.of(value))"
        )
    }
}
