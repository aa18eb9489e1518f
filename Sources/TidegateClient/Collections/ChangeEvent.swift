/// A change of a document that a watcher may see.
public struct ChangeEvent<Value: Codable & Sendable>: Sendable {
    /// What happened.
    public enum OperationType: String, Sendable {
        case insert
        case update
        case replace
        case delete
        /// Something that happened to the collection.
        case other
    }

    /// What happened.
    public let operationType: OperationType
    /// Where to go on from: for `resumeAfter`.
    public let resumeToken: Document
    /// The document's `_id`.
    public let documentId: AnyBSON?
    /// The document as this change left it; nil for a delete.
    public let fullDocument: Value?
    /// The event as it came, `updateDescription` included.
    public let document: Document

    init(_ document: Document) throws {
        self.document = document
        operationType = document["operationType"]?.stringValue.flatMap(OperationType.init) ?? .other
        resumeToken = document["_id"]?.documentValue ?? [:]
        documentId = document["documentKey"]?.documentValue?["_id"]
        fullDocument = try document["fullDocument"]?.documentValue.map { try BSONDecoder().decode(from: $0) }
    }
}

extension MongoCollection {
    /// The collection's changes from now on, or from an event that was seen.
    ///
    /// Shape: `for try await event in try collection.watch() { … }`. The connection ends with the loop. A stream that ends
    /// with a ``TidegateError`` of the kind `network` can be taken up with the last event's
    /// ``ChangeEvent/resumeToken``.
    ///
    /// - Parameters:
    ///   - filterIds: Only of documents with one of these `_id`s.
    ///   - matchFilter: A condition on the event: `["fullDocument.age": ["$lt": 40]]`.
    ///   - resumeAfter: The token of the last event that was seen.
    ///   - opened: Called once the server listens: later changes are not missed.
    /// - Returns: The events.
    /// - Throws: ``TidegateError`` of the kind `invalidArgument` for a client without a user: the Data API has no watch.
    public func watch(
        filterIds: [AnyBSON]? = nil,
        matchFilter: Document? = nil,
        resumeAfter: Document? = nil,
        opened: @escaping @Sendable () -> Void = {}
    ) throws -> AsyncThrowingStream<ChangeEvent<Value>, any Error> {
        guard case .user(let user) = backend else {
            throw TidegateError(.invalidArgument, "only a user can watch: the Data API has no watch")
        }
        var argument: Document = ["database": .string(database.name), "collection": .string(name)]
        argument["ids"] = filterIds.map { .array($0) }
        argument["filter"] = matchFilter.map { .document($0) }
        argument["resumeAfter"] = resumeAfter.map { .document($0) }
        let call: Document = [
            "name": "watch", "arguments": [.document(argument)],
            "service": .string(database.client.serviceName),
        ]
        return AsyncThrowingStream { continuation in
            // Ended with the stream; the stream's reader is not a task that could be its parent.
            let task = Task {
                do {
                    try await EventStream(user: user, call: call).read(opened: opened) { document in
                        continuation.yield(try ChangeEvent(document))
                    }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}
