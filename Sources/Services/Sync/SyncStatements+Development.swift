import MQL
import SQL
import Sync

// SQL about schemas that grow, beside the functions of migrations 0028 and 0031.
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

    /// Ends all files but one, which are of other schemas than the app has now, and what was told in their words.
    static func breakSchemas(_ app: String, file: Int64) -> SQLFragment {
        "SELECT tidegate.break_sync_schemas(\(bind: .text(app)), \(bind: .int(file)))"
    }

    /// Lets queries name fields of a collection.
    static func grow(_ app: String, collection: String, fields: [String]) -> SQLFragment {
        """
        SELECT tidegate.grow_queryable_fields(\(bind: .text(app)), \(bind: .text(collection)), \
        \(bind: .textArray(fields)))
        """
    }
}
