public import BSON
public import Errors

/// What an operation answers.
public enum OperationResult: Sendable {
    /// Of `find` and `aggregate`.
    case documents([BSONDocument])
    /// Of `findOne`; nil when nothing matched.
    case document(BSONDocument?)
    /// The `_id` of `insertOne`.
    case inserted(BSONValue)
    /// The `_id`s of `insertMany`, in order.
    case insertedMany([BSONValue])
    /// Of the updates and `replaceOne`.
    case updated(UpdateResult)
    /// How many documents `deleteOne` and `deleteMany` removed.
    case deleted(Int)
    /// Of `countDocuments` and `estimatedDocumentCount`.
    case counted(Int)
    /// Of `distinct`.
    case values([BSONValue])
    /// Of `bulkWrite`.
    case bulkWritten(BulkWriteResult)
}

/// A write among several that failed.
public struct WriteError: Error, Sendable {
    /// Its place in the list that was sent.
    public let index: Int
    /// Why it failed.
    public let error: ServiceError

    /// Made of its parts.
    public init(index: Int, error: ServiceError) {
        self.index = index
        self.error = error
    }
}

/// What a `bulkWrite` did.
public struct BulkWriteResult: Sendable {
    /// Documents that updates found.
    public var matched = 0
    /// Documents that updates changed.
    public var modified = 0
    /// Documents that were removed.
    public var deleted = 0
    /// The `_id`s of inserted documents, by the index of their operation.
    public var insertedIDs: [(index: Int, id: BSONValue)] = []
    /// The `_id`s of documents that upserts inserted, by the index of their operation.
    public var upsertedIDs: [(index: Int, id: BSONValue)] = []
    /// The operations that failed, in order.
    public var errors: [WriteError] = []

    /// Of a bulk that did nothing yet.
    public init() {}
}

/// The counts of an update.
public struct UpdateResult: Sendable {
    /// Documents that the filter found.
    public var matched: Int
    /// Documents that changed.
    public var modified: Int
    /// The `_id` of the document that an upsert inserted.
    public var upsertedID: BSONValue?

    /// Made of its parts.
    public init(matched: Int, modified: Int, upsertedID: BSONValue? = nil) {
        self.matched = matched
        self.modified = modified
        self.upsertedID = upsertedID
    }
}
