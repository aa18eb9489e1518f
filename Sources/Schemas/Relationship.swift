public import BSON

/// A link from a field to documents of another collection; `find` never follows it.
///
/// Source: `rules.md` §15.
public struct Relationship: Sendable, Hashable {
    /// The source field: `favoriteToy`, `pets.[].favoriteToy`.
    public let path: String
    /// The data source of the other collection.
    public let dataSource: String
    /// The database of the other collection.
    public let database: String
    /// The other collection.
    public let collection: String
    /// The field of the other collection that the value is found in.
    public let foreignKey: String
    /// Whether the field holds many values.
    public let isList: Bool

    /// Made of its parts.
    public init(
        path: String,
        dataSource: String,
        database: String,
        collection: String,
        foreignKey: String,
        isList: Bool
    ) {
        self.path = path
        self.dataSource = dataSource
        self.database = database
        self.collection = collection
        self.foreignKey = foreignKey
        self.isList = isList
    }
}

/// Turns `relationships.json` into relationships, with every fault.
public enum RelationshipParser {
    /// Parses the whole file.
    public static func parse(_ document: BSONDocument) -> (
        relationships: [Relationship], faults: [DefinitionFault]
    ) {
        var relationships: [Relationship] = []
        var faults: [DefinitionFault] = []
        for field in document {
            let path = jsonPath("$", field.key)
            do throws(Refusal) {
                relationships.append(try relationship(field))
            } catch {
                faults.append(DefinitionFault(.error, at: path, error.message))
            }
        }
        return (relationships, faults)
    }

    private struct Refusal: Error {
        let message: String
    }

    private static func relationship(_ field: BSONDocument.Field) throws(Refusal) -> Relationship {
        guard let link = field.value.document else { throw Refusal(message: "must be an object") }
        if field.key == "_id" { throw Refusal(message: "a relationship cannot start at _id") }
        let known: Set<String> = ["ref", "foreign_key", "is_list", "source_key"]
        if let key = link.keys.first(where: { !known.contains($0) }) {
            throw Refusal(message: "unknown key '\(key)'")
        }
        let parts = (link["ref"]?.string ?? "").split(separator: "/", omittingEmptySubsequences: false).map(
            String.init
        )
        guard parts.count == 5, parts[0] == "#", parts[1] == "relationship", !parts[2...].contains("") else {
            throw Refusal(message: "'ref' must be '#/relationship/<data source>/<database>/<collection>'")
        }
        guard let foreignKey = link["foreign_key"]?.string, !foreignKey.isEmpty else {
            throw Refusal(message: "'foreign_key' must name a field")
        }
        guard link["is_list"] == nil || link["is_list"]?.bool != nil else {
            throw Refusal(message: "'is_list' must be a boolean")
        }
        return Relationship(
            path: field.key,
            dataSource: parts[2],
            database: parts[3],
            collection: parts[4],
            foreignKey: foreignKey,
            isList: link["is_list"]?.bool ?? false
        )
    }
}
