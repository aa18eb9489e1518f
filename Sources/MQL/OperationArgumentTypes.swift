public import BSON

/// Arguments of `insertMany`.
public struct InsertManyArguments: Sendable {
    /// The documents as sent; the service gives an `_id` to those that have none.
    public var documents: [BSONDocument]
    /// Whether the first document that cannot be inserted ends it; otherwise the others are inserted.
    public var isOrdered: Bool

    /// Made of its parts.
    public init(documents: [BSONDocument], isOrdered: Bool = true) {
        self.documents = documents
        self.isOrdered = isOrdered
    }
}

/// Arguments of `countDocuments`.
public struct CountArguments: Sendable {
    /// Which documents are counted.
    public var filter: Filter
    /// How many of them are left out.
    public var skip: Int
    /// At most so many are counted; nil is no bound.
    public var limit: Int?

    /// Made of its parts.
    public init(filter: Filter = .all, skip: Int = 0, limit: Int? = nil) {
        self.filter = filter
        self.skip = skip
        self.limit = limit
    }
}

/// Arguments of `distinct`.
public struct DistinctArguments: Sendable {
    /// Whose values are wanted; of an array, its elements.
    public var key: FieldPath
    /// The documents that are looked at.
    public var filter: Filter

    /// Made of its parts.
    public init(key: FieldPath, filter: Filter = .all) {
        self.key = key
        self.filter = filter
    }
}

/// Arguments of `findOneAndUpdate`, `findOneAndReplace` and `findOneAndDelete`.
public struct FindAndModifyArguments: Sendable {
    /// What happens to the document that is found.
    public enum Change: Sendable {
        case update(Update)
        case delete
    }

    /// Which documents are candidates.
    public var filter: Filter
    /// The first in this order is taken; nil takes any.
    public var sort: Sort?
    /// What is shown of it; nil shows the whole document.
    public var projection: Projection?
    /// What happens to it.
    public var change: Change
    /// Whether a document is inserted when none is found.
    public var upsert: Bool
    /// Whether the document after the change is shown, and not the one before.
    public var returnsNew: Bool

    /// Made of its parts.
    public init(
        filter: Filter,
        sort: Sort? = nil,
        projection: Projection? = nil,
        change: Change,
        upsert: Bool = false,
        returnsNew: Bool = false
    ) {
        self.filter = filter
        self.sort = sort
        self.projection = projection
        self.change = change
        self.upsert = upsert
        self.returnsNew = returnsNew
    }
}

/// One operation of a `bulkWrite`.
public enum BulkOperation: Sendable {
    case insertOne(BSONDocument)
    /// `updateOne`, and `replaceOne` as an update that is a replacement.
    case updateOne(UpdateArguments)
    case updateMany(UpdateArguments)
    case deleteOne(Filter)
    case deleteMany(Filter)
}

/// Arguments of `bulkWrite`.
public struct BulkWriteArguments: Sendable {
    /// What happens, in this order.
    public var operations: [BulkOperation]
    /// Whether the first operation that fails ends it; otherwise the others go on.
    public var isOrdered: Bool
    /// Whether a failure undoes all of them.
    public var isAtomic: Bool

    /// Made of its parts.
    public init(operations: [BulkOperation], isOrdered: Bool = true, isAtomic: Bool = false) {
        self.operations = operations
        self.isOrdered = isOrdered
        self.isAtomic = isAtomic
    }
}
