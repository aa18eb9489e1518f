import BSON
import MQL
import SQL

/// Turns a filter into SQL, with a grade: whether SQL decides, or narrows, or says nothing.
///
/// `MQL`'s evaluator says what a filter means; what is compiled here is proved against it on generated
/// documents. A conjunct that SQL cannot say is left out, and the caller rechecks.
///
/// Source: storage-study §§3, 5, 8.
struct FilterCompiler {
    /// Where the documents are.
    enum Source {
        /// The rows of a table, with `_id` and promoted columns beside `doc`.
        case rows(CollectionLayout)
        /// One jsonb value: an image of a change.
        case image(SQLFragment)
    }

    let source: Source
    /// Whether typed columns are taken to hold all values where that can be made sure of.
    var trustsColumns = false
    /// Whether texts compare by their bytes, as they do in SQL; under a collation only the gateway can tell.
    var comparesTexts = true

    var document: SQLFragment {
        switch source {
        case .rows: "doc"
        case .image(let fragment): fragment
        }
    }

    func compile(_ filter: Filter) -> Condition {
        switch filter {
        case .all: return .always
        case .nothing: return .never
        case .and(let filters): return .all(filters.map(compile))
        case .or(let filters): return .any(filters.map(compile), on: document)
        case .nor(let filters): return .all(filters.map { compile($0).negated(on: document) })
        case .field(_, let test) where !comparesTexts && test.comparesTexts: return .unknown
        case .field(let path, let test): return compile(path, test)
        case .expression, .schema: return .unknown
        case .text(let search):
            guard case .rows(let layout) = source, let index = layout.text else { return .never }
            return .sql(TextCompiler(index: index, search: search).condition)
        }
    }

    private func compile(_ path: FieldPath, _ test: FieldTest) -> Condition {
        if case .not(let tests) = test {
            return Condition.all(tests.map { compile(path, $0) }).negated(on: document)
        }
        if case .rows(let layout) = source {
            // The key of a mapped relation has its own column, and the index that goes with it.
            for field in layout.promotedFields(at: path) {
                if let condition = PromotedFieldCompiler(
                    field: field,
                    isTrusted: trustsColumns && field.isProbed
                ).compile(
                    test,
                    general: general(path, test),
                    on: document
                ) {
                    return condition
                }
            }
        }
        if path.components == ["_id"], case .rows = source, let condition = IdentifierCompiler.compile(test) {
            return condition
        }
        return general(path, test)
    }

    /// The test on the document itself.
    private func general(_ path: FieldPath, _ test: FieldTest) -> Condition {
        guard let candidates = CandidatePath(root: "$", path) else { return .unknown }
        let compiler = TestCompiler(path: candidates)
        if let predicate = compiler.compile(test) {
            return condition(predicate, candidates)
        }
        switch test {
        case .compare(.equal, let value):
            return StructuralEquality(path: candidates).compile(value, on: document)
        case .inside(let members):
            // One member that only containment can find: each member on its own.
            return .any(
                members.map { member in
                    switch member {
                    case .value(let value): general(path, .compare(.equal, value))
                    case .pattern(let pattern): general(path, .matches(pattern))
                    }
                },
                on: document
            )
        case .all(let members):
            return .all(
                members.map { member in
                    switch member {
                    case .value(let value): general(path, .compare(.equal, value))
                    case .pattern(let pattern): general(path, .matches(pattern))
                    }
                }
            )
        default: return .unknown
        }
    }

    private func condition(_ predicate: TestCompiler.PathPredicate, _ path: CandidatePath) -> Condition {
        guard !predicate.decimals.isEmpty else { return .path(predicate.text, isExact: predicate.isExact) }
        // The path language reads a decimal only through a double; numeric is exact. Few documents have one.
        let places = path.alternatives.map { $0 + ".\"$numberDecimal\"" }
        let presence = places.map { "exists(\($0))" }.joined(separator: " || ")
        let value = DatabaseFunctions.decimalValue("stored #>> '{}'")
        let equal = predicate.decimals.filter { $0.op == .equal }.map(\.digits)
        var tests = predicate.decimals.filter { $0.op != .equal }
            .map { $0.op.sql(value, "\(bind: .numeric($0.digits))") }
        if !equal.isEmpty { tests.append("\(value) = ANY (\(bind: .textArray(equal))::numeric[])") }
        let searches: [SQLFragment] = places.map {
            "EXISTS (SELECT FROM jsonb_path_query(\(document), \(bind: .jsonpath($0))) AS stored WHERE \(.joined(tests, separator: " OR ")))"
        }
        return .sql(
            """
            (\(document) @@ \(bind: .jsonpath(predicate.text)) \
            OR (\(document) @@ \(bind: .jsonpath(presence)) AND (\(.joined(searches, separator: " OR ")))))
            """,
            isExact: predicate.isExact
        )
    }
}
