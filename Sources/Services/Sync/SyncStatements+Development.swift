import MQL
import SQL
import Sync

// SQL about schemas that grow, beside the functions of migration 0028.
extension SyncStatements {
    /// One device at a time adds to an app's schemas.
    static func lockSchemas(_ app: String) -> SQLFragment {
        "SELECT pg_advisory_xact_lock(hashtextextended(\(bind: .text("tidegate.sync_schemas:\(app)")), 0))"
    }

    /// What collections of a data source have: database, collection, schema, relationships.
    static func schemas(_ app: String, source: String) -> SQLFragment {
        """
        SELECT database, collection, coalesce(schema::text, '{}'), coalesce(relationships::text, '{}') \
        FROM tidegate.collection_rules WHERE app = \(bind: .text(app)) AND data_source = \(bind: .text(source))
        """
    }

    /// Keeps the schema of a collection.
    static func grow(_ app: String, _ grown: SchemaGrowth.Grown, schema: String, relationships: String)
        -> SQLFragment
    {
        """
        SELECT tidegate.grow_sync_schema(\(bind: .text(app)), \(bind: .text(grown.namespace.dataSource)), \
        \(bind: .text(grown.namespace.database)), \(bind: .text(grown.namespace.collection)), \(bind: .text(schema)), \
        \(bind: .text(relationships)), \(bind: .bool(grown.isAsymmetric)))
        """
    }

    /// Lets queries name fields of a collection.
    static func grow(_ app: String, collection: String, fields: [String]) -> SQLFragment {
        """
        SELECT tidegate.grow_queryable_fields(\(bind: .text(app)), \(bind: .text(collection)), \
        \(bind: .textArray(fields)))
        """
    }
}
