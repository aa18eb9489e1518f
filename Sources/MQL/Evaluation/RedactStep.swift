import BSON
import Errors

/// `$redact`: at each level of a document, keep it whole, drop it, or look further down.
final class RedactStep: PipelineStep {
    private let expression: AggregationExpression
    private let context: EvaluationContext

    init(_ next: PipelineStep, _ expression: AggregationExpression, _ context: EvaluationContext) {
        self.expression = expression
        self.context = context
        super.init(next)
    }

    override func accept(_ document: BSONDocument) throws(ServiceError) -> Bool {
        guard let kept = try redact(document, root: document) else { return true }
        return try super.accept(kept)
    }

    private func redact(_ document: BSONDocument, root: BSONDocument) throws(ServiceError) -> BSONDocument? {
        try context.meter.spend()
        let inner = context.binding("CURRENT", to: .document(document))
        switch try expression.evaluate(root, inner) {
        case .string("keep"): return document
        case .string("prune"): return nil
        case .string("descend"):
            var result = BSONDocument()
            for field in document {
                guard let value = try redact(field.value, root: root) else { continue }
                result.append(field.key, value)
            }
            return result
        case let value:
            throw .mongo(
                17053,
                "$redact's expression should not return anything aside from the variables $$KEEP, $$DESCEND, and $$PRUNE, but returned \(MessageText.of(value))"
            )
        }
    }

    private func redact(_ value: BSONValue, root: BSONDocument) throws(ServiceError) -> BSONValue? {
        switch value {
        case .document(let document): return try redact(document, root: root).map { .document($0) }
        case .array(let elements):
            var kept: [BSONValue] = []
            for element in elements {
                if let value = try redact(element, root: root) { kept.append(value) }
            }
            return .array(kept)
        default: return value
        }
    }
}
