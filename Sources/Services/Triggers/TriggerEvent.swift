import AppDefinition
import BSON
import Errors
import MQL
import Rules

/// From changes and logins to what the functions of triggers get.
///
/// Source: `reference/functions.md` §13.
enum TriggerEvent {
    /// The change event of a document; nil for one that the trigger is not for.
    ///
    /// - Throws: ``ServiceError`` of an expression in `match` or `project` that fails on this event.
    static func change(
        _ change: ChangeRecord,
        _ source: DatabaseTriggerSource,
        log: String,
        _ context: EvaluationContext
    ) throws(ServiceError) -> BSONDocument? {
        guard source.operations.contains(change.kind.rawValue) else { return nil }
        let maker = ChangeEvent(
            plan: .system,
            arguments: WatchArguments(),
            namespace: Namespace(
                dataSource: "",
                database: source.database,
                collection: source.collection
            ),
            ids: nil,
            log: log,
            context: context
        )
        guard var event = try maker.document(change) else { return nil }
        if change.kind == .update, !source.hasFullDocument { event["fullDocument"] = nil }
        if change.kind != .insert, source.hasFullDocumentBeforeChange, let before = change.before {
            event["fullDocumentBeforeChange"] = .document(before)
        }
        guard try source.match.matches(event, context) else { return nil }
        guard let projection = source.projection else { return event }
        var projected = try projection.apply(event, filter: nil, context)
        // It cannot be taken away.
        projected["operationType"] = event["operationType"]
        return projected
    }

    /// The event of a login, a creation or a deletion.
    static func authentication(
        operation: String,
        providers: [BSONValue],
        account: BSONDocument,
        time: Int64
    ) -> BSONDocument {
        [
            "operationType": .string(operation), "providers": .array(providers), "user": .document(account),
            "time": .date(time),
        ]
    }
}
