public import BSON
public import MQL
import Rules
public import SQL

/// An aggregation split in two: what PostgreSQL does, and the stages that are left.
public struct AggregateStatement: Sendable {
    /// What the rows are.
    public enum Rows: Sendable {
        /// `doc`, `shape`: documents.
        case documents
        /// `count`: one number; ``name`` is its field.
        case count(name: String)
        /// `key`, `count`, and a possible shape of the key: groups with their sizes, to be merged by BSON equality.
        case groups(fields: [GroupField])
    }

    /// A counting field of `$group`, and what each document counts.
    public struct GroupField: Sendable {
        /// Its key in the result.
        public let name: String
        /// What one document adds, such as the `1` of `{$sum: 1}`.
        public let weight: BSONValue
    }

    /// The part for PostgreSQL.
    public let statement: SQLFragment
    /// What its rows mean.
    public let rows: Rows
    /// Whether every row satisfies the rules; otherwise ask the plan.
    public let decidesMatch: Bool
    /// How much of the pipeline, behind the rules, SQL decides.
    public let grade: PushdownGrade
    /// What the gateway does with the documents, in order.
    public let remaining: Pipeline
    /// Whether one plan serves all values.
    public var hasOnePlan = false
    /// The way in which it sorts; where it fails with ``SortFailure``, the next one is left.
    public var sorting = SortingWay.inGateway

    /// Whether the rows are groups.
    var hasGroups: Bool {
        if case .groups = rows { true } else { false }
    }

    /// Whether the rows are made in SQL and the rest only puts them in order or leaves some out, so that few of them take
    /// next to no time.
    public var isShort: Bool {
        if case .documents = rows { return false }
        return remaining.stages.allSatisfy { stage in
            switch stage {
            case .sort, .skip, .limit: true
            default: false
            }
        }
    }
}

extension QueryCompiler {
    /// Pushes down the longest prefix of a pipeline.
    ///
    /// Rules come first: the pipeline sees only what its caller may read. Where they hide fields, stages cannot be
    /// pushed below them.
    ///
    /// - Parameters:
    ///   - pipeline: All stages, as the caller wrote them.
    ///   - sorting: The best way to sort that may be taken.
    ///   - groups: Whether groups may be SQL's; not where their keys have turned out to be more than it can tell apart.
    /// - Returns: A statement, and the stages that it does not cover.
    public func aggregate(
        _ pipeline: Pipeline,
        sorting: SortingWay = .byIndex,
        groups: Bool = true
    ) -> AggregateStatement {
        var prefix = PipelinePrefix(condition: permitted)
        var remaining = pipeline.stages[...]
        var score: SQLFragment?
        if pipeline.readsTextScore { score = self.score(pipeline.leadingMatch.textSearch) }
        let seesWholeDocuments =
            plan.readsWholeDocuments && plan.readFilterIsExact && plan.queryProjection == nil
        if seesWholeDocuments, prefix.condition.isExact {
            prefix.score = score
            while let stage = remaining.first, prefix.take(stage, self, sorting) { remaining.removeFirst() }
            // What cannot be decided in SQL may still narrow, as long as the stage is run again.
            if case .match(let filter)? = remaining.first { prefix.narrow(filters.compile(filter)) }
            var single = prefix
            single.condition.hidesPaths = hasOnePlan(for: prefix.condition)
            if var grouped = grouped(single, remaining), groups || !grouped.hasGroups {
                grouped.sorting = prefix.sorting(ordered: false)
                return grouped
            }
        }
        if !seesWholeDocuments || !permitted.isExact, case .match(let filter)? = remaining.first,
            let search = filter.textSearch
        {
            // Only SQL can decide it, whatever else is decided here.
            prefix.narrow(filters.compile(.text(search)))
        }
        let isExact = plan.readFilterIsExact && prefix.rulesAreExact
        return AggregateStatement(
            statement: prefix.select(Self.columns(score), from: self, ordered: true),
            rows: .documents,
            decidesMatch: isExact,
            grade: isExact && remaining.isEmpty ? .exact : prefix.condition.narrowing.grade,
            remaining: Pipeline(stages: Array(remaining)),
            sorting: prefix.sorting(ordered: true)
        )
    }

    /// The next stage, when it counts documents as a whole or by a field.
    private func grouped(_ prefix: PipelinePrefix, _ stages: ArraySlice<Stage>) -> AggregateStatement? {
        var rest = stages
        guard prefix.condition.isExact, let stage = rest.popFirst() else { return nil }
        switch stage {
        case .count(let name):
            return AggregateStatement(
                statement: "SELECT count(*) FROM (\(prefix.select("1 AS one", from: self))) AS input",
                rows: .count(name: name),
                decidesMatch: true,
                grade: rest.isEmpty ? .exact : .superset,
                remaining: Pipeline(stages: Array(rest)),
                hasOnePlan: prefix.condition.hidesPaths
            )
        case .group(let arguments):
            guard comparesTexts else { return nil }
            return groups(prefix, arguments, rest: Array(rest))
        case .sortByCount(let expression):
            guard comparesTexts else { return nil }
            let counting = GroupArguments(
                id: expression,
                fields: [("count", Accumulator(kind: .sum, operand: .literal(.int32(1))))]
            )
            let order = Sort(keys: [Sort.Key(path: "count", ascending: false)])
            return groups(prefix, counting, rest: [.sort(order)] + rest)
        default: return nil
        }
    }

    private func groups(
        _ prefix: PipelinePrefix,
        _ arguments: GroupArguments,
        rest: [Stage]
    ) -> AggregateStatement? {
        var fields: [AggregateStatement.GroupField] = []
        for field in arguments.fields {
            switch (field.accumulator.kind, field.accumulator.operand) {
            case (.count, _):
                fields.append(.init(name: field.name, weight: .int32(1)))
            case (.sum, .literal(let weight)):
                guard case .int32 = weight else { return nil }
                fields.append(.init(name: field.name, weight: weight))
            default: return nil
            }
        }
        var prefix = prefix
        let key: SQLFragment
        var value: SQLFragment = "key"
        switch arguments.id {
        case .literal(let value):
            guard value.document == nil, value.array == nil, let bytes = StoredText.plain(value) else {
                return nil
            }
            key = "\(bind: .jsonb(bytes))::jsonb AS key"
        case .path(let path):
            guard path.components.count == 1, CandidatePath(root: "$", path)?.isPlain == true else {
                return nil
            }
            if let column = column(of: path) {
                key = "\(column.field.column) AS key"
                value = column.value
                if !prefix.condition.others.contains(column.field.rest) {
                    prefix.condition.others.append(column.field.rest)
                }
            } else {
                key = "doc -> \(bind: .text(path.components[0])) AS key"
            }
        default: return nil
        }
        return AggregateStatement(
            statement: """
                SELECT \(value), count(*) FROM (\(prefix.select(key, from: self))) AS input GROUP BY key
                """,
            rows: .groups(fields: fields),
            decidesMatch: true,
            grade: rest.isEmpty ? .exact : .superset,
            remaining: Pipeline(stages: rest),
            hasOnePlan: prefix.condition.hidesPaths
        )
    }

    /// The typed column that stands for a path where it is trusted to hold all values, and the stored form of a `key` of
    /// it: grouping by a text costs a fraction of taking each document apart, and an index may hold all that is asked for.
    private func column(of path: FieldPath) -> (field: PromotedField, value: SQLFragment)? {
        guard trustsColumns, !layout.isMapped,
            let field = layout.promotedFields(at: path).first(where: \.isProbed)
        else { return nil }
        switch field.type {
        case .string, .bool: return (field, "to_jsonb(key)")
        case .objectId: return (field, "CASE WHEN key IS NOT NULL THEN jsonb_build_object('$oid', key) END")
        // Their form in a document is not told by their value.
        case .number, .integer, .date, .uuid: return nil
        }
    }
}

/// The stages that one SELECT can do: conditions, one order, then skip and limit.
private struct PipelinePrefix {
    var condition: Condition
    /// The score that an order may ask for.
    var score: SQLFragment?
    private(set) var rulesAreExact: Bool
    private var ordering: Ordering?
    private var skip = 0
    private var limit: Int?

    init(condition: Condition) {
        self.condition = condition
        rulesAreExact = condition.isExact
    }

    private var isCut: Bool { skip > 0 || limit != nil }

    /// Whether the stage was taken over whole.
    mutating func take(_ stage: Stage, _ compiler: QueryCompiler, _ sorting: SortingWay) -> Bool {
        switch stage {
        case .match(let filter):
            let more = compiler.filters.compile(filter)
            guard !isCut, more.isExact else { return false }
            condition = .all([condition, more])
            return true
        case .sort(let sort):
            guard !isCut, ordering == nil, let found = compiler.ordering(sort, from: sorting, score: score)
            else {
                return false
            }
            ordering = found
            return true
        case .skip(let count):
            guard limit == nil else { return false }
            let sum = skip.addingReportingOverflow(count)
            guard !sum.overflow else { return false }
            skip = sum.partialValue
            return true
        case .limit(let count):
            limit = min(limit ?? count, count)
            return true
        default: return false
        }
    }

    /// Adds what can only narrow; not after a cut, which would then take other documents.
    mutating func narrow(_ more: Condition) {
        guard !isCut, !more.isExact || !more.terms.isEmpty else { return }
        let isExact = more.isExact
        condition = .all([condition, more])
        condition.isExact = condition.isExact && isExact
    }

    /// The way in which ``select(_:from:ordered:)`` sorts.
    func sorting(ordered: Bool) -> SortingWay { ordered || isCut ? ordering?.way ?? .inGateway : .inGateway }

    /// The statement for what was taken so far.
    ///
    /// - Parameters:
    ///   - columns: What a row has.
    ///   - compiler: Of the collection.
    ///   - ordered: Whether the rows come in the order of the stage that sorts, else in natural order; a cut needs it.
    /// - Returns: A `SELECT` with its conditions, order and cut.
    func select(_ columns: SQLFragment, from compiler: QueryCompiler, ordered: Bool = false) -> SQLFragment {
        let isOrdered = ordered || isCut
        var condition = condition
        if isOrdered, let proof = ordering?.condition { condition = .all([condition, .sql(proof)]) }
        let order = isOrdered ? ordering?.order ?? SortCompiler.natural : nil
        var result = compiler.select(columns, where: compiler.text(condition), orderedBy: order)
        if let limit { result += " LIMIT \(bind: .int(Int64(limit)))" }
        if skip > 0 { result += " OFFSET \(bind: .int(Int64(skip)))" }
        return result
    }
}
