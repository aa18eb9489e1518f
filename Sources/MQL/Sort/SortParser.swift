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
            let ascending = try direction(field)
            let path = FieldPath(components: try ExpressionPath.components(field.key))
            if keys.contains(where: { $0.path == path }) {
                throw .mongo(
                    7_472_500,
                    "$sort key must not contain duplicate keys (duplicate: '\(field.key)')"
                )
            }
            keys.append(Sort.Key(path: path, ascending: ascending))
        }
        return Sort(keys: keys)
    }

    private static func direction(_ field: BSONDocument.Field) throws(ServiceError) -> Bool {
        if case .document(let document) = field.value, document.firstKey == "$meta" {
            throw .mongo(.badValue, "$meta is not allowed in this context")
        }
        guard let number = field.value.doubleValue else {
            throw .mongo(
                15974,
                "Illegal key in $sort specification: \(field.key): \(MongoShellText.describe(field.value))"
            )
        }
        switch number {
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
