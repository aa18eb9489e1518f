public import BSON
public import Errors
public import SQL

/// How a collection lies in its table: the row of `tidegate.collections`, read.
public struct CollectionLayout: Sendable, Hashable {
    /// `tidegate.collections.id`, which shapes and the change log refer to.
    public let id: Int32
    /// The table of the documents, with its schema.
    public let table: SQLIdentifier
    /// Whose rows the documents are.
    public let origin: Origin
    /// What else is known of the table.
    public let facts: TableFacts
    /// The fields with typed columns, in the order in which they were promoted; then those with an index on the
    /// expression of such a column.
    public let promoted: [PromotedField]
    /// What `$text` searches.
    public let text: TextIndex?
    /// The fields of several types that an index orders across them.
    public let mixed: [FieldPath]

    /// Whose rows the documents are.
    public enum Origin: Sendable, Hashable {
        /// A table of ours.
        case own
        /// A relation that was there before, seen through a view with triggers; or without, when it is read only.
        case mapped(isWritable: Bool)
    }

    /// Whether the documents are rows of a relation that was there before.
    var isMapped: Bool { origin != .own }

    /// Made of its parts.
    public init(
        id: Int32,
        table: SQLIdentifier,
        promoted: [PromotedField] = [],
        origin: Origin = .own,
        facts: TableFacts = TableFacts(),
        text: TextIndex? = nil,
        mixed: [FieldPath] = []
    ) {
        self.text = text
        self.mixed = mixed
        self.id = id
        self.facts = facts
        self.table = table
        self.promoted = promoted
        self.origin = origin
    }

    /// Reads a row of the catalogue.
    ///
    /// - Parameters:
    ///   - id: The column `id`.
    ///   - schema: The column `schema_name`.
    ///   - name: The column `table_name`.
    ///   - promoted: The column `promoted`: `[{"path", "type", "column", "rest", "probe"}]`. Entries of a type
    ///     that this version does not know are left out; nothing then uses their columns.
    ///   - indexed: The column `indexed`: `[{"path", "type", "sorts"}]`, with `"column"` for a promoted field;
    ///     `{"text"}` of a text index, `{"order"}` with the path of one that orders several types.
    ///   - origin: What the column `mapped` says.
    ///   - facts: What else is known of the table.
    /// - Throws: ``ServiceError`` when one of the last is not JSON.
    public init(
        id: Int32,
        schema: String,
        name: String,
        promoted: [UInt8],
        indexed: [UInt8] = Array("[]".utf8),
        origin: Origin = .own,
        facts: TableFacts = TableFacts()
    ) throws(ServiceError) {
        self.id = id
        self.facts = facts
        self.origin = origin
        table = SQLIdentifier(schema: schema, name)
        let indexes = try ExtendedJSON.readValue(indexed).array?.compactMap(\.document) ?? []
        text = indexes.lazy.compactMap { $0["text"]?.document }.first.map(TextIndex.init)
        mixed = indexes.compactMap { $0["order"]?.string.map { FieldPath($0) } }
        let sortable = Set(
            indexes.filter { $0["sorts"] == .bool(true) }.compactMap(PromotedField.Key.init)
        )
        var fields: [PromotedField] = []
        for entry in try ExtendedJSON.readValue(promoted).array ?? [] {
            guard let entry = entry.document, let key = PromotedField.Key(entry),
                let column = entry["column"]?.string, let rest = entry["rest"]?.string
            else { continue }
            fields.append(
                PromotedField(
                    path: FieldPath(key.path),
                    type: key.type,
                    column: "\(SQLIdentifier(column))",
                    rest: "\(SQLIdentifier(rest))",
                    equality: entry["equal"]?.string.map { "\(SQLIdentifier($0))" },
                    sorts: sortable.contains(key),
                    isProbed: entry["probe"] == .bool(true),
                    isSpread: facts.spreadColumns.contains(column)
                )
            )
        }
        var seen: Set<PromotedField.Key> = []
        for entry in indexes where entry["column"] == nil {
            guard let key = PromotedField.Key(entry), seen.insert(key).inserted else { continue }
            let expression = FieldExpression(path: FieldPath(key.path).components, type: key.type)
            fields.append(
                PromotedField(
                    path: FieldPath(key.path),
                    type: key.type,
                    column: expression.typed,
                    rest: expression.rest,
                    sorts: sortable.contains(key)
                )
            )
        }
        self.promoted = fields
    }

    /// Names the column beside a typed one, among those of all collections.
    func place(of rest: SQLFragment) -> String { "\(id) \(rest.rendered().text)" }

    /// The layout in which one field is no longer trusted.
    ///
    /// - Parameter place: What ``OtherValues`` named.
    /// - Returns: nil when the place is not here.
    public func distrusting(_ place: String) -> CollectionLayout? {
        guard place.hasPrefix("\(id) "),
            let index = promoted.firstIndex(where: { $0.isProbed && self.place(of: $0.rest) == place })
        else { return nil }
        var fields = promoted
        let field = fields[index]
        fields[index] = PromotedField(
            path: field.path,
            type: field.type,
            column: field.column,
            rest: field.rest,
            equality: field.equality,
            sorts: field.sorts
        )
        return CollectionLayout(
            id: id,
            table: table,
            promoted: fields,
            origin: origin,
            facts: facts,
            text: text,
            mixed: mixed
        )
    }

    /// Whether an index orders the values of a path, whatever their types.
    func ordersMixed(_ path: FieldPath) -> Bool {
        mixed.contains { $0.hasSameBytes(as: path) }
    }

    /// The typed columns of a path; a path may have one per type.
    func promotedFields(at path: FieldPath) -> [PromotedField] {
        promoted.filter { $0.path.hasSameBytes(as: path) }
    }
}

extension FieldPath {
    /// By bytes: Swift calls texts equal that are different keys.
    fileprivate func hasSameBytes(as other: FieldPath) -> Bool {
        components.count == other.components.count
            && zip(components, other.components).allSatisfy { $0.utf8.elementsEqual($1.utf8) }
    }
}

/// What the choice of plans depends on beside a table's columns; it may be some time old.
public struct TableFacts: Sendable, Hashable {
    /// Whether an index on whole documents may find what typed columns do not: a GIN index on `doc`.
    public let hasDocumentIndex: Bool
    /// The columns in which PostgreSQL has seen many different values, so that none stands for a large part of the rows
    /// in a plan made for any of them.
    public let spreadColumns: Set<String>

    /// Made of its parts; nothing is known without.
    public init(hasDocumentIndex: Bool = false, spreadColumns: Set<String> = []) {
        self.hasDocumentIndex = hasDocumentIndex
        self.spreadColumns = spreadColumns
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
        /// `smallint`, `integer` or `bigint` of a mapped relation.
        case integer
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
    /// The typed column, or the expression that an index is on.
    public let column: SQLFragment
    /// The column for whatever does not fit the typed one, or its expression.
    public let rest: SQLFragment
    /// What is compared for equality: a text in the collation of its own relation's indexes.
    public let equality: SQLFragment
    /// Whether an index gives the order of the typed column, and another tells at once whether there are values
    /// beside it.
    public let sorts: Bool
    /// Whether an index gives the typed column's rows in the order of `_id`, and another tells at once whether there
    /// are values beside it.
    public let isProbed: Bool
    /// Whether the column is among the table's ``TableFacts/spreadColumns``.
    public let isSpread: Bool

    /// Made of its parts.
    public init(
        path: FieldPath,
        type: ValueType,
        column: SQLFragment,
        rest: SQLFragment,
        equality: SQLFragment? = nil,
        sorts: Bool = false,
        isProbed: Bool = false,
        isSpread: Bool = false
    ) {
        self.path = path
        self.type = type
        self.column = column
        self.rest = rest
        self.equality = equality ?? column
        self.sorts = sorts
        self.isProbed = isProbed
        self.isSpread = isSpread
    }

    /// What one field has one column for.
    struct Key: Hashable {
        let path: String
        let type: ValueType

        /// nil for a type that this version does not know.
        init?(_ entry: BSONDocument) {
            guard let path = entry["path"]?.string,
                let type = entry["type"]?.string.flatMap(ValueType.init(rawValue:))
            else { return nil }
            self.path = path
            self.type = type
        }

        // By bytes: Swift calls texts equal that are different keys.
        static func == (left: Key, right: Key) -> Bool {
            left.type == right.type && left.path.utf8.elementsEqual(right.path.utf8)
        }

        func hash(into hasher: inout Hasher) {
            for byte in path.utf8 { hasher.combine(byte) }
        }
    }
}
