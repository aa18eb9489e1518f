import BSON

extension ConfigurationTreeReader {
    /// Reads `sync/config.json` and turns the permissions of older sync settings into roles.
    mutating func readSync() {
        if let node = object("sync/config.json") {
            if var old = tree.sync {
                // Version 1 leaves only development_mode_enabled in the root file.
                for field in node.document { old.document[field.key] = field.value }
                tree.sync = ConfigurationTree.Node(old.document, at: node.place)
            } else {
                tree.sync = node
            }
        }
        migratePermissions()
    }

    /// Before 2023-02-23 flexible sync had roles of its own; they become roles of the data source.
    ///
    /// Source: `reference/rules.md` §10, table of migration.
    private mutating func migratePermissions() {
        guard var sync = tree.sync, let permissions = sync.document["permissions"]?.document else { return }
        let place = sync.place.key("permissions")
        let defaults = permissions["defaultRoles"]?.array ?? []
        let byCollection = permissions["rules"]?.document ?? BSONDocument()
        let hasRules = byCollection.contains { !($0.value.array ?? []).isEmpty }
        guard !defaults.isEmpty || hasRules else { return }
        guard let service = sync.document["service_name"]?.string ?? tree.sources.keys.sorted().first,
            var source = tree.sources[service]
        else {
            findings.add(.error, place, "belong to a data source that does not exist")
            return
        }
        if !defaults.isEmpty {
            if hasRoles(source.defaultRule) {
                findings.add(
                    .warning,
                    place.key("defaultRoles"),
                    "ignored: the data source has default roles"
                )
            } else if let roles = roles(defaults, at: place.key("defaultRoles")) {
                var rule = source.defaultRule?.document ?? BSONDocument()
                rule["roles"] = .array(roles)
                let file = "data_sources/\(service)/default_rule.json"
                source.defaultRule = ConfigurationTree.Node(rule, at: Place(file: file))
                findings.add(.adapted, place.key("defaultRoles"), "moved to \(file)")
            }
        }
        for entry in byCollection {
            guard let list = entry.value.array, !list.isEmpty else { continue }
            migrate(list, of: entry.key, at: place.key("rules").key(entry.key), into: &source, sync.document)
        }
        tree.sources[service] = source
        sync.document["permissions"] = nil
        tree.sync = sync
    }

    private mutating func migrate(
        _ list: [BSONValue],
        of collection: String,
        at place: Place,
        into source: inout ConfigurationTree.Source,
        _ sync: BSONDocument
    ) {
        let known = source.collections.keys.filter { $0.collection == collection }.sorted()
        guard let database = known.first?.database ?? sync["database_name"]?.string else {
            findings.add(.error, place, "belong to a collection whose database is not named")
            return
        }
        let key = ConfigurationTree.CollectionKey(database: database, collection: collection)
        var target = source.collections[key] ?? ConfigurationTree.Collection()
        if hasRoles(target.rules) {
            findings.add(.warning, place, "ignored: the collection has roles")
            return
        }
        guard let roles = roles(list, at: place) else { return }
        var rules =
            target.rules?.document ?? ["database": .string(database), "collection": .string(collection)]
        rules["roles"] = .array(roles)
        target.rules = ConfigurationTree.Node(rules, at: place)
        source.collections[key] = target
        findings.add(.adapted, place, "moved to the rules of \(database).\(collection)")
    }

    private func hasRoles(_ node: ConfigurationTree.Node?) -> Bool {
        !(node?.document["roles"]?.array ?? []).isEmpty
    }

    private mutating func roles(_ list: [BSONValue], at place: Place) -> [BSONValue]? {
        var roles: [BSONValue] = []
        for (index, element) in list.enumerated() {
            guard let old = element.document, let name = old["name"] else {
                findings.add(.error, place.index(index), "must be a role with a name")
                return nil
            }
            let known: Set<String> = ["name", "applyWhen", "read", "write"]
            if let unknown = old.keys.first(where: { !known.contains($0) }) {
                findings.add(.error, place.index(index).key(unknown), "unknown key")
                return nil
            }
            roles.append([
                "name": name,
                "apply_when": old["applyWhen"] ?? [:],
                "document_filters": ["read": old["read"] ?? false, "write": old["write"] ?? false],
                "read": true, "write": true, "insert": true, "delete": true, "search": true,
            ])
        }
        return roles
    }
}
