public import BSON
public import Errors
public import SQL

/// How a collection lies in its table: the row of `tidegate.collections`, read.
public struct CollectionLayout: Sendable, Hashable {
    /// `tidegate.collections.id`, which shapes and the change log refer to.
    public let id: Int32
    /// The table of the documents, with its schema.
    public let table: SQLIdentifier
    /// The fields with typed columns, in the order in which they were promoted.
    public let promoted: [PromotedField]

    /// Made of its parts.
    public init(id: Int32, table: SQLIdentifier, promoted: [PromotedField] = []) {
        self.id = id
        self.table = table
        self.promoted = promoted
    }

    /// Reads a row of the catalogue.
    ///
    /// - Parameters:
    ///   - id: The column `id`.
    ///   - schema: The column `schema_name`.
    ///   - name: The column `table_name`.
    ///   - promoted: The column `promoted`: `[{"path", "type", "column", "rest"}]`. Entries of a type
    ///     that this version does not know are left out; nothing then uses their columns.
    /// - Throws: ``ServiceError`` when the last is not JSON.
    public init(id: Int32, schema: String, name: String, promoted: [UInt8]) throws(ServiceError) {
        self.id = id
        table = SQLIdentifier(schema: schema, name)
        var fields: [PromotedField] = []
        for entry in try ExtendedJSON.readValue(promoted).array ?? [] {
            guard let entry = entry.document, let path = entry["path"]?.string,
                let type = entry["type"]?.string.flatMap(PromotedField.ValueType.init(rawValue:)),
                let column = entry["column"]?.string, let rest = entry["rest"]?.string
            else { continue }
            fields.append(
                PromotedField(
                    path: FieldPath(path),
                    type: type,
                    column: SQLIdentifier(column),
                    rest: SQLIdentifier(rest)
                )
            )
        }
        self.promoted = fields
    }

    /// The typed columns of a path; a path may have one per type.
    func promotedFields(at path: FieldPath) -> [PromotedField] {
        promoted.filter { field in
            // By bytes: Swift calls texts equal that are different keys.
            field.path.components.count == path.components.count
                && zip(field.path.components, path.components).allSatisfy { $0.utf8.elementsEqual($1.utf8) }
        }
    }
}

/// A field with a typed generated column.
///
/// A document's value at the path is in ``column`` when it is one plain value of the type; in ``rest``,
/// as the array of all its candidates, when it is anything else but missing or null. At most one of
/// the two is not NULL.
public struct PromotedField: Sendable, Hashable {
    /// What the column holds.
    public enum ValueType: String, Sendable, Hashable, CaseIterable {
        /// `text COLLATE "C"`, at most 2000 bytes.
        case string
        /// `numeric`: every int, long, and finite double but -0.0.
        case number
        /// `timestamptz`, of the years 1 to 9999.
        case date
        /// `text COLLATE "C"`: 24 hexadecimal digits.
        case objectId
        case bool
        case uuid
    }

    /// Where the field is in a document.
    public let path: FieldPath
    /// What its column holds.
    public let type: ValueType
    /// The typed column.
    public let column: SQLIdentifier
    /// The column for whatever does not fit the typed one.
    public let rest: SQLIdentifier

    /// Made of its parts.
    public init(path: FieldPath, type: ValueType, column: SQLIdentifier, rest: SQLIdentifier) {
        self.path = path
        self.type = type
        self.column = column
        self.rest = rest
    }
}
