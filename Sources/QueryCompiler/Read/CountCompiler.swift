import BSON
public import MQL
import Rules
public import SQL

extension QueryCompiler {
    /// How many documents of a filter the caller may see: one row, one number.
    ///
    /// - Returns: nil where SQL cannot decide which they are.
    public func count(_ arguments: CountArguments) -> SQLFragment? {
        let condition = visible(arguments.filter)
        guard condition.isExact, plan.readFilterIsExact else { return nil }
        let suffix = Self.suffix(text(condition), nil)
        guard arguments.skip > 0 || arguments.limit != nil else {
            return "SELECT count(*) FROM \(layout.table)\(suffix)"
        }
        var rows: SQLFragment = "SELECT FROM \(layout.table)\(suffix)"
        if let limit = arguments.limit { rows += " LIMIT \(bind: .int(Int64(limit)))" }
        if arguments.skip > 0 { rows += " OFFSET \(bind: .int(Int64(arguments.skip)))" }
        return "SELECT count(*) FROM (\(rows)) AS input"
    }

    /// About how many documents there are; nil for a caller who may not see all of them.
    ///
    /// Exact for tables of up to 8 MiB and for those that PostgreSQL has not looked at; otherwise by the number of
    /// documents per page that it last found.
    public func estimatedCount() -> SQLFragment? {
        guard permitted.isExact, permitted.terms.isEmpty, plan.readFilterIsExact else { return nil }
        if layout.isMapped { return "SELECT count(*) FROM \(layout.table)" }
        return """
            SELECT CASE WHEN c.reltuples < 0 OR c.relpages = 0 OR pg_relation_size(c.oid) <= 8388608 \
            THEN (SELECT count(*) FROM \(layout.table)) \
            ELSE (c.reltuples / c.relpages \
            * (pg_relation_size(c.oid) / current_setting('block_size')::integer))::bigint END \
            FROM pg_class c WHERE c.oid = (SELECT tableoid FROM \(layout.table) LIMIT 1)
            """
    }

    /// The values of a field, each once, in the order of the documents: rows of one jsonb value.
    ///
    /// Values that are equal in jsonb are one row; those that BSON tells apart by the order of keys have to be
    /// fetched with ``find(_:sorting:)``.
    ///
    /// - Parameters:
    ///   - arguments: Field and filter.
    ///   - most: No more values than this.
    /// - Returns: nil where SQL cannot decide, or the caller does not see whole documents.
    public func distinct(_ arguments: DistinctArguments, most: Int) -> SQLFragment? {
        let condition = visible(arguments.filter)
        guard condition.isExact, plan.readFilterIsExact, plan.readsWholeDocuments,
            plan.queryProjection == nil, comparesTexts,
            let path = CandidatePath(root: "$", arguments.key), path.isPlain
        else { return nil }
        // In lax mode `[*]` opens an array, and takes anything else as it is.
        let values = path.alternatives[0] + "[*]"
        return """
            SELECT value FROM (SELECT value, min(_id) AS first, min(place) AS place FROM \(layout.table), \
            LATERAL jsonb_path_query(doc, \(bind: .jsonpath(values))) WITH ORDINALITY AS input (value, place)\
            \(Self.suffix(text(condition), nil)) GROUP BY value) AS found \
            ORDER BY first, place LIMIT \(bind: .int(Int64(most)))
            """
    }

    /// The first document of an order that a write matches, locked until the transaction ends.
    ///
    /// - Parameters:
    ///   - filter: The caller's filter.
    ///   - sort: The order; nil takes any document.
    ///   - way: The best way to sort that may be taken; where it fails with ``SortFailure``, the next one.
    /// - Returns: The statement, and the way it sorts; nil where SQL cannot decide which document it is.
    public func lockedCandidate(
        _ filter: Filter,
        sort: Sort?,
        sorting way: SortingWay = .byIndex
    ) -> (statement: SQLFragment, sorting: SortingWay)? {
        var condition = writeCondition(filter)
        guard condition.isExact else { return nil }
        let ordering = sort.flatMap { self.ordering($0, from: way) }
        if sort != nil, ordering == nil { return nil }
        if let proof = ordering?.condition { condition = .all([condition, .sql(proof)]) }
        let suffix = Self.suffix(condition.fragment(on: "doc"), ordering?.order)
        return (
            "SELECT _id, doc, shape FROM \(layout.table)\(suffix) LIMIT 1 FOR UPDATE",
            ordering?.way ?? .inGateway
        )
    }
}
