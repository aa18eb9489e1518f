import BSON
import Errors

/// `$unwind`: a document for each element of an array.
///
/// What is no array passes as it is. Missing, null and empty arrays end the document unless they
/// are preserved.
final class UnwindStep: PipelineStep {
    private let arguments: UnwindArguments
    private let indexPath: [String]?
    private let context: EvaluationContext

    init(_ next: PipelineStep, _ arguments: UnwindArguments, _ context: EvaluationContext) {
        self.arguments = arguments
        indexPath = arguments.indexField.map { FieldPath($0).components }
        self.context = context
        super.init(next)
    }

    override func accept(_ document: BSONDocument) throws(ServiceError) -> Bool {
        let path = arguments.path.components[...]
        let value = document.value(at: arguments.path)
        guard case .array(let elements)? = value else {
            if value?.isNullish ?? true, !arguments.preservesEmpty { return true }
            return try super.accept(indexed(document, .null))
        }
        if elements.isEmpty {
            guard arguments.preservesEmpty else { return true }
            return try super.accept(indexed(DocumentEdit.setDirectly(path, in: document, to: nil), .null))
        }
        try context.meter.spend(elements.count)
        for (index, element) in elements.enumerated() {
            let result = DocumentEdit.setDirectly(path, in: document, to: element)
            guard try super.accept(indexed(result, .int64(Int64(index)))) else { return false }
        }
        return true
    }

    private func indexed(_ document: BSONDocument, _ index: BSONValue) -> BSONDocument {
        guard let indexPath else { return document }
        return DocumentEdit.setDirectly(indexPath[...], in: document, to: index)
    }
}
