import SQL

/// What the gateway asks the catalogue of indexes.
enum DeclaredIndexStatements {
    /// Name, keys and options of the finished indexes of a collection.
    static func ready(collection: Int32) -> SQLFragment {
        """
        SELECT name, keys::text, options::text FROM tidegate.indexes \
        WHERE collection_id = \(bind: .int4(collection)) AND state = 'ready' ORDER BY id
        """
    }
}
