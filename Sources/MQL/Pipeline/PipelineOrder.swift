import BSON

extension Pipeline {
    /// The same pipeline with joins as late as they can be, so that they have less to do.
    ///
    /// A `$lookup` keeps the number and order of documents: `$skip`, `$limit` and a `$match` on other fields than
    /// the one it sets may go first.
    public var joiningLate: Pipeline {
        guard isForeign else { return self }
        var ordered = stages
        var index = ordered.count - 1
        while index > 0 {
            var place = index
            while place > 0, ordered[place].goesBefore(ordered[place - 1]) {
                ordered.swapAt(place, place - 1)
                place -= 1
            }
            index -= 1
        }
        return Pipeline(stages: ordered)
    }
}

extension Stage {
    /// Whether it gives the same when it stands before a join.
    fileprivate func goesBefore(_ join: Stage) -> Bool {
        let target: FieldPath
        switch join {
        case .lookup(let arguments): target = arguments.target
        case .graphLookup(let arguments): target = arguments.target
        default: return false
        }
        switch self {
        case .skip, .limit: return true
        case .match(let filter):
            let reads = FieldReads(filter)
            guard !reads.readsDocument, !reads.hasExpression else { return false }
            return !reads.paths.contains { PathCollision(in: [$0, target]) != nil }
        default: return false
        }
    }
}
