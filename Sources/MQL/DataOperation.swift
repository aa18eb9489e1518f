public import BSON

/// What a caller asks of one collection.
public struct DataOperation: Sendable {
    /// The collection that is asked.
    public let namespace: Namespace
    /// What is to happen there, with its arguments.
    public let action: DataAction
    /// What holds for the whole of it.
    public var options: OperationOptions

    /// Made of its parts.
    public init(namespace: Namespace, action: DataAction, options: OperationOptions = .none) {
        self.namespace = namespace
        self.action = action
        self.options = options
    }
}

/// One case per operation, with its parsed arguments.
public enum DataAction: Sendable {
    case find(FindArguments)
    case findOne(FindArguments)
    /// The document as sent; the service gives it an `_id` when it has none.
    case insertOne(BSONDocument)
    case insertMany(InsertManyArguments)
    case updateOne(UpdateArguments)
    case updateMany(UpdateArguments)
    case deleteOne(Filter)
    case deleteMany(Filter)
    case aggregate(Pipeline)
    /// `countDocuments`.
    case count(CountArguments)
    /// `estimatedDocumentCount`: of all documents that the caller may see.
    case estimatedCount
    case distinct(DistinctArguments)
    /// `findOneAndUpdate`, `findOneAndReplace`, `findOneAndDelete`.
    case findAndModify(FindAndModifyArguments)
    case bulkWrite(BulkWriteArguments)
    /// Changes as they happen: a stream, which nothing answers at once.
    case watch(WatchArguments)
    /// How a `find` or `aggregate` would be done; for the system.
    case explain(ExplainArguments)

    /// Whether it may change documents.
    public var mayWrite: Bool {
        switch self {
        case .find, .findOne, .count, .estimatedCount, .distinct, .watch, .explain: false
        case .aggregate(let pipeline): pipeline.output != nil
        case .insertOne, .insertMany, .updateOne, .updateMany, .deleteOne, .deleteMany, .findAndModify,
            .bulkWrite:
            true
        }
    }
}

/// Arguments of `find` and `findOne`.
public struct FindArguments: Sendable {
    /// Which documents are found.
    public var filter: Filter
    /// What is shown of each; nil shows the whole document.
    public var projection: Projection?
    /// The order in which they come; nil leaves it natural.
    public var sort: Sort?
    /// At most this many documents; nil is no bound.
    public var limit: Int?
    /// How many documents, in that order, are left out first.
    public var skip: Int
    /// Whether order or projection ask for the score of the filter's `$text`.
    public var readsTextScore = false

    /// Arguments that find everything, but for what is given.
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
    /// Which documents are changed.
    public var filter: Filter
    /// What happens to each.
    public var update: Update
    /// Whether a document is inserted when none matches.
    public var upsert: Bool
    /// Of several that match, the first in this order is changed; nil takes any.
    ///
    /// Only for a change of one document.
    public var sort: Sort?

    /// Made of its parts.
    public init(filter: Filter, update: Update, upsert: Bool = false, sort: Sort? = nil) {
        self.filter = filter
        self.update = update
        self.upsert = upsert
        self.sort = sort
    }
}
