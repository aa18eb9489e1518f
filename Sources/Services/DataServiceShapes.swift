import BSON
import Errors
import MQL
import QueryCompiler

/// Which shape a changed document gets: its old one while that still fits, else one that follows from it, and
/// the steps to it are recorded, so that SQL can take them next time.
struct ShapeSuccession {
    let call: DataCall
    let layout: CollectionLayout

    /// Stops a transaction that met orders of keys which have to be recorded first.
    static let interruption = ServiceError(.internalServerError, "the order of keys has to be recorded first")

    /// nil: ``shape(of:from:by:)`` has to record one.
    func knownShape(of document: BSONDocument, from found: WriteCandidate) -> Int32? {
        if found.shape > 0,
            call.service.shapes.shape(found.shape, collection: layout.id)?.covers(document) == true
        {
            return found.shape
        }
        return call.service.shapes.knownID(for: document, collection: layout.id)
    }

    /// What has to be recorded for a changed document.
    func unknown(
        _ document: BSONDocument,
        from found: WriteCandidate,
        by update: Update
    ) -> EnclosingTransaction.Unknown {
        let layout = layout
        return EnclosingTransaction.Unknown(document: document, collection: layout.id) {
            call async throws(ServiceError) in
            try await ShapeSuccession(call: call, layout: layout).shape(of: document, from: found, by: update)
        }
    }

    func shape(
        of document: BSONDocument,
        from found: WriteCandidate,
        by update: Update
    ) async throws(ServiceError) -> Int32 {
        if let enclosing = call.enclosing, !enclosing.recordsAtOnce {
            if let id = knownShape(of: document, from: found) { return id }
            return enclosing.shape(unknown(document, from: found, by: update))
        }
        let registry = call.service.shapes
        if found.shape > 0, let old = registry.shape(found.shape, collection: layout.id) {
            if old.covers(document) { return found.shape }
            var id = found.shape
            var shape = old
            for step in UpdateSteps(update, now: call.now).taken(on: found.document) {
                guard id > 0, let next = step.successor(of: shape) else { break }
                id = try await registry.learn(
                    from: id,
                    step: step.text,
                    to: next,
                    collection: layout.id,
                    deadline: call.deadline
                )
                shape = next
            }
            if id > 0, shape.covers(document) { return id }
        }
        return try await registry.id(for: document, collection: layout.id, deadline: call.deadline)
    }
}
