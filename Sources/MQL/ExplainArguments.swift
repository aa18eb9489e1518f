public import BSON
import Errors

/// What is to be explained.
public struct ExplainArguments: Sendable {
    /// The operation.
    public enum Subject: Sendable {
        case find(FindArguments)
        case aggregate(Pipeline)
    }

    /// One of the conditions that all have to hold.
    public struct Conjunct: Sendable {
        /// As the caller wrote it.
        public let source: BSONDocument
        /// What it was parsed to.
        public let filter: Filter
    }

    /// The operation.
    public let subject: Subject
    /// The conditions of its filter, or of the `$match` that a pipeline begins with.
    public let conjuncts: [Conjunct]
    /// The names of a pipeline's stages.
    public let stages: [String]
}

extension OperationParser {
    /// The operation, or the question how it would be done when `explain` says so.
    static func explained(
        _ action: DataAction,
        _ arguments: OperationArguments
    ) throws(ServiceError) -> DataAction {
        guard try arguments.flag("explain") else { return action }
        switch action {
        case .find(let find), .findOne(let find):
            let filter = try arguments.document("filter") ?? BSONDocument()
            return .explain(
                ExplainArguments(subject: .find(find), conjuncts: try conjuncts(of: filter), stages: [])
            )
        case .aggregate(let pipeline):
            let stages = try OperationArguments.documents(arguments.requiredArray("pipeline"), of: "pipeline")
            return .explain(
                ExplainArguments(
                    subject: .aggregate(pipeline),
                    conjuncts: try conjuncts(of: stages.first?["$match"]?.document ?? BSONDocument()),
                    stages: stages.map { $0.firstKey ?? "" }
                )
            )
        default: return action
        }
    }

    private static func conjuncts(
        of filter: BSONDocument
    ) throws(ServiceError) -> [ExplainArguments.Conjunct] {
        var result: [ExplainArguments.Conjunct] = []
        for field in filter {
            if field.key == "$and", case .array(let members) = field.value {
                for case .document(let member) in members { result += try conjuncts(of: member) }
            } else {
                let source = BSONDocument([field])
                let budget = ParseBudget(.unbounded)
                budget.allowsText = true
                result.append(.init(source: source, filter: try FilterParser.parse(source, budget)))
            }
        }
        return result
    }
}
