import BSON
import Errors
import MQL
import Rules

/// From a change to the event that one caller may see of it.
///
/// Everything is made of what the caller sees of the document before and after: by the rule filters, the role that
/// applies to that image, its fields. So neither the filter nor the pipeline, which look at the event, can ask for
/// what is hidden, and a change of hidden fields alone is no event.
///
/// Source: `reference/client-api.md` §10.3; `reference/rules.md` §7, `watch`.
struct ChangeEvent {
    let plan: AccessPlan
    let arguments: WatchArguments
    let namespace: Namespace
    let ids: Set<BSONKey>?
    let log: String
    let context: EvaluationContext

    /// - Returns: nil for a change that the caller may not see, or does not want to.
    /// - Throws: ``ServiceError`` of an expression that fails, or 280 for a pipeline that loses `_id`.
    func document(_ change: ChangeRecord) throws(ServiceError) -> BSONDocument? {
        guard let event = try visible(change) else { return nil }
        if let ids {
            guard let id = event["documentKey"]?.document?["_id"], ids.contains(BSONKey(id)) else {
                return nil
            }
        }
        guard try arguments.filter.matches(event, context) else { return nil }
        guard let pipeline = arguments.pipeline else { return event }
        guard let result = try pipeline.run([event], context).first else { return nil }
        guard result["_id"] == event["_id"] else {
            throw .mongo(
                280,
                "Encountered an event whose _id field, which contains the resume token, was modified by the pipeline. Modifying the _id field of an event makes it impossible to resume the stream from that point. Only transformations that retain the unmodified _id field are allowed."
            )
        }
        return result
    }

    private func visible(_ change: ChangeRecord) throws(ServiceError) -> BSONDocument? {
        let before = try seen(change.before)
        let after = try seen(change.after)
        switch change.kind {
        case .insert, .replace: return after.map { event(change, key: $0["_id"], full: $0) }
        case .update:
            guard let after else { return nil }
            let description = UpdateDescription(before: before ?? BSONDocument(), after: after)
            if description.isEmpty { return nil }
            return event(change, key: after["_id"], full: after, description: description)
        case .delete: return before.map { event(change, key: $0["_id"], full: nil) }
        }
    }

    /// What the caller sees of an image.
    private func seen(_ document: BSONDocument?) throws(ServiceError) -> BSONDocument? {
        guard let document, try plan.queryFilter.matches(document, context.simplyCollated) else { return nil }
        return try plan.seen(document, context)
    }

    private func event(
        _ change: ChangeRecord,
        key: BSONValue?,
        full: BSONDocument?,
        description: UpdateDescription? = nil
    ) -> BSONDocument {
        var event = head(change.kind.rawValue, change.sequence, time: change.time, change.collection)
        if let full { event.append("fullDocument", .document(full)) }
        event.append("ns", names)
        if let key { event.append("documentKey", ["_id": key]) }
        if let description { event.append("updateDescription", .document(description.document)) }
        return event
    }

    /// The event of a collection that is gone or renamed, and the end of all events.
    func end(
        _ type: String,
        to newName: CollectionName?,
        after sequence: Int64,
        time: Int64,
        _ collection: Int32
    ) -> BSONDocument {
        var event = head(type, sequence, time: time, collection)
        event.append("ns", names)
        if let newName { event.append("to", names(newName.database, newName.collection)) }
        return event
    }

    private var names: BSONValue { names(namespace.database, namespace.collection) }

    private func names(_ database: String, _ collection: String) -> BSONValue {
        ["db": .string(database), "coll": .string(collection)]
    }

    private func head(_ type: String, _ sequence: Int64, time: Int64, _ collection: Int32) -> BSONDocument {
        let token = ResumeToken(log: log, collection: collection, sequence: sequence)
        return [
            "_id": ["_data": .string(token.text)], "operationType": .string(type),
            "clusterTime": .timestamp(
                BSONTimestamp(
                    seconds: UInt32(truncatingIfNeeded: time),
                    increment: UInt32(truncatingIfNeeded: sequence)
                )
            ),
        ]
    }
}
