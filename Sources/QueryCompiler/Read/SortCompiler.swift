import BSON
import MQL
import SQL

/// An ORDER BY, with what has to hold for it.
struct Ordering {
    let order: SQLFragment
    /// Raises ``SortFailure`` where the order would be another than MongoDB's.
    var condition: SQLFragment?
    let way: SortingWay
}

/// Turns a sort into ORDER BY, where SQL can order as MongoDB does.
enum SortCompiler {
    /// The best ordering, of those from the given way on; nil where only the gateway sorts.
    static func ordering(
        _ sort: Sort,
        _ layout: CollectionLayout,
        from way: SortingWay,
        score: SQLFragment? = nil
    ) -> Ordering? {
        if way == .byIndex, let indexed = indexed(sort, layout) { return indexed }
        guard way != .inGateway, let keys = compile(sort, score: score) else { return nil }
        return Ordering(order: keys, way: .byKeys)
    }

    /// nil: the gateway sorts.
    ///
    /// `_id` sorts by its typed key. Other paths sort by a text that `tidegate.sort_key` makes of the value;
    /// the function raises ``SortFailure`` for values it cannot order (documents, arrays of arrays), and the
    /// caller falls back to sorting itself.
    static func compile(_ sort: Sort, score: SQLFragment? = nil) -> SQLFragment? {
        var keys: [SQLFragment] = []
        for key in sort.keys {
            if key.path == TextScore.path {
                guard let score else { return nil }
                keys.append("\(score) DESC")
                continue
            }
            if key.path.components == ["_id"] {
                keys.append(key.ascending ? "_id ASC" : "_id DESC")
                continue
            }
            guard CandidatePath(root: "$", key.path)?.isPlain == true else { return nil }
            let text = DatabaseFunctions.sortKey(
                document: "doc",
                path: key.path.components,
                descending: !key.ascending
            )
            keys.append(key.ascending ? "\(text) COLLATE \"C\" ASC" : "\(text) COLLATE \"C\" DESC")
        }
        guard !keys.isEmpty else { return nil }
        // Equal documents keep one order, so that pages by skip and limit neither repeat nor miss one.
        if !sort.keys.contains(where: { $0.path.components == ["_id"] }) { keys.append("_id ASC") }
        return .joined(keys, separator: ", ")
    }

    /// The order by typed columns, or by keys of all types, that indexes sort, with a condition that raises
    /// ``SortFailure`` where such an index does not hold all values; nil where one of the fields has none.
    private static func indexed(_ sort: Sort, _ layout: CollectionLayout) -> Ordering? {
        var keys: [SQLFragment] = []
        var others: [SQLFragment] = []
        for key in sort.keys {
            if key.path.components == ["_id"] {
                keys.append(key.ascending ? "_id ASC" : "_id DESC")
                continue
            }
            if layout.ordersMixed(key.path) {
                let text = DatabaseFunctions.orderKey(key.path.components)
                keys.append(key.ascending ? "\(text) COLLATE \"C\" ASC" : "\(text) COLLATE \"C\" DESC")
                others.append("EXISTS (SELECT FROM \(layout.table) WHERE \(text) IS NULL)")
                continue
            }
            guard let field = layout.promotedFields(at: key.path).first(where: \.sorts) else { return nil }
            keys.append(
                key.ascending ? "\(field.column) ASC NULLS FIRST" : "\(field.column) DESC NULLS LAST"
            )
            others.append("EXISTS (SELECT FROM \(layout.table) WHERE \(field.rest) IS NOT NULL)")
        }
        guard !others.isEmpty else { return nil }
        if !sort.keys.contains(where: { $0.path.components == ["_id"] }) { keys.append("_id ASC") }
        return Ordering(
            order: .joined(keys, separator: ", "),
            condition: DatabaseFunctions.sortsByColumn(.joined(others, separator: " OR ")),
            way: .byIndex
        )
    }

    /// The order of documents that nobody sorts: by `_id`, which for the ids that drivers make is the order
    /// of insertion.
    ///
    /// A heap has none that lasts: an update moves its row.
    static let natural: SQLFragment = "_id ASC"
}

/// The SQLSTATE with which `tidegate.sort_key` says that only the gateway can order a value.
public enum SortFailure {
    /// A code that PostgreSQL itself never raises.
    public static let sqlState = "TG001"
}
