import SQL

/// The SQL functions of `migrations` that compiled statements call.
enum DatabaseFunctions {
    /// The value of a decimal128's digits: `tidegate.decimal_value(text) → numeric`.
    static func decimalValue(_ text: SQLFragment) -> SQLFragment {
        "tidegate.decimal_value(\(text))"
    }

    /// The sum or product of two numbers with its type; NULL where the gateway has to decide.
    static func combine(_ first: SQLFragment, _ second: SQLFragment, multiplies: Bool) -> SQLFragment {
        multiplies
            ? "tidegate.combine_numbers(\(first), \(second), true)"
            : "tidegate.combine_numbers(\(first), \(second), false)"
    }

    /// What `$min` or `$max` leaves; NULL where the gateway has to decide.
    static func choose(_ current: SQLFragment, _ candidate: SQLFragment, greater: Bool) -> SQLFragment {
        greater
            ? "tidegate.chosen(\(current), \(candidate), true)"
            : "tidegate.chosen(\(current), \(candidate), false)"
    }

    /// The shape after adding keys; NULL for a step that was never taken.
    static func nextShape(collection: Int32, shape: SQLFragment, steps: [SQLFragment]) -> SQLFragment {
        "tidegate.next_shape(\(bind: .int4(collection)), \(shape), ARRAY[\(.joined(steps, separator: ", "))]::text[])"
    }

    /// True; an error of SQLSTATE ``SortFailure`` when there are values that a typed column does not hold.
    static func sortsByColumn(_ hasOthers: SQLFragment) -> SQLFragment {
        "tidegate.sorts_by_column(\(hasOthers))"
    }

    /// True; an error of SQLSTATE ``OtherValues`` when there are values that typed columns do not hold.
    static func typedAlone(_ hasOthers: SQLFragment, place: String) -> SQLFragment {
        "tidegate.typed_alone(\(hasOthers), \(bind: .text(place)))"
    }

    /// As ``sortKey(document:path:descending:)`` for both directions, with NULL for what it cannot order: what the indexes
    /// on fields of several types are on.
    static func orderKey(_ path: [String]) -> SQLFragment {
        "tidegate.order_key(doc, \(bind: .textArray(path)))"
    }

    /// A text that sorts as the values at a path do; an error of SQLSTATE ``cannotSort`` for what it cannot order.
    static func sortKey(document: SQLFragment, path: [String], descending: Bool) -> SQLFragment {
        descending
            ? "tidegate.sort_key(\(document), \(bind: .textArray(path)), true)"
            : "tidegate.sort_key(\(document), \(bind: .textArray(path)), false)"
    }
}
