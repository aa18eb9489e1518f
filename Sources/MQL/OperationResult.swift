public import BSON

/// What an operation answers.
public enum OperationResult: Sendable {
    case documents([BSONDocument])
    case document(BSONDocument?)
    case inserted(BSONValue)
    case insertedMany([BSONValue])
    case updated(UpdateResult)
    case deleted(Int)
}

public struct UpdateResult: Sendable {
    public var matched: Int
    public var modified: Int
    public var upsertedID: BSONValue?

    public init(matched: Int, modified: Int, upsertedID: BSONValue? = nil) {
        self.matched = matched
        self.modified = modified
        self.upsertedID = upsertedID
    }
}
