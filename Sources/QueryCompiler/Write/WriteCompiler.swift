public import MQL
import Rules
public import SQL

/// An update in one statement: it finds, checks both images, writes, and tells what happened.
public struct UpdateStatement: Sendable {
    /// For a write by `_id`, a lighter statement to try first: one row changed means that all is done; none says
    /// nothing, and nothing was written.
    public let direct: SQLFragment?
    /// One row: `matched`, `undecided` (documents the gateway has to compute), `denied`, `written`.
    ///
    /// Nothing is written unless `undecided` and `denied` are zero. Made when it is asked for: most writes by
    /// `_id` are done with ``direct``.
    public var statement: SQLFragment { make() }
    private let make: @Sendable () -> SQLFragment
    /// Whether it is about one `_id`, so that one plan serves all values.
    public let isPointWrite: Bool
    /// The way in which it finds the first of an order; where it fails with ``SortFailure``, the next one is left.
    public let sorting: SortingWay

    init(
        direct: SQLFragment?,
        isPointWrite: Bool,
        sorting: SortingWay,
        statement: @escaping @Sendable () -> SQLFragment
    ) {
        self.direct = direct
        self.isPointWrite = isPointWrite
        self.sorting = sorting
        make = statement
    }
}

/// A deletion in one statement.
public struct DeleteStatement: Sendable {
    /// As ``UpdateStatement/direct``.
    public let direct: SQLFragment?
    /// One row: `matched`, `denied`, `written`.
    ///
    /// Nothing is deleted unless `denied` is zero. Made when it is asked for, as ``UpdateStatement/statement``.
    public var statement: SQLFragment { make() }
    private let make: @Sendable () -> SQLFragment
    /// As ``UpdateStatement/isPointWrite``.
    public let isPointWrite: Bool

    init(direct: SQLFragment?, isPointWrite: Bool, statement: @escaping @Sendable () -> SQLFragment) {
        self.direct = direct
        self.isPointWrite = isPointWrite
        make = statement
    }
}

extension QueryCompiler {
    /// Beyond this a new document is the gateway's, which knows the limit of 16 MiB exactly.
    private static let documentBytes = 8_000_000

    /// Compiles an update, as far as SQL can decide and compute all of it.
    ///
    /// - Parameters:
    ///   - arguments: Filter and update; an upsert's insertion is the caller's.
    ///   - many: Whether all matching documents are changed, or one.
    ///   - now: Milliseconds since 1970.
    ///   - sorting: As ``lockedCandidate(_:sort:sorting:)``.
    /// - Returns: nil when candidates have to be read, changed by the gateway and compared-and-swapped.
    public func update(
        _ arguments: UpdateArguments,
        many: Bool,
        now: Int64,
        sorting: SortingWay = .byIndex
    ) -> UpdateStatement? {
        var condition = writeCondition(arguments.filter)
        guard comparesTexts, condition.isExact,
            let permission = permittedUpdate,
            let change = UpdateCompiler(now: now).compile(arguments.update)
        else { return nil }
        // The guards come first: on other documents the expression may be an error.
        let document: SQLFragment =
            change.guards.isEmpty
            ? change.document
            : "CASE WHEN \(.joined(change.guards, separator: " AND ")) THEN \(change.document) END"
        let isPoint = Self.isPoint(arguments.filter)
        let layout = layout
        // One document alone is the first in any order.
        let sort = isPoint ? nil : arguments.sort
        let ordering = sort.flatMap { self.ordering($0, from: sorting) }
        if sort != nil, ordering == nil { return nil }
        let direct = isPoint && !layout.isMapped ? direct(condition, change, document) : nil
        if let proof = ordering?.condition { condition = .all([condition, .sql(proof)]) }
        let found = Self.suffix(condition.fragment(on: "doc"), ordering?.order)
        return UpdateStatement(
            direct: direct,
            isPointWrite: isPoint,
            sorting: ordering?.way ?? .inGateway
        ) {
            let rows: SQLFragment = "SELECT _id, doc, shape FROM \(layout.table)\(found)"
            return """
                WITH t AS MATERIALIZED (\(rows)\(many ? "" : " LIMIT 1") FOR UPDATE), \
                n AS MATERIALIZED (SELECT _id, doc, shape, \(document) AS nd, \
                \(change.shape(collection: layout.id)) AS ns FROM t), \
                c AS MATERIALIZED (SELECT _id, nd, ns, nd IS NOT NULL AND ns IS NOT NULL \
                AND pg_column_size(nd) < \(bind: .int(Int64(Self.documentBytes))) AS feasible, \
                \(permission) AS permitted, \(change.changed(from: "doc", to: "nd")) OR ns <> shape AS changed FROM n), \
                u AS (UPDATE \(layout.table) w SET doc = c.nd, shape = c.ns FROM c \
                WHERE w._id = c._id AND c.changed AND NOT EXISTS (SELECT FROM c WHERE NOT (feasible AND permitted)) \
                RETURNING 1) \
                SELECT count(*), count(*) FILTER (WHERE NOT feasible), \
                count(*) FILTER (WHERE feasible AND NOT permitted), (SELECT count(*) FROM u) FROM c
                """
        }
    }

    /// The update of one row as a plain UPDATE, for documents whose order of keys stays as it is.
    private func direct(
        _ condition: Condition,
        _ change: UpdateExpression,
        _ document: SQLFragment
    ) -> SQLFragment? {
        guard let keepsOrder = change.keepsOrder, change.boundBytes <= Self.directBytes,
            let permission = directPermission(change, document)
        else { return nil }
        var conditions: [SQLFragment] = [condition.fragment(on: "doc") ?? "true", permission]
        conditions += keepsOrder
        if change.mayFail || !change.guards.isEmpty { conditions.append("(\(document)) IS NOT NULL") }
        conditions.append(change.changesRow(to: document))
        return "UPDATE \(layout.table) SET doc = \(document) WHERE \(.joined(conditions, separator: " AND "))"
    }

    /// What the rules say of an update that is made in the row itself: fields that it leaves alone are read from
    /// the columns before and after.
    private func directPermission(_ change: UpdateExpression, _ document: SQLFragment) -> SQLFragment? {
        guard let predicate = updatePredicate else { return nil }
        if !predicate.asksAfter(change.touches) { return permittedInRow }
        return WritePredicateCompiler(
            before: .rows(layout),
            after: { filter in change.touches(filter) ? .image("(\(document))") : .rows(layout) }
        ).compile(predicate)
    }

    /// More than this is not set without looking at the size of the new document.
    private static let directBytes = 1 << 16

    /// nil: candidates have to be read, judged by the gateway and deleted by key.
    public func delete(_ filter: Filter, many: Bool) -> DeleteStatement? {
        let condition = writeCondition(filter)
        guard condition.isExact,
            let permission = permittedDelete
        else { return nil }
        let layout = layout
        let isPoint = comparesTexts && Self.isPoint(filter)
        let direct = self.permission(.delete, before: .rows(layout), after: { _ in .rows(layout) }).map {
            permission in
            "DELETE FROM \(layout.table) WHERE \(condition.fragment(on: "doc") ?? "true") AND \(permission)"
                as SQLFragment
        }
        return DeleteStatement(direct: isPoint && !layout.isMapped ? direct : nil, isPointWrite: isPoint) {
            let rows =
                "SELECT _id, doc FROM \(layout.table)\(Self.suffix(condition.fragment(on: "doc"), nil))"
                as SQLFragment
            return """
                WITH t AS MATERIALIZED (\(rows)\(many ? "" : " LIMIT 1") FOR UPDATE), \
                c AS MATERIALIZED (SELECT _id, \(permission) AS permitted FROM t), \
                d AS (DELETE FROM \(layout.table) w USING c WHERE w._id = c._id \
                AND NOT EXISTS (SELECT FROM c WHERE NOT permitted) RETURNING 1) \
                SELECT count(*), count(*) FILTER (WHERE NOT permitted), (SELECT count(*) FROM d) FROM c
                """
        }
    }

    private func permission(
        _ kind: WriteKind,
        before: FilterCompiler.Source,
        after: @escaping (Filter) -> FilterCompiler.Source
    ) -> SQLFragment? {
        Self.permission(plan, kind, before: before, after: after)
    }

    /// What the rules say of a change, on the images that are named; nil when SQL cannot decide.
    static func permission(
        _ plan: AccessPlan,
        _ kind: WriteKind,
        before: FilterCompiler.Source,
        after: @escaping (Filter) -> FilterCompiler.Source
    ) -> SQLFragment? {
        plan.writePredicate(kind).flatMap { WritePredicateCompiler(before: before, after: after).compile($0) }
    }

    /// Replaces a document that is still as it was read.
    ///
    /// The answer is the number of rows changed: none when another writer came first. The change log, if there is
    /// one, tells a replacement of the whole document from an update of its fields.
    public func swap(
        key: String,
        document: [UInt8],
        shape: Int32,
        for row: NewRow,
        isReplacement: Bool = false
    ) -> SQLFragment {
        var isSame: SQLFragment = """
            _id = \(bind: .text(key)) AND doc = \(bind: .jsonb(document)) AND shape = \(bind: .int4(shape))
            """
        if isReplacement, !layout.isMapped {
            isSame += " AND set_config('tidegate.replaced', \(bind: .text(key)), true) IS NOT NULL"
        }
        let changes: SQLFragment = """
            UPDATE \(layout.table) SET doc = \(bind: .jsonb(row.document)), shape = \(bind: .int4(row.shape))
            """
        guard layout.isMapped else { return "\(changes) WHERE \(isSame)" }
        return "\(locked(isSame)) \(changes) WHERE _id = (SELECT t._id FROM t)"
    }

    /// A view's triggers act on the row as the statement found it, so that it has to be held before.
    private func locked(_ condition: SQLFragment) -> SQLFragment {
        "WITH t AS MATERIALIZED (SELECT _id FROM \(layout.table) WHERE \(condition) FOR UPDATE)"
    }

    /// Replaces documents whose rows this transaction has locked.
    public func replace(_ rows: [NewRow]) -> SQLFragment {
        """
        UPDATE \(layout.table) w SET doc = n.doc, shape = n.shape FROM unnest(\
        \(bind: .textArray(rows.map(\.key))), \(bind: .jsonbArray(rows.map(\.document))), \
        \(bind: .int4Array(rows.map(\.shape)))) AS n (key, doc, shape) WHERE w._id = n.key
        """
    }

    /// Has the change log take the updates that follow in this transaction for replacements, or no longer.
    public static func markReplacements(_ isReplacing: Bool) -> SQLFragment {
        "SELECT set_config('tidegate.replaced', \(bind: .text(isReplacing ? "*" : "")), true)"
    }

    /// Deletes documents by key, as far as they are there.
    public func delete(keys: [String]) -> SQLFragment {
        "DELETE FROM \(layout.table) WHERE _id = ANY (\(bind: .textArray(keys)))"
    }

    /// Deletes a document that is still as it was read.
    public func delete(key: String, document: [UInt8]) -> SQLFragment {
        let isSame: SQLFragment = "_id = \(bind: .text(key)) AND doc = \(bind: .jsonb(document))"
        guard layout.isMapped else { return "DELETE FROM \(layout.table) WHERE \(isSame)" }
        return "\(locked(isSame)) DELETE FROM \(layout.table) WHERE _id = (SELECT t._id FROM t)"
    }
}
