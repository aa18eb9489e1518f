public import BSON
public import Errors

/// Turns a sort document into a ``Sort``.
///
/// Shape: `{a: 1, "b.c": -1}`. Source: `reference/mql.md` §4.
public enum SortParser {
    /// The most keys of a sort.
    public static let maximumKeys = 32

    /// Parses a sort document; `{}` gives a sort without keys.
    ///
    /// - Throws: ``ServiceError`` with server code 15975 (a number but not ±1), 15974 (another
    ///   type), 13103 (too many keys), 7472500 (a key twice) or that of a bad path.
    public static func parse(_ document: BSONDocument) throws(ServiceError) -> Sort {
        try parse(document, ParseBudget(.unbounded))
    }

    /// As ``parse(_:)`` for one of several parts of an operation.
    static func parse(_ document: BSONDocument, _ budget: ParseBudget) throws(ServiceError) -> Sort {
        if document.count > maximumKeys {
            throw .mongo(13103, "too many keys in sort specification: at most \(maximumKeys) are allowed")
        }
        try budget.checkSort(document.count)
        var keys: [Sort.Key] = []
        keys.reserveCapacity(document.count)
        for field in document {
            let isScore = isScore(field, budget)
            let ascending = isScore ? false : try direction(field)
            let path =
                isScore
                ? TextScore.path : FieldPath(components: try ExpressionPath.components(field.key))
            if keys.contains(where: { $0.path == path }) {
                throw .mongo(
                    7_472_500,
                    "$sort key must not contain duplicate keys (duplicate: '\(field.key)')"
                )
            }
            keys.append(Sort.Key(path: path, ascending: ascending))
        }
        return Sort(keys: keys, collation: budget.collation)
    }

    /// Whether the order is that of the scores of a `$text`, best first.
    private static func isScore(_ field: BSONDocument.Field, _ budget: ParseBudget) -> Bool {
        guard case .document(let document) = field.value, document.count == 1,
            TextScore.isAsked(in: field.value)
        else { return false }
        return budget.variables.contains(TextScore.field)
    }

    /// Why an order by what is no field is refused: nothing here has such a score.
    private static func metaRefusal(_ document: BSONDocument) -> ServiceError {
        guard document.firstKey == "$meta" else {
            return .mongo(17312, "$meta is the only expression supported by $sort right now")
        }
        if document.count > 1 {
            return .mongo(.failedToParse, "Cannot have additional keys in a $meta sort specification")
        }
        switch document["$meta"] {
        case .string("textScore")?, .string("geoNearDistance")?:
            return .mongo(40218, "query requires metadata for $sort, but it is not available")
        case .string("randVal")?, .string("searchScore")?:
            return .mongo(.badValue, "$meta is not allowed in this context")
        default: return .mongo(31138, "Illegal $meta sort")
        }
    }

    private static func direction(_ field: BSONDocument.Field) throws(ServiceError) -> Bool {
        if case .document(let document) = field.value { throw metaRefusal(document) }
        guard let number = NumericValue(field.value) else {
            throw .mongo(
                15974,
                "Illegal key in $sort specification: \(field.key): \(MongoShellText.describe(field.value))"
            )
        }
        // Doubles are cut off, decimals rounded.
        switch number.roundedInt64 {
        case 1: return true
        case -1: return false
        default:
            throw .mongo(
                15975,
                "$sort key ordering must be 1 (for ascending) or -1 (for descending)"
            )
        }
    }
}
