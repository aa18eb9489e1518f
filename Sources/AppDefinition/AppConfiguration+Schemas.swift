public import BSON
import MQL

extension AppConfiguration {
    /// The app with the schemas that it had at another time, beside the rules and settings that it has.
    ///
    /// - Parameter schemas: `{"data_source", "database", "collection", "schema", "relationships"}` for each collection,
    ///   the last two as the files say.
    /// - Returns: The app. Faults of the schemas were found when they came.
    public func with(schemas: [BSONDocument]) -> AppConfiguration {
        var tree = ConfigurationTree(
            name: name,
            root: ConfigurationTree.Node(BSONDocument(), at: Place(file: ""))
        )
        for entry in schemas {
            guard let source = entry["data_source"]?.string, let database = entry["database"]?.string,
                let collection = entry["collection"]?.string
            else { continue }
            let place = Place(file: "data_sources/\(source)/\(database)/\(collection)")
            let node = { (name: String) in
                entry[name]?.document.map { ConfigurationTree.Node($0, at: place) }
            }
            let key = ConfigurationTree.CollectionKey(database: database, collection: collection)
            tree.sources[source, default: ConfigurationTree.Source(config: tree.root)].collections[key] =
                ConfigurationTree.Collection(schema: node("schema"), relationships: node("relationships"))
        }
        let then = AppConfigurationParser.sources(of: tree, environmentValues: environmentValues)
        var copy = self
        copy.dataSources = dataSources.map { source in
            source.with(then.first { TextOrder.equal($0.name, source.name) }?.collections ?? [])
        }
        return copy
    }
}

extension DataSource {
    /// The data source with the schemas and relationships of these collections, and its own rules.
    fileprivate func with(_ schemas: [CollectionDefinition]) -> DataSource {
        typealias Key = ConfigurationTree.CollectionKey
        func key(_ collection: CollectionDefinition) -> Key {
            Key(database: collection.database, collection: collection.collection)
        }
        var rest = Dictionary(schemas.map { (key($0), $0) }, uniquingKeysWith: { first, _ in first })
        let known = collections.map { collection in
            let then = rest.removeValue(forKey: key(collection))
            return CollectionDefinition(
                database: collection.database,
                collection: collection.collection,
                rules: collection.rules,
                schema: then?.schema,
                relationships: then?.relationships ?? []
            )
        }
        return DataSource(
            name: name,
            kind: kind,
            defaultRules: defaultRules,
            collections: known + schemas.filter { rest[key($0)] != nil }
        )
    }
}
