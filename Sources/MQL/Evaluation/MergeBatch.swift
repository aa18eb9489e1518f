public import BSON
public import Errors

/// What a `$merge` makes of some documents, given those of the target that have the same `_id`.
///
/// Documents are taken in order, so that one sees what another before it has done. One that fails is left out; the
/// first failure is kept, to be thrown when the others have been written.
public struct MergeBatch {
    private let arguments: MergeArguments
    private let context: EvaluationContext
    private var before: [BSONKey: BSONDocument] = [:]
    private var after: [BSONKey: BSONDocument] = [:]
    private var order: [BSONKey] = []
    /// Why the first document that could not be merged was refused.
    public private(set) var failure: ServiceError?

    /// Begins with the documents that are there.
    public init(
        _ arguments: MergeArguments,
        existing: [BSONDocument],
        _ context: EvaluationContext
    ) {
        self.arguments = arguments
        self.context = context
        for document in existing { before[BSONKey(document["_id"] ?? .null)] = document }
    }

    /// Documents that are to be inserted, in order.
    public var inserted: [BSONDocument] {
        order.compactMap { before[$0] == nil ? after[$0] : nil }
    }

    /// Documents that have another value than they had, in order.
    public var changed: [BSONDocument] {
        order.compactMap { key in
            guard let old = before[key], let new = after[key], new != old else { return nil }
            return new
        }
    }

    /// Takes one document, which has an `_id`.
    public mutating func add(_ document: BSONDocument, duplicate: (BSONValue) -> ServiceError) {
        let id = document["_id"] ?? .null
        let key = BSONKey(id)
        do throws(ServiceError) {
            let result: BSONDocument?
            if let old = after[key] ?? before[key] {
                result = try matched(old, document) { duplicate(id) }
            } else {
                result = try unmatched(document)
            }
            guard let result else { return }
            if after.updateValue(result, forKey: key) == nil { order.append(key) }
        } catch {
            failure = failure ?? error
        }
    }

    private func matched(
        _ old: BSONDocument,
        _ new: BSONDocument,
        duplicate: () -> ServiceError
    ) throws(ServiceError) -> BSONDocument? {
        switch arguments.whenMatched {
        case .keepExisting: return nil
        case .fail: throw duplicate()
        case .replace:
            return try Update.replacement(new).apply(
                to: old,
                filter: .all,
                isUpsertInsert: false,
                context
            )
        case .merge:
            var result = old
            for field in new where field.key != "_id" { result[field.key] = field.value }
            try DocumentLimits.check(result)
            return result
        case .pipeline(let pipeline): return try apply(pipeline, to: old, new)
        }
    }

    private func apply(
        _ pipeline: Pipeline,
        to document: BSONDocument,
        _ new: BSONDocument
    ) throws(ServiceError) -> BSONDocument {
        var inner = context
        for variable in arguments.variables {
            // A variable without a value is none: what uses it is refused.
            guard let value = try variable.expression.evaluate(new, context) else { continue }
            inner.bind(variable.name, to: value)
        }
        inner.bind("new", to: .document(new))
        return try Update.pipeline(pipeline).apply(
            to: document,
            filter: .all,
            isUpsertInsert: false,
            inner
        )
    }

    private func unmatched(_ document: BSONDocument) throws(ServiceError) -> BSONDocument? {
        switch arguments.whenNotMatched {
        case .discard: return nil
        case .fail:
            throw .mongo(
                13113,
                "$merge could not find a matching document in the target collection for at least one document in the source collection"
            )
        case .insert: break
        }
        try DocumentLimits.check(document)
        switch arguments.whenMatched {
        // As an upsert with `$set`, which makes new fields in the order of their names.
        case .merge, .keepExisting, .fail:
            let rest = document.fields.filter { $0.key != "_id" }.sorted {
                $0.key.utf8.lexicographicallyPrecedes($1.key.utf8)
            }
            return BSONDocument(document.fields.filter { $0.key == "_id" } + rest)
        case .replace, .pipeline: return document
        }
    }
}
