import BSON
import MQL
import Sync

/// What of a partition a device does not have yet: classes, and of the first of them perhaps only what follows a key.
///
/// Shape, kept with the device's file: `{"classes": ["Dog", "Person"], "after": {"$oid": "…"}}`.
struct SyncRemainder: Equatable {
    /// In the order in which they come.
    private(set) var tables: [ByteText]
    /// The last key of the first class that the device has.
    private(set) var after: BSONValue?

    /// Whole classes.
    init(_ tables: some Sequence<ByteText> = []) {
        self.tables = Self.ordered(tables)
    }

    private static func ordered(_ tables: some Sequence<ByteText>) -> [ByteText] {
        tables.sorted { TextOrder.compare($0.text, $1.text) < 0 }
    }

    /// Whether the device has everything.
    var isEmpty: Bool { tables.isEmpty }

    /// What is left when all up to a document has come.
    func following(_ end: SyncBootstrap.Boundary?) -> SyncRemainder {
        guard let end else { return SyncRemainder() }
        var rest = self
        rest.tables.removeAll { TextOrder.compare($0.text, end.table.text) < 0 }
        rest.after = end.id
        return rest
    }

    /// The same with other whole classes.
    mutating func add(_ others: Set<ByteText>) {
        let others = others.subtracting(tables)
        if others.isEmpty { return }
        // A class of which the device has a part comes first, so that its part is the only one.
        guard after != nil, let first = tables.first else {
            tables = Self.ordered(tables + others)
            return
        }
        tables = [first] + Self.ordered(tables.dropFirst() + others)
    }

    /// Of the filters of whole classes those of what is left.
    func missing(of filters: [ByteText: Filter]) -> [ByteText: Filter] {
        var missing = filters.filter { tables.contains($0.key) }
        if let after, let first = tables.first, let filter = missing[first] {
            missing[first] = .and([filter, .nor([Self.through(after)])])
            // The same, said so that an index can begin there: null comes before all others.
            if !after.isNull { missing[first] = .and([filter, Self.key(.greater, after)]) }
        }
        return missing
    }

    /// Of the filters of whole classes those of what the device has.
    func present(of filters: [ByteText: Filter]) -> [ByteText: Filter] {
        var present = filters.filter { !tables.contains($0.key) }
        if let after, let first = tables.first, let filter = filters[first] {
            present[first] = .and([filter, Self.through(after)])
        }
        return present
    }

    private static func through(_ key: BSONValue) -> Filter {
        let null = Self.key(.equal, .null)
        return key.isNull ? null : .or([null, Self.key(.lessOrEqual, key)])
    }

    private static func key(_ comparison: ComparisonOperator, _ value: BSONValue) -> Filter {
        .field(FieldPath(components: ["_id"]), .compare(comparison, value))
    }

    // MARK: Kept

    /// Read back; nil for what is not one.
    init?(_ value: BSONValue?) {
        guard let document = value?.document, let tables = document["classes"]?.array else { return nil }
        self.tables = tables.compactMap(\.string).map { ByteText($0) }
        after = document["after"]
    }

    var value: BSONValue {
        var document: BSONDocument = ["classes": .array(tables.map { .string($0.text) })]
        if let after { document.append("after", after) }
        return .document(document)
    }
}
