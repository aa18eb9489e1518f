public import BSON
public import Errors

extension Filter {
    /// Whether a document satisfies the filter.
    ///
    /// - Throws: ``ServiceError`` when an expression of `$expr` fails, a pattern reaches its bounds
    ///   (51156) or the context's meter is spent (50).
    public func matches(_ document: BSONDocument, _ context: EvaluationContext) throws(ServiceError) -> Bool {
        var indexes: MatchedIndexes?
        return try FilterEvaluator(context: context).matches(self, document, &indexes)
    }

    /// As ``matches(_:_:)``, with the array indexes that satisfied the filter.
    public func matchReport(
        _ document: BSONDocument,
        _ context: EvaluationContext
    ) throws(ServiceError) -> MatchReport {
        var indexes: MatchedIndexes? = MatchedIndexes()
        let matched = try FilterEvaluator(context: context).matches(self, document, &indexes)
        let found = matched ? indexes : nil
        return MatchReport(matched: matched, indexes: found?.byPath ?? [:], last: found?.last)
    }
}

/// The meaning of filters, in memory.
///
/// Source: `reference/mql.md` §§2–3.
struct FilterEvaluator {
    let context: EvaluationContext

    /// Whether the document satisfies the filter.
    ///
    /// - Parameters:
    ///   - filter: The filter, or a part of it.
    ///   - document: The whole document.
    ///   - indexes: Receives, per array, the index that matched; nil when nobody asks.
    /// - Returns: True also where a filter on an array holds for any of its elements.
    /// - Throws: ``ServiceError`` of a part that cannot be evaluated, such as an `$expr`.
    func matches(
        _ filter: Filter,
        _ document: BSONDocument,
        _ indexes: inout MatchedIndexes?
    ) throws(ServiceError) -> Bool {
        switch filter {
        case .all: return true
        case .nothing: return false
        case .and(let members):
            for member in indexes == nil ? members : MatchedIndexes.ordered(members) {
                if try !matches(member, document, &indexes) { return false }
            }
            return true
        case .or(let members):
            let tells = indexes != nil && MatchedIndexes.tells(members)
            for member in members {
                // What a failed branch recorded must not show.
                var attempt = tells ? indexes : nil
                if try matches(member, document, &attempt) {
                    if tells { indexes = attempt }
                    return true
                }
            }
            return false
        case .nor(let members):
            var ignored: MatchedIndexes?
            for member in members where try matches(member, document, &ignored) { return false }
            return true
        case .field(let path, let test):
            return try holds(test, .field(document, path), &indexes)
        case .expression(let expression):
            return try expression.evaluate(document, context)?.isTruthy ?? false
        // The statement that brought the document has decided it.
        case .text: return true
        case .schema(let schema): return try schema.accepts(.document(document), context.meter)
        }
    }

    /// Whether all tests hold for one value.
    func hold(_ tests: [FieldTest], _ subject: FilterSubject) throws(ServiceError) -> Bool {
        var ignored: MatchedIndexes?
        for test in tests where try !holds(test, subject, &ignored) { return false }
        return true
    }

    private func holds(
        _ test: FieldTest,
        _ subject: FilterSubject,
        _ indexes: inout MatchedIndexes?
    ) throws(ServiceError) -> Bool {
        switch test {
        case .not(let tests):
            return try !hold(tests, subject)
        case .exists(let wanted):
            let exists = try any(subject, .opened, &indexes) { value, _ throws(ServiceError) in value != nil }
            return exists == wanted
        case .all(let members):
            if members.isEmpty { return false }
            for member in members where try !isMember([member], subject, &indexes) { return false }
            return true
        case .allElements(let matches):
            if matches.isEmpty { return false }
            for match in matches where try !elementMatches(match, subject, &indexes) { return false }
            return true
        case .elementMatch(let match):
            return try elementMatches(match, subject, &indexes)
        case .size(let size):
            return try any(subject, .whole, &indexes) { value, _ throws(ServiceError) in
                value?.array?.count == size
            }
        case .inside(let members):
            return try isMember(members, subject, &indexes)
        case .matches(let pattern):
            return try any(subject, .opened, &indexes) { value, _ throws(ServiceError) in
                try ValueTests.matches(pattern, value)
            }
        case .compare(let comparison, let operand) where context.collation != nil:
            let operand = context.keyed(operand)
            return try any(subject, .opened, &indexes) { value, _ throws(ServiceError) in
                ValueTests.compares(value.map(context.keyed), comparison, operand)
            }
        case .compare, .type, .modulo, .bits:
            return try any(subject, .opened, &indexes) { value, _ throws(ServiceError) in
                ValueTests.holds(test, value)
            }
        }
    }

    /// Whether a candidate is among the members of `$in`.
    private func isMember(
        _ members: [FilterMember],
        _ subject: FilterSubject,
        _ indexes: inout MatchedIndexes?
    ) throws(ServiceError) -> Bool {
        if context.collation != nil { try context.meter.spend(members.count) }
        var membership = Membership(members, context)
        return try any(subject, .opened, &indexes) { value, _ throws(ServiceError) in
            try membership.contains(value)
        }
    }

    /// Whether some element of an array satisfies all conditions.
    private func elementMatches(
        _ match: ElementMatch,
        _ subject: FilterSubject,
        _ indexes: inout MatchedIndexes?
    ) throws(ServiceError) -> Bool {
        var found: PathCandidates.Position?
        let depth = subject.depth
        let matched = try subject.contains(.whole) { value, position throws(ServiceError) in
            guard case .array(let elements)? = value else { return false }
            try context.meter.spend(elements.count)
            for (index, element) in elements.enumerated() where try self.matches(match, element: element) {
                found = position ?? PathCandidates.Position(depth: depth, index: index)
                return true
            }
            return false
        }
        if matched { subject.record(found, &indexes) }
        return matched
    }

    /// Whether one element satisfies an `$elemMatch`.
    func matches(_ match: ElementMatch, element: BSONValue) throws(ServiceError) -> Bool {
        switch match {
        case .value(let tests):
            return try hold(tests, .value(element))
        case .document(let filter):
            var ignored: MatchedIndexes?
            switch element {
            case .document(let document): return try matches(filter, document, &ignored)
            case .array(let elements):
                // An array is an object whose names are the indexes.
                let fields = elements.enumerated().map { BSONDocument.Field(key: String($0), value: $1) }
                return try matches(filter, BSONDocument(fields), &ignored)
            default: return false
            }
        }
    }

    private func any(
        _ subject: FilterSubject,
        _ leaf: PathCandidates.Leaf,
        _ indexes: inout MatchedIndexes?,
        _ visitor: PathCandidates.Visitor
    ) throws(ServiceError) -> Bool {
        var found: PathCandidates.Position?
        let matched = try subject.contains(leaf) { value, position throws(ServiceError) in
            guard try visitor(value, position) else { return false }
            found = position
            return true
        }
        if matched { subject.record(found, &indexes) }
        return matched
    }
}
