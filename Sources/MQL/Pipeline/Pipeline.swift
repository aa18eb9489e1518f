/// The stages of an aggregation, in order.
public struct Pipeline: Sendable {
    /// What happens to the documents, first to last.
    public var stages: [Stage]
    /// Whether a stage asks for the score of the `$text` that the pipeline begins with.
    public internal(set) var readsTextScore = false

    /// Made of its parts.
    public init(stages: [Stage]) {
        self.stages = stages
    }
}

extension Pipeline {
    /// Whether it begins with documents of its own, and so reads no collection by itself.
    public var bringsDocuments: Bool { if case .documents? = stages.first { true } else { false } }

    /// The first `count` stages and the rest, so that SQL can take the one and Swift the other.
    public func split(after count: Int) -> (head: Pipeline, tail: Pipeline) {
        let bound = Swift.max(0, Swift.min(count, stages.count))
        return (Pipeline(stages: Array(stages[..<bound])), Pipeline(stages: Array(stages[bound...])))
    }

    /// How many `$match` stages the pipeline begins with.
    public var leadingMatchCount: Int {
        stages.prefix { if case .match = $0 { true } else { false } }.count
    }

    /// The conjunction of the leading `$match` stages; `.all` when there is none.
    public var leadingMatch: Filter {
        let filters = stages.prefix(leadingMatchCount).compactMap { stage -> Filter? in
            guard case .match(let filter) = stage, filter != .all else { return nil }
            return filter
        }
        return switch filters.count {
        case 0: .all
        case 1: filters[0]
        default: .and(filters)
        }
    }

    /// Whether an update may consist of these stages: `$set`, `$addFields`, `$unset`, `$project`,
    /// `$replaceRoot` and `$replaceWith` alone.
    public var isAllowedInUpdate: Bool {
        stages.allSatisfy(\.isAllowedInUpdate)
    }
}
