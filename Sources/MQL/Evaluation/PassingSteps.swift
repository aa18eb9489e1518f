import BSON
import Errors

/// Hands on what satisfies the filter of a `$match`.
final class FilterStep: PipelineStep {
    private let holds: (BSONDocument) throws(ServiceError) -> Bool

    init(_ next: PipelineStep, _ holds: @escaping (BSONDocument) throws(ServiceError) -> Bool) {
        self.holds = holds
        super.init(next)
    }

    override func accept(_ document: BSONDocument) throws(ServiceError) -> Bool {
        try holds(document) ? super.accept(document) : true
    }
}

/// Stages that make one document of one.
final class TransformStep: PipelineStep {
    private let checksDepth: Bool
    private let transform: (BSONDocument) throws(ServiceError) -> BSONDocument

    init(
        _ next: PipelineStep,
        checksDepth: Bool,
        _ transform: @escaping (BSONDocument) throws(ServiceError) -> BSONDocument
    ) {
        self.checksDepth = checksDepth
        self.transform = transform
        super.init(next)
    }

    override func accept(_ document: BSONDocument) throws(ServiceError) -> Bool {
        let result = try transform(document)
        if checksDepth { try ValueSize.checkDepth(result) }
        return try super.accept(result)
    }
}

/// Hands on the first documents, as many as `$limit` says.
final class LimitStep: PipelineStep {
    private var rest: Int

    init(_ next: PipelineStep, _ count: Int) {
        rest = count
        super.init(next)
    }

    override func accept(_ document: BSONDocument) throws(ServiceError) -> Bool {
        guard rest > 0 else { return false }
        rest -= 1
        return try super.accept(document) && rest > 0
    }
}

/// Hands on all but the first documents, as many as `$skip` says.
final class SkipStep: PipelineStep {
    private var rest: Int

    init(_ next: PipelineStep, _ count: Int) {
        rest = count
        super.init(next)
    }

    override func accept(_ document: BSONDocument) throws(ServiceError) -> Bool {
        guard rest == 0 else {
            rest -= 1
            return true
        }
        return try super.accept(document)
    }
}

/// `$count`: nothing for an empty input.
final class CountStep: PipelineStep {
    private let name: String
    private var count = 0

    init(_ next: PipelineStep, _ name: String) {
        self.name = name
        super.init(next)
    }

    override func accept(_ document: BSONDocument) throws(ServiceError) -> Bool {
        count += 1
        return true
    }

    override func finish() throws(ServiceError) {
        if count > 0 {
            let value = Int32(exactly: count).map { BSONValue.int32($0) } ?? .int64(Int64(count))
            _ = try super.accept(BSONDocument([BSONDocument.Field(key: name, value: value)]))
        }
        try super.finish()
    }
}

/// A stage over another collection, in a place that reads none.
final class UnreadStep: PipelineStep {
    private let name: String

    init(_ next: PipelineStep, _ name: String) {
        self.name = name
        super.init(next)
    }

    override func accept(_ document: BSONDocument) throws(ServiceError) -> Bool {
        throw .mongo(.illegalOperation, "\(name) is not available here")
    }

    override func finish() throws(ServiceError) {
        throw .mongo(.illegalOperation, "\(name) is not available here")
    }
}

/// `$documents`: the objects of an array, whatever the input.
final class DocumentsStep: PipelineStep {
    private let expression: AggregationExpression
    private let context: EvaluationContext

    init(_ next: PipelineStep, _ expression: AggregationExpression, _ context: EvaluationContext) {
        self.expression = expression
        self.context = context
        super.init(next)
    }

    override func accept(_ document: BSONDocument) throws(ServiceError) -> Bool { false }

    override func finish() throws(ServiceError) {
        guard case .array(let elements)? = try expression.evaluate(BSONDocument(), context) else {
            throw .mongo(5_858_203, "an array is expected in $documents")
        }
        for element in elements {
            guard case .document(let document) = element else {
                throw .mongo(40228, "the elements of $documents must be objects")
            }
            guard try super.accept(document) else { break }
        }
        try super.finish()
    }
}
