/// The address of a collection.
public struct Namespace: Sendable, Hashable {
    /// The linked cluster's name, such as `mongodb-atlas`.
    public let dataSource: String
    /// The database in that source.
    public let database: String
    /// The collection in that database.
    public let collection: String

    /// Made of its parts.
    public init(dataSource: String, database: String, collection: String) {
        self.dataSource = dataSource
        self.database = database
        self.collection = collection
    }

    /// `database.collection`, as messages name it.
    public var name: String { "\(database).\(collection)" }
}
