import BSON
import Errors
import MQL

/// Joins the filters that apply to a caller into one query and one projection.
///
/// Source: `rules.md` §4.
struct FilterResolver {
    private let evaluator: PartialEvaluator

    init(_ evaluator: PartialEvaluator) {
        self.evaluator = evaluator
    }

    func resolve(_ filters: [RuleFilter]) throws(ServiceError) -> (filter: Filter, projection: Projection?) {
        var queries: [Filter] = []
        var projections: [BSONDocument] = []
        for filter in filters where evaluator.reduce(filter.applyWhen, atDocumentLevel: true).isYes {
            queries.append(try query(filter.query))
            if !filter.projection.isEmpty { projections.append(filter.projection) }
        }
        return (FilterAlgebra.and(queries), try joined(projections))
    }

    // A missing expansion makes its comparison false, as in expressions: the clause that holds it
    // matches nothing. Clauses are taken apart at `$and` and `$or` only, since below a negation
    // "nothing" would turn into "all".
    private func query(_ operand: RuleOperand) throws(ServiceError) -> Filter {
        guard case .document(let members) = operand else {
            guard case .literal(.document(let document)) = operand else { return .nothing }
            return try FilterParser.parse(document)
        }
        var clauses: [Filter] = []
        for member in members {
            clauses.append(try clause(member))
        }
        return FilterAlgebra.and(clauses)
    }

    private func clause(_ member: RuleOperand.Member) throws(ServiceError) -> Filter {
        if member.key == "$and" || member.key == "$or", case .array(let elements) = member.value {
            var parts: [Filter] = []
            for element in elements { parts.append(try query(element)) }
            return member.key == "$and" ? FilterAlgebra.and(parts) : FilterAlgebra.or(parts)
        }
        let resolved = PartialEvaluator.resolve(member.value, evaluator.facts.answers) { expansion in
            guard let place = evaluator.facts.place(of: expansion),
                let value = value(at: place.path, in: place.document)
            else { return .missing }
            return .value(value, fromExpansion: true)
        }
        guard case .value(let value, _) = resolved else { return .nothing }
        return try FilterParser.parse(BSONDocument([.init(key: member.key, value: value)]))
    }

    /// All projections as one; each must include, or each exclude.
    private func joined(_ projections: [BSONDocument]) throws(ServiceError) -> Projection? {
        guard let first = projections.first else { return nil }
        var hasInclusion = false
        var hasExclusion = false
        var all = BSONDocument()
        for document in projections {
            for field in document {
                // `_id: 0` wins, since each filter may hide it.
                if field.key == "_id", let known = all["_id"], !known.isTruthy { continue }
                all[field.key] = field.value
            }
            guard document.count > 1 || document.firstKey != "_id" || document["_id"]?.isTruthy == true else {
                continue
            }
            switch try ProjectionParser.parse(document, inPipeline: false)?.mode {
            case .inclusion?: hasInclusion = true
            case .exclusion?: hasExclusion = true
            case nil: break
            }
        }
        if hasInclusion && hasExclusion {
            throw ServiceError(.badRequest, "filters have conflicting projections")
        }
        return try ProjectionParser.parse(projections.count == 1 ? first : all, inPipeline: false)
    }
}
