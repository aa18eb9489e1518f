import BSON

/// The address of a collection.
///
/// Equal when the bytes of all three names are, as the names of tables are: rules of one collection never
/// stand for another whose name only looks the same.
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

    /// Whether both name the same collection, byte by byte.
    public static func == (left: Namespace, right: Namespace) -> Bool {
        TextOrder.equal(left.collection, right.collection) && TextOrder.equal(left.database, right.database)
            && TextOrder.equal(left.dataSource, right.dataSource)
    }

    /// Feeds the names' bytes.
    public func hash(into hasher: inout Hasher) {
        ByteText(collection).hash(into: &hasher)
        ByteText(database).hash(into: &hasher)
        ByteText(dataSource).hash(into: &hasher)
    }

    /// `database.collection`, as messages name it.
    public var name: String { "\(database).\(collection)" }
}
