/// A data source of an app, as its gateway serves it.
public struct MongoClient: Sendable {
    let backend: Backend
    /// The data source's name, such as `mongodb-atlas`.
    public let serviceName: String

    /// A database of the data source.
    public func database(named name: String) -> MongoDatabase {
        MongoDatabase(client: self, name: name)
    }
}

/// A database of a data source.
public struct MongoDatabase: Sendable {
    let client: MongoClient
    /// The database's name.
    public let name: String

    /// A collection whose documents are taken as they are.
    public func collection(withName name: String) -> MongoCollection<Document> {
        collection(withName: name, of: Document.self)
    }

    /// A collection whose documents are values of a type.
    public func collection<Value: Codable & Sendable>(
        withName name: String,
        of type: Value.Type
    ) -> MongoCollection<Value> {
        MongoCollection(database: self, name: name)
    }
}

/// How documents are found.
public struct FindOptions: Sendable {
    /// At most so many; nil is all.
    public var limit: Int?
    /// Which fields come along.
    public var projection: Document?
    /// Their order.
    public var sort: Document?

    /// Made of its parts.
    public init(limit: Int? = nil, projection: Document? = nil, sort: Document? = nil) {
        self.limit = limit
        self.projection = projection
        self.sort = sort
    }
}

/// How a document is found and changed.
public struct FindOneAndModifyOptions: Sendable {
    /// Which fields come along.
    public var projection: Document?
    /// Which of several documents is first.
    public var sort: Document?
    /// Whether a document is inserted when none matches.
    public var upsert: Bool
    /// Whether the document comes as it is afterwards.
    public var shouldReturnNewDocument: Bool

    /// Made of its parts.
    public init(
        projection: Document? = nil,
        sort: Document? = nil,
        upsert: Bool = false,
        shouldReturnNewDocument: Bool = false
    ) {
        self.projection = projection
        self.sort = sort
        self.upsert = upsert
        self.shouldReturnNewDocument = shouldReturnNewDocument
    }
}

/// What an update did.
public struct UpdateResult: Sendable, Hashable {
    /// How many documents matched.
    public let matchedCount: Int
    /// How many of them changed.
    public let modifiedCount: Int
    /// The `_id` of the document that was inserted, when none matched.
    public let upsertedId: AnyBSON?
}
