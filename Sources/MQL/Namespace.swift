/// The address of a collection.
public struct Namespace: Sendable, Hashable {
    public let dataSource: String
    public let database: String
    public let collection: String

    public init(dataSource: String, database: String, collection: String) {
        self.dataSource = dataSource
        self.database = database
        self.collection = collection
    }

    /// `database.collection`, as messages name it.
    public var name: String { "\(database).\(collection)" }
}
