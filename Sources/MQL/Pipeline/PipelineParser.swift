public import BSON
public import Errors

/// Reads the stages of an aggregation.
///
/// Source: `reference/mql.md` §8.
public enum PipelineParser {
    /// The most stages that a pipeline may have.
    public static let maximumStages = 1000

    /// Reads every stage, in order.
    ///
    /// - Throws: ``ServiceError`` with MongoDB's code: 40323 for a stage without exactly one key,
    ///   40324 for a stage that does not exist, 238 for one that tidegate does not serve, 7749501
    ///   for more than ``maximumStages``.
    public static func parse(
        _ stages: [BSONValue],
        limits: ParseLimits = .unbounded
    ) throws(ServiceError) -> Pipeline {
        try parse(stages, inFacet: false, ParseBudget(limits))
    }

    static func parse(
        _ stages: [BSONValue],
        inFacet: Bool = false,
        _ budget: ParseBudget
    ) throws(ServiceError) -> Pipeline {
        if stages.count > maximumStages {
            throw .mongo(
                7_749_501,
                "Pipeline length must be no longer than \(maximumStages) stages"
            )
        }
        try budget.checkStages(stages.count)
        var parsed: [Stage] = []
        parsed.reserveCapacity(stages.count)
        for stage in stages {
            guard case .document(let document) = stage else {
                throw .mongo(.typeMismatch, "Each element of the 'pipeline' array must be an object")
            }
            guard document.count == 1, let field = document.fields.first else {
                throw .mongo(
                    40323,
                    "A pipeline stage specification object must contain exactly one field."
                )
            }
            let stage = try StageParser.parse(field.key, field.value, inFacet: inFacet, budget)
            if case .documents = stage {
                guard !inFacet, parsed.isEmpty else {
                    throw .mongo(40602, "$documents is only valid as the first stage in a pipeline.")
                }
                throw .mongo(
                    73,
                    "$documents is not allowed on a collection; use it in the pipeline of $lookup or $unionWith"
                )
            }
            parsed.append(stage)
        }
        return Pipeline(stages: parsed)
    }
}
