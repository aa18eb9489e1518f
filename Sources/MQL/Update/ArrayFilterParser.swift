import BSON
import Errors

/// Reads `arrayFilters`: conditions on array elements, each under an identifier.
///
/// Shape: `[{"x.n": {$gt: 1}}]` becomes `["x": filter]`, where the filter is to be asked about the document
/// `{x: <element>}`.
enum ArrayFilterParser {
    /// Parses all filters.
    ///
    /// - Throws: ``ServiceError`` with server code 2 or 9.
    static func parse(
        _ documents: [BSONDocument],
        _ budget: ParseBudget
    ) throws(ServiceError) -> [String: Filter] {
        var filters: [String: Filter] = [:]
        for document in documents {
            let parsing = FilterParsing(isQuery: false, stage: (true, true), budget: budget)
            let filter = try parsing.filter(document)
            let identifier = try identifier(of: document)
            if filters[identifier] != nil {
                throw .mongo(
                    .failedToParse,
                    "Found multiple array filters with the same top-level field name \(identifier)"
                )
            }
            filters[identifier] = filter
        }
        return filters
    }

    /// Whether a name may stand for elements: a lower-case letter, then letters and digits.
    static func isIdentifier(_ name: String) -> Bool {
        guard let first = name.utf8.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first) else {
            return false
        }
        return name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: false
            }
        }
    }

    /// The one name by which the filter's paths begin.
    private static func identifier(of document: BSONDocument) throws(ServiceError) -> String {
        var names: [String] = []
        collect(from: document, depth: 0, into: &names)
        guard let identifier = names.first else {
            throw .mongo(
                .failedToParse,
                "Cannot use an expression without a top-level field name in arrayFilters"
            )
        }
        if let other = names.first(where: { $0 != identifier }) {
            throw .mongo(
                .failedToParse,
                "Error parsing array filter :: caused by :: Expected a single top-level field name, found '\(identifier)' and '\(other)'"
            )
        }
        guard isIdentifier(identifier) else {
            throw .mongo(
                .badValue,
                "Error parsing array filter :: caused by :: The top-level field name must be an alphanumeric string beginning with a lowercase letter, found '\(identifier)'"
            )
        }
        return identifier
    }

    private static func collect(from document: BSONDocument, depth: Int, into names: inout [String]) {
        guard depth <= FilterParsing.maximumDepth else { return }
        for field in document {
            if ["$and", "$or", "$nor"].contains(field.key), case .array(let members) = field.value {
                for case .document(let member) in members {
                    collect(from: member, depth: depth + 1, into: &names)
                }
            } else if !field.key.startsWithDollar {
                names.append(field.key.pathComponents.first ?? field.key)
            }
        }
    }
}
