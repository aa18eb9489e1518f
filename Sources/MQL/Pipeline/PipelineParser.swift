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
        try parse(stages, place: .top, ParseBudget(limits))
    }

    static func parse(
        _ stages: [BSONValue],
        place: PipelinePlace = .top,
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
        for (index, stage) in stages.enumerated() {
            guard case .document(let document) = stage else {
                throw .mongo(.typeMismatch, "Each element of the 'pipeline' array must be an object")
            }
            guard document.count == 1, let field = document.fields.first else {
                throw .mongo(
                    40323,
                    "A pipeline stage specification object must contain exactly one field."
                )
            }
            try place.check(field.key, isFirst: parsed.isEmpty, inFacet: budget.isInFacet)
            let parsedStage = try StageParser.parse(field.key, field.value, isFirst: index == 0, budget)
            switch parsedStage {
            case .merge, .out:
                guard index == stages.count - 1 else {
                    throw .mongo(
                        40601,
                        "\(parsedStage.name) can only be the final stage in the pipeline"
                    )
                }
            default: break
            }
            parsed.append(parsedStage)
        }
        return Pipeline(stages: parsed)
    }
}
