import BSON
import Errors

/// Reads the `collation` of an operation.
///
/// Shape: `{locale: "en", strength: 2}`. Source: `reference/mql.md` §4.
enum CollationParser {
    /// nil is the simple collation: texts compare by their bytes.
    ///
    /// - Throws: ``ServiceError`` with server code 14, 40414 or 40415 for a bad shape, 2 for a bad value.
    static func parse(_ value: BSONValue) throws(ServiceError) -> Collation? {
        guard case .document(let document) = value else { throw mismatch("collation", value, "object") }
        if document.isEmpty { return nil }
        var settings = Collation.Settings(locale: "")
        for field in document {
            switch field.key {
            case "locale":
                guard case .string(let locale) = field.value else {
                    throw mismatch("collation.locale", field.value, "string")
                }
                settings.locale = locale
            case "strength", "caseLevel", "numericOrdering", "normalization", "backwards", "caseFirst",
                "alternate",
                "maxVariable", "version":
                // As if it were not there.
                if case .null = field.value { continue }
                try read(field, &settings)
            default: throw .mongo(40415, "BSON field 'collation.\(field.key)' is an unknown field.")
            }
        }
        if document["locale"] == nil {
            throw .mongo(40414, "BSON field 'collation.locale' is missing but a required field")
        }
        if settings.locale == "simple" { return nil }
        try checkEffects(settings)
        return try Collation(settings)
    }

    private static func read(
        _ field: BSONDocument.Field,
        _ settings: inout Collation.Settings
    ) throws(ServiceError) {
        switch field.key {
        case "strength": settings.strength = try parseStrength(field.value)
        case "caseLevel": settings.caseLevel = try flag(field)
        case "numericOrdering": settings.numericOrdering = try flag(field)
        case "normalization": settings.normalization = try flag(field)
        case "backwards": settings.backwards = try flag(field)
        case "caseFirst":
            settings.caseFirst = Collation.CaseFirst(rawValue: try choice(field, ["upper", "lower", "off"]))
        case "alternate":
            settings.ignoresPunctuation = try choice(field, ["non-ignorable", "shifted"]) == "shifted"
        case "maxVariable": settings.ignoresOnlySpaces = try choice(field, ["punct", "space"]) == "space"
        default:
            guard case .string = field.value else {
                throw mismatch("collation.version", field.value, "string")
            }
            throw .mongo(
                161,
                "Requested collation version does not match this server's: leave 'collation.version' out"
            )
        }
    }

    /// Refuses what would have no effect, as MongoDB does.
    private static func checkEffects(_ settings: Collation.Settings) throws(ServiceError) {
        if settings.backwards == true, settings.strength == 1 {
            throw .mongo(.badValue, "'backwards' is invalid with 'strength' of 1")
        }
        if let first = settings.caseFirst, first != .off, settings.caseLevel != true, settings.strength < 3 {
            throw .mongo(
                .badValue,
                "'caseFirst' is invalid unless 'caseLevel' is on or 'strength' is greater than 2"
            )
        }
    }

    private static func parseStrength(_ value: BSONValue) throws(ServiceError) -> Int {
        guard let number = NumericValue(value) else { throw mismatch("collation.strength", value, "number") }
        guard let strength = number.exactInt64, (1...5).contains(strength) else {
            throw .mongo(
                .badValue,
                "Enumeration value '\(number.text)' for field 'collation.strength' is not a valid value."
            )
        }
        return Int(strength)
    }

    private static func flag(_ field: BSONDocument.Field) throws(ServiceError) -> Bool {
        guard case .bool(let flag) = field.value else {
            throw mismatch("collation.\(field.key)", field.value, "bool")
        }
        return flag
    }

    private static func choice(
        _ field: BSONDocument.Field,
        _ known: [String]
    ) throws(ServiceError) -> String {
        guard case .string(let text) = field.value else {
            throw mismatch("collation.\(field.key)", field.value, "string")
        }
        guard known.contains(text) else {
            throw .mongo(
                .badValue,
                "Enumeration value '\(MessageText.shortened(text))' for field 'collation.\(field.key)' is not a valid value."
            )
        }
        return text
    }

    private static func mismatch(_ name: String, _ value: BSONValue, _ expected: String) -> ServiceError {
        .mongo(
            .typeMismatch,
            "BSON field '\(name)' is the wrong type '\(known: TypeName.of(value))', expected type '\(expected)'"
        )
    }
}
