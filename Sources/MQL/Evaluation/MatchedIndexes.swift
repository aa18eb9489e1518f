import BSON

/// The array indexes by which a filter held, as they are found.
struct MatchedIndexes {
    private(set) var byPath: [FieldPath: Int] = [:]
    /// The index found last.
    private(set) var last: Int?

    mutating func record(_ index: Int, at path: ArraySlice<String>) {
        byPath[FieldPath(components: Array(path))] = index
        last = index
    }

    /// The conditions of an `$and` in MongoDB's order, in which the index found last counts: `$elemMatch` and
    /// equality come before ranges, and those from below.
    static func ordered(_ members: [Filter]) -> [Filter] {
        members.enumerated().sorted { left, right in
            let ranks = (rank(left.element), rank(right.element))
            return ranks.0 == ranks.1 ? left.offset < right.offset : ranks.0 < ranks.1
        }.map(\.element)
    }

    private static func rank(_ filter: Filter) -> Int {
        guard case .field(_, let test) = filter else { return 0 }
        switch test {
        case .elementMatch: return 1
        case .size: return 2
        case .compare(.equal, _), .all, .allElements: return 3
        case .compare(.lessOrEqual, _): return 4
        case .compare(.less, _): return 5
        case .compare(.greater, _): return 6
        case .compare(.greaterOrEqual, _): return 7
        case .matches: return 8
        case .modulo: return 9
        case .exists: return 10
        case .inside: return 11
        case .bits, .not, .type: return 12
        }
    }

    /// Whether an `$or` tells of an index: one branch alone does, and equalities on one field, which are an `$in`.
    static func tells(_ members: [Filter]) -> Bool {
        guard members.count > 1, let first = members.first else { return true }
        guard case .field(let path, _) = first else { return false }
        return members.allSatisfy { member in
            switch member {
            case .field(path, .compare(.equal, _)), .field(path, .inside), .field(path, .matches): true
            default: false
            }
        }
    }
}
