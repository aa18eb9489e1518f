import BSON
import Errors

/// The members of `$in`, asked about one candidate after the other.
///
/// A few candidates are compared with each member; when there are many of both, members go into a
/// hashed set first, so that the work stays proportional to their sum.
struct Membership {
    private static let patience = 8

    private let members: [FilterMember]
    private let collation: Collation?
    private var asked = 0
    private var values: Set<BSONKey>?
    private var patterns: [RegexPattern] = []

    init(_ members: [FilterMember], _ context: EvaluationContext) {
        collation = context.collation
        guard let collation else {
            self.members = members
            return
        }
        self.members = members.map { member in
            if case .value(let value) = member { .value(collation.keyed(value)) } else { member }
        }
    }

    /// Whether a candidate equals a value or matches a pattern; nil is a missing field, which equals null.
    mutating func contains(_ candidate: BSONValue?) throws(ServiceError) -> Bool {
        asked += 1
        if asked > Self.patience, members.count > Self.patience { return try containsByHash(candidate) }
        let keyed = keyed(candidate)
        for member in members {
            switch member {
            case .value(let value):
                if ValueTests.compares(keyed, .equal, value) { return true }
            case .pattern(let pattern):
                if try ValueTests.matches(pattern, candidate) { return true }
            }
        }
        return false
    }

    private func keyed(_ candidate: BSONValue?) -> BSONValue? {
        guard let collation else { return candidate }
        return candidate.map(collation.keyed)
    }

    private mutating func containsByHash(_ candidate: BSONValue?) throws(ServiceError) -> Bool {
        let values = self.values ?? collect()
        self.values = values
        // Undefined shares null's place in the order but is not equal to it.
        if case .undefined? = candidate { return false }
        if values.contains(BSONKey(keyed(candidate) ?? .null)) { return true }
        for pattern in patterns where try ValueTests.matches(pattern, candidate) { return true }
        return false
    }

    private mutating func collect() -> Set<BSONKey> {
        var values = Set<BSONKey>(minimumCapacity: members.count)
        for member in members {
            switch member {
            case .value(let value): values.insert(BSONKey(value))
            case .pattern(let pattern): patterns.append(pattern)
            }
        }
        return values
    }
}
