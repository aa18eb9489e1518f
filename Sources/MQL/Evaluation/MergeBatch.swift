public import BSON
public import Errors

/// What a `$merge` makes of some documents, given those of the target that have the same values in the `on` fields.
///
/// Documents are taken in order, so that one sees what another before it has done. One that fails is left out; the
/// first failure is kept, to be thrown when the others have been written.
public struct MergeBatch {
    /// A document of the target, before and after; it is new without the former.
    private struct Target {
        let before: BSONDocument?
        var after: BSONDocument?
    }

    private let arguments: MergeArguments
    private let context: EvaluationContext
    private var targets: [Target] = []
    private var places: [BSONKey: Int] = [:]
    /// Places of the targets that were changed, by their first change.
    private var order: [Int] = []
    /// Why the first document that could not be merged was refused.
    public private(set) var failure: ServiceError?

    /// Begins with the documents that are there.
    public init(
        _ arguments: MergeArguments,
        existing: [BSONDocument],
        _ context: EvaluationContext
    ) throws(ServiceError) {
        self.arguments = arguments
        self.context = context
        for document in existing {
            for key in try arguments.keys(of: document) { places[key] = targets.count }
            targets.append(Target(before: document))
        }
    }

    /// Documents that are to be inserted, in order.
    public var inserted: [BSONDocument] {
        order.compactMap { targets[$0].before == nil ? targets[$0].after : nil }
    }

    /// Documents that have another value than they had, in order.
    public var changed: [BSONDocument] {
        order.compactMap { place in
            guard let old = targets[place].before, let new = targets[place].after, new != old else {
                return nil
            }
            return new
        }
    }

    /// Takes one document.
    ///
    /// - Parameters:
    ///   - document: What the pipeline gave.
    ///   - values: Those of its `on` fields.
    ///   - newID: Makes the `_id` of a document that is inserted and has none.
    ///   - duplicate: The refusal of an `_id` that is there already.
    public mutating func add(
        _ document: BSONDocument,
        values: [BSONValue],
        newID: () -> BSONValue,
        duplicate: (BSONValue) -> ServiceError
    ) {
        let key = BSONKey(.array(values))
        do throws(ServiceError) {
            if let place = places[key] {
                let target = targets[place]
                guard let old = target.after ?? target.before,
                    let result = try matched(
                        old,
                        document,
                        duplicate: { duplicate(document["_id"] ?? .null) }
                    )
                else { return }
                if target.after == nil { order.append(place) }
                targets[place].after = result
            } else if let result = try unmatched(document, newID: newID) {
                places[key] = targets.count
                order.append(targets.count)
                targets.append(Target(before: nil, after: result))
            }
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
            if let id = new["_id"], let kept = old["_id"], !BSONOrdering.equal(id, kept) {
                throw .mongo(
                    66,
                    "Performing an update on the path '_id' would modify the immutable field '_id'"
                )
            }
            try DocumentLimits.check(result)
            return result
        case .pipeline(let pipeline): return try apply(pipeline, to: old, new)
        case .refused(let refusal): throw refusal
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

    private func unmatched(
        _ document: BSONDocument,
        newID: () -> BSONValue
    ) throws(ServiceError) -> BSONDocument? {
        switch arguments.whenNotMatched {
        case .discard: return nil
        case .fail:
            throw .mongo(
                13113,
                "$merge could not find a matching document in the target collection for at least one document in the source collection"
            )
        case .insert: break
        }
        var result: BSONDocument
        switch arguments.whenMatched {
        // As an upsert: what the document was looked for by, then `$set`, which makes new fields in the order of
        // their names.
        case .merge, .keepExisting, .fail:
            result = BSONDocument()
            for field in arguments.fields {
                let value = ExpressionLookup.value(of: field.components[...], in: document)
                result = DocumentEdit.setDirectly(field.components[...], in: result, to: value ?? .null)
            }
            let rest = document.fields.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            for field in rest { result[field.key] = field.value }
        case .replace, .pipeline: result = document
        case .refused(let refusal): throw refusal
        }
        let id = result["_id"] ?? newID()
        result["_id"] = nil
        result.fields.insert(BSONDocument.Field(key: "_id", value: id), at: 0)
        try DocumentLimits.check(result)
        return result
    }
}
