import BSON
import Rules
import Schemas

extension AppConfigurationParser {
    mutating func dataSources() -> [DataSource] {
        var sources: [DataSource] = []
        for (name, source) in tree.sources.sorted(by: { $0.key < $1.key }) {
            sources.append(dataSource(name, source))
        }
        return sources
    }

    private mutating func dataSource(_ name: String, _ source: ConfigurationTree.Source) -> DataSource {
        var reader = ObjectReader(source.config)
        if name.utf8.count > 64 || !Self.isPlain(name) {
            reader.error("name", "must be 1 to 64 letters, digits, - and _")
        }
        let typeName = reader.text("type") ?? DataSource.Kind.cluster.rawValue
        let kind = DataSource.Kind(rawValue: typeName)
        if kind == nil {
            reader.error("type", "must be mongodb-atlas, mongodb or datalake, is '\(typeName)'")
        }
        for key in ["name", "config"] { _ = reader.value(key) }
        // The address of the old cluster; nothing of it is needed here.
        _ = reader.object("secret_config")
        reader.reportUnknown()
        if kind == .federation {
            reader.note(
                .notImported,
                "data federation is not served; the source '\(name)' is kept for export"
            )
        } else {
            reader.note(.imported, "data source '\(name)'")
        }
        findings.append(contentsOf: reader.findings)
        let defaults = source.defaultRule.flatMap { parseRules($0) }
        var collections: [CollectionDefinition] = []
        for (key, files) in source.collections.sorted(by: { $0.key < $1.key }) {
            collections.append(collection(key, files, of: name))
        }
        return DataSource(
            name: name,
            kind: kind ?? .cluster,
            defaultRules: defaults,
            collections: collections
        )
    }

    private mutating func collection(
        _ key: ConfigurationTree.CollectionKey,
        _ files: ConfigurationTree.Collection,
        of source: String
    ) -> CollectionDefinition {
        let place = (files.rules ?? files.schema ?? files.relationships)?.place ?? tree.root.place
        checkNamespace(key, at: place)
        let rules = files.rules.flatMap { parseRules($0) }
        var schema: CollectionSchema?
        if let node = files.schema, !node.document.isEmpty {
            let parsed = SchemaParser.parseCollectingFaults(node.document)
            add(parsed.faults, at: node.place)
            add(SchemaValidation(parsed.schema).faults, at: node.place)
            schema = parsed.schema
        }
        let relationships = files.relationships.map { parseRelationships($0) } ?? []
        let parts = [
            ("rules", files.rules), ("schema", files.schema), ("relationships", files.relationships),
        ]
        let present = parts.filter { $0.1.map { !$0.document.isEmpty } ?? false }.map(\.0)
        findings.add(
            .imported,
            place,
            "collection \(source)/\(key.database).\(key.collection): \(present.joined(separator: ", "))"
        )
        return CollectionDefinition(
            database: key.database,
            collection: key.collection,
            rules: rules,
            schema: schema,
            relationships: relationships
        )
    }

    /// Rules without a role count as no rules, so that the default ones apply.
    ///
    /// Source: `reference/rules.md` §1.
    private mutating func parseRules(_ node: ConfigurationTree.Node) -> CollectionRules? {
        let parsed = RulesParser.parse(node.document)
        add(parsed.faults, at: node.place)
        if parsed.rules.roles.isEmpty {
            if !parsed.rules.filters.isEmpty {
                findings.add(
                    .warning,
                    node.place.key("filters"),
                    "without effect, because there are no roles"
                )
            }
            return nil
        }
        return parsed.rules
    }

    /// Takes over the faults of another room, whose paths begin at the document.
    mutating func add(_ faults: [DefinitionFault], at place: Place) {
        for fault in faults {
            let base = place.path.isEmpty ? "$" : place.path
            let path = fault.jsonPath.hasPrefix("$") ? base + fault.jsonPath.dropFirst() : fault.jsonPath
            findings.add(
                fault.severity == .error ? .error : .warning,
                Place(file: place.file, path: path),
                fault.message
            )
        }
    }

    /// Names that MongoDB refuses would make collections that nobody can reach.
    private mutating func checkNamespace(_ key: ConfigurationTree.CollectionKey, at place: Place) {
        let refused = Set("/\\. \"$*<>:|?\0")
        if key.database.isEmpty || key.database.utf8.count > 63
            || key.database.contains(where: refused.contains)
        {
            findings.add(.error, place, "'\(key.database)' is no name for a database")
        }
        if key.collection.isEmpty || key.collection.utf8.count > 255 || key.collection.contains("$")
            || key.collection.contains("\0")
        {
            findings.add(.error, place, "'\(key.collection)' is no name for a collection")
        }
    }

    private mutating func parseRelationships(_ node: ConfigurationTree.Node) -> [Relationship] {
        var result: [Relationship] = []
        for field in node.document {
            let place = node.place.key(field.key)
            guard let document = field.value.document else {
                findings.add(.error, place, "must be an object")
                continue
            }
            var reader = ObjectReader(document, at: place)
            let ref = reader.requiredText("ref")
            let foreignKey = reader.text("foreign_key") ?? "_id"
            let isList = reader.flag("is_list")
            _ = reader.value("source_key")
            reader.reportUnknown()
            if field.key == "_id" { reader.note(.error, "a relationship cannot start from _id") }
            if let ref {
                let parts = ref.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
                if parts.count == 5, parts[0] == "#", parts[1] == "relationship" {
                    result.append(
                        Relationship(
                            field: field.key,
                            dataSource: parts[2],
                            database: parts[3],
                            collection: parts[4],
                            foreignKey: foreignKey,
                            isList: isList
                        )
                    )
                } else {
                    reader.error("ref", "must be #/relationship/<data source>/<database>/<collection>")
                }
            }
            findings.append(contentsOf: reader.findings)
        }
        return result
    }
}
