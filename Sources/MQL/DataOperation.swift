public import BSON

/// What a caller asks of one collection.
public struct DataOperation: Sendable {
    public let namespace: Namespace
    public let action: DataAction

    public init(namespace: Namespace, action: DataAction) {
        self.namespace = namespace
        self.action = action
    }
}

/// One case per operation, with its parsed arguments.
public enum DataAction: Sendable {
    case find(FindArguments)
    case findOne(FindArguments)
    /// The document as sent; the service gives it an `_id` when it has none.
    case insertOne(BSONDocument)
    case insertMany([BSONDocument])
    case updateOne(UpdateArguments)
    case updateMany(UpdateArguments)
    case deleteOne(Filter)
    case deleteMany(Filter)
    case aggregate(Pipeline)
}

/// Arguments of `find` and `findOne`.
public struct FindArguments: Sendable {
    public var filter: Filter
    public var projection: Projection?
    public var sort: Sort?
    /// At most this many documents; nil is no bound.
    public var limit: Int?
    public var skip: Int

    public init(
        filter: Filter = .all,
        projection: Projection? = nil,
        sort: Sort? = nil,
        limit: Int? = nil,
        skip: Int = 0
    ) {
        self.filter = filter
        self.projection = projection
        self.sort = sort
        self.limit = limit
        self.skip = skip
    }
}

/// Arguments of `updateOne`, `updateMany` and `replaceOne` (an update that is a replacement).
public struct UpdateArguments: Sendable {
    public var filter: Filter
    public var update: Update
    public var upsert: Bool

    public init(filter: Filter, update: Update, upsert: Bool = false) {
        self.filter = filter
        self.update = update
        self.upsert = upsert
    }
}
