public import BSON

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
