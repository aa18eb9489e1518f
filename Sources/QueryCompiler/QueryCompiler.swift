import BSON
public import MQL
public import Rules
public import SQL

/// From an operation and its permissions to SQL: the one entry of this room.
///
/// Every method gives statements together with what they leave to the caller: which part of the filter
/// to evaluate again, whether to sort or cut. Values travel as binds only.
///
/// Source: storage-study §§7, 8.
public struct QueryCompiler: Sendable {
    /// Where the documents are.
    public let layout: CollectionLayout
    /// What the caller may do with them.
    public let plan: AccessPlan
    /// Whether reads take typed columns to hold all values of their fields, and fail with ``OtherValues`` where they
    /// do not.
    public let trustsColumns: Bool

    /// Whether texts compare by their bytes; otherwise SQL decides nothing of the caller's that compares them.
    public private(set) var comparesTexts = true

    /// The rule filters and the readable documents, which every statement asks for.
    let permitted: Condition
    /// The proof of what ``permitted`` takes for granted.
    private let permittedProof: SQLFragment?
    /// What the rules say of an update from `doc` to `nd`, and of the deletion of `doc`; nil when SQL cannot
    /// decide.
    let permittedUpdate: SQLFragment?
    let permittedDelete: SQLFragment?
    /// What the rules say of an update as such, and of one that leaves all fields alone that they look at.
    let updatePredicate: WritePredicate?
    let permittedInRow: SQLFragment?

    /// Made of its parts; the plan's part of the SQL is compiled here, for any number of statements.
    public init(layout: CollectionLayout, plan: AccessPlan, trustsColumns: Bool = false) {
        self.layout = layout
        self.plan = plan
        self.trustsColumns = trustsColumns
        let filters = FilterCompiler(source: .rows(layout), trustsColumns: trustsColumns)
        permitted = .all([filters.compile(plan.queryFilter), filters.compile(plan.readFilter)])
        permittedProof = Self.proof(of: permitted.others, layout)
        updatePredicate = plan.writePredicate(.update)
        permittedUpdate = updatePredicate.flatMap {
            WritePredicateCompiler(before: .image("doc"), after: { _ in .image("nd") }).compile($0)
        }
        permittedInRow = updatePredicate.flatMap {
            WritePredicateCompiler(before: .rows(layout), after: { _ in .rows(layout) }).compile($0)
        }
        permittedDelete = Self.permission(
            plan,
            .delete,
            before: .image("doc"),
            after: { _ in .image("doc") }
        )
    }

    /// The same for an operation with a collation.
    public var collated: QueryCompiler {
        var compiler = self
        compiler.comparesTexts = false
        return compiler
    }

    var filters: FilterCompiler {
        FilterCompiler(source: .rows(layout), trustsColumns: trustsColumns, comparesTexts: comparesTexts)
    }

    /// Reads documents for a caller: filter, rule filters and readable documents in one statement.
    ///
    /// - Parameters:
    ///   - arguments: What is asked for.
    ///   - sorting: The best way to sort that may be taken; where it fails with ``SortFailure``, the next one.
    /// - Returns: The statement, and what it leaves to the caller.
    public func find(_ arguments: FindArguments, sorting: SortingWay = .byIndex) -> FindStatement {
        var condition = visible(arguments.filter)
        let decides = condition.isExact && plan.readFilterIsExact
        let isByKey = arguments.sort.map { $0.keys.map(\.path.components) == [["_id"]] } ?? true
        let hasOnePlan = isByKey && hasOnePlan(for: condition)
        if hasOnePlan { condition.hidesPaths = true }
        let score = arguments.readsTextScore ? score(arguments.filter.textSearch) : nil
        let ordering = arguments.sort.flatMap { self.ordering($0, from: sorting, score: score) }
        if let proof = ordering?.condition { condition = .all([condition, .sql(proof)]) }
        let sorts = arguments.sort == nil || ordering != nil
        let isPoint = comparesTexts && Self.isPoint(arguments.filter)
        let rowOrder = ordering?.order ?? (isPoint ? nil : SortCompiler.natural)
        return FindStatement(
            select:
                select(Self.columns(score), where: text(condition), orderedBy: rowOrder),
            decidesMatch: decides,
            grade: decides ? .exact : condition.narrowing.grade,
            sorts: sorts,
            sorting: ordering?.way ?? .inGateway,
            cuts: decides && sorts,
            arguments: arguments,
            isPointRead: isPoint,
            hasOnePlan: isPoint || hasOnePlan
        )
    }

    /// How SQL puts documents in an order, by this way or the next best; nil leaves it to the gateway.
    func ordering(_ sort: Sort, from way: SortingWay, score: SQLFragment? = nil) -> Ordering? {
        comparesTexts ? SortCompiler.ordering(sort, layout, from: way, score: score) : nil
    }

    /// What a row of a read has.
    static func columns(_ score: SQLFragment?) -> SQLFragment {
        score.map { "\($0) AS score, doc, shape" } ?? "doc, shape"
    }

    /// Rows that a write may have to change, by key, so that each is seen once.
    ///
    /// - Parameters:
    ///   - filter: The caller's filter.
    ///   - after: Only keys beyond this one.
    ///   - limit: At most this many.
    ///   - locks: Whether other writers wait until the transaction ends.
    /// - Returns: Rows of `_id`, `doc`, `shape`, and whether each of them matches for certain.
    public func candidates(
        _ filter: Filter,
        after: String?,
        limit: Int,
        locks: Bool
    ) -> (statement: SQLFragment, decidesMatch: Bool) {
        let condition = writeCondition(filter)
        var parts = condition.fragment(on: "doc").map { [$0] } ?? []
        if let after { parts.append("_id > \(bind: .text(after))") }
        var statement = select(
            "_id, doc, shape",
            where: parts.isEmpty ? nil : .joined(parts, separator: " AND "),
            orderedBy: "_id"
        )
        statement += " LIMIT \(bind: .int(Int64(limit)))"
        if locks { statement += " FOR UPDATE" }
        return (statement, condition.isExact)
    }

    /// Any one document that a write matches; nil where SQL cannot decide which one does.
    public func candidate(_ filter: Filter) -> SQLFragment? {
        let condition = writeCondition(filter)
        guard condition.isExact else { return nil }
        return select("_id, doc, shape", where: condition.fragment(on: "doc"), orderedBy: nil) + " LIMIT 1"
    }

    /// What a write matches: the caller's filter within the rule filters, among the documents that the caller
    /// may see.
    ///
    /// Those hidden from the caller count as absent, so that a refusal never tells of them; whether a visible
    /// one may be changed is decided on each, and refuses the request.
    ///
    /// Source: `data-api.md` §6.2.
    func writeCondition(_ filter: Filter) -> Condition {
        let condition = visible(filter)
        return plan.readFilterIsExact ? condition : condition.narrowing
    }

    /// A filter within the rule filters, among the documents that may be readable.
    func visible(_ filter: Filter) -> Condition {
        .all([filters.compile(filter), permitted])
    }

    /// A statement that fails with ``OtherValues`` where a read with these filters would; nil where none does.
    public func proof(_ asked: [Filter]) -> SQLFragment? {
        proofs(.all([permitted] + asked.map(filters.compile))).map { "SELECT \($0)" }
    }

    /// A statement that fails with ``SortFailure`` where an order by index would; nil where none is by index.
    public func proof(ofOrder sort: Sort) -> SQLFragment? {
        ordering(sort, from: .byIndex)?.condition.map { "SELECT \($0)" }
    }

    private func proofs(_ condition: Condition) -> SQLFragment? {
        condition.others == permitted.others ? permittedProof : Self.proof(of: condition.others, layout)
    }

    private static func proof(of columns: [SQLFragment], _ layout: CollectionLayout) -> SQLFragment? {
        guard !columns.isEmpty else { return nil }
        let proofs: [SQLFragment] = columns.map {
            DatabaseFunctions.typedAlone(
                "EXISTS (SELECT FROM \(layout.table) WHERE \($0) IS NOT NULL)",
                place: layout.place(of: $0)
            )
        }
        return .joined(proofs, separator: " AND ")
    }

    /// Whether one plan serves all values of a condition, as long as the rows are asked for in no order but that of
    /// `_id`.
    func hasOnePlan(for condition: Condition) -> Bool {
        condition.hasOnePlan && !layout.facts.hasDocumentIndex
    }

    /// The text of a condition, with the proof of what it takes for granted.
    func text(_ condition: Condition) -> SQLFragment? {
        let parts = [condition.fragment(on: "doc"), proofs(condition)].compactMap { $0 }
        return parts.isEmpty ? nil : .joined(parts, separator: " AND ")
    }

    /// A `SELECT` of the collection's rows.
    func select(
        _ columns: SQLFragment,
        where condition: SQLFragment?,
        orderedBy order: SQLFragment?
    ) -> SQLFragment {
        var result = SQLFragment(room: 256, binds: 4)
        result.append("SELECT ")
        result += columns
        result.append(" FROM ")
        result.append(layout.table)
        Self.append(condition, order, to: &result)
        return result
    }

    static func suffix(_ condition: SQLFragment?, _ order: SQLFragment?) -> SQLFragment {
        var result = SQLFragment()
        append(condition, order, to: &result)
        return result
    }

    private static func append(
        _ condition: SQLFragment?,
        _ order: SQLFragment?,
        to result: inout SQLFragment
    ) {
        if let condition {
            result.append(" WHERE ")
            result += condition
        }
        if let order {
            result.append(" ORDER BY ")
            result += order
        }
    }

    /// Whether an operation gains from trust: a read, and not of one document by its `_id`.
    public static func mayTrustColumns(_ action: DataAction) -> Bool {
        switch action {
        case .find(let arguments), .findOne(let arguments): !isPoint(arguments.filter)
        case .count, .distinct, .aggregate, .explain: !action.mayWrite
        default: false
        }
    }

    /// Whether a filter names one `_id`, so that one plan serves all values.
    static func isPoint(_ filter: Filter) -> Bool {
        switch filter {
        case .field(let path, .compare(.equal, let value)): path.components == ["_id"] && value.array == nil
        case .and(let filters): filters.contains(where: isPoint)
        default: false
        }
    }
}

/// Who sorts, and by what.
public enum SortingWay: Sendable, Hashable {
    /// PostgreSQL, in the order of an index on typed values.
    case byIndex
    /// PostgreSQL, by a text made of each value.
    case byKeys
    /// The gateway, or nobody.
    case inGateway

    /// What is left to try when this one meets values that it cannot order.
    public var next: SortingWay? {
        switch self {
        case .byIndex: .byKeys
        case .byKeys: .inGateway
        case .inGateway: nil
        }
    }
}

/// The SQLSTATE with which a statement says that a typed column does not hold all values.
///
/// Its constraint name is what ``CollectionLayout/distrusting(_:)`` takes.
public enum OtherValues {
    /// A code that PostgreSQL itself never raises.
    public static let sqlState = "TG002"
}

/// A read, and what it leaves to the caller.
public struct FindStatement: Sendable {
    /// Without skip and limit: `SELECT doc, shape …`.
    let select: SQLFragment
    /// Whether every row satisfies filter and rules; otherwise evaluate both.
    public let decidesMatch: Bool
    /// How much of filter and rules SQL decides.
    public let grade: PushdownGrade
    /// Whether rows come in the order asked for; otherwise sort.
    public let sorts: Bool
    /// The way in which it sorts.
    public let sorting: SortingWay
    /// Whether skip and limit are applied; otherwise cut.
    public let cuts: Bool
    let arguments: FindArguments
    /// Whether at most one row can come.
    public let isPointRead: Bool
    /// Whether one plan serves all values.
    public let hasOnePlan: Bool

    /// The statement with skip and limit where they are SQL's.
    ///
    /// - Parameter bound: At most this many rows, beside the caller's limit.
    /// - Returns: `SELECT doc, shape …`.
    public func statement(bound: Int? = nil) -> SQLFragment {
        guard !isPointRead || bound != nil && !cuts else { return cutting(limit: arguments.limit) }
        guard cuts else { return bound.map { select + " LIMIT \(bind: .int(Int64($0)))" } ?? select }
        return cutting(limit: [arguments.limit, bound].compactMap { $0 }.min())
    }

    private func cutting(limit: Int?) -> SQLFragment {
        guard cuts else { return select }
        var result = select
        if let limit { result += " LIMIT \(bind: .int(Int64(limit)))" }
        if arguments.skip > 0 { result += " OFFSET \(bind: .int(Int64(arguments.skip)))" }
        return result
    }
}
