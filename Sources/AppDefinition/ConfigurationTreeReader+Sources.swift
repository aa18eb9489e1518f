import BSON

extension ConfigurationTreeReader {
    /// Kinds of services that hold data; the others are services of third parties.
    static let dataKinds: Set<String> = ["mongodb-atlas", "mongodb", "datalake"]

    /// Reads `data_sources/` and the MongoDB services of `services/`.
    mutating func readSources() {
        for name in foldersIn("data_sources") { readSource(name) }
        for name in foldersIn("services") { readService(name) }
    }

    private mutating func readSource(_ folder: String) {
        let base = "data_sources/\(folder)"
        let config =
            object("\(base)/config.json")
            ?? ConfigurationTree.Node(
                ["name": .string(folder), "type": "mongodb-atlas", "config": [:]],
                at: Place(file: "\(base)/config.json")
            )
        var source = ConfigurationTree.Source(
            config: config,
            defaultRule: object("\(base)/default_rule.json")
        )
        for database in foldersIn(base) {
            for collection in foldersIn("\(base)/\(database)") {
                let place = "\(base)/\(database)/\(collection)"
                let read = ConfigurationTree.Collection(
                    rules: object("\(place)/rules.json"),
                    schema: object("\(place)/schema.json"),
                    relationships: object("\(place)/relationships.json")
                )
                guard read.rules != nil || read.schema != nil || read.relationships != nil else { continue }
                let key = collectionKey(database, collection, read.rules)
                guard source.collections[key] == nil else {
                    findings.add(
                        .error,
                        Place(file: place),
                        "there is another folder of \(database).\(collection)"
                    )
                    continue
                }
                source.collections[key] = read
            }
        }
        if files["\(base)/config.json"] == nil {
            // Somebody's notes in a folder make no data source.
            guard source.defaultRule != nil || !source.collections.isEmpty else { return }
            findings.add(.adapted, config.place, "missing; a data source of type mongodb-atlas assumed")
        }
        add(source, named: config.document["name"]?.string ?? folder)
    }

    /// The path names the collection.
    ///
    /// Characters that no folder can have are percent-encoded in it, which
    /// shows in the fields of the rules.
    private mutating func collectionKey(
        _ database: String,
        _ collection: String,
        _ rules: ConfigurationTree.Node?
    ) -> ConfigurationTree.CollectionKey {
        let key = ConfigurationTree.CollectionKey(
            database: PercentEncoding.name(of: database),
            collection: PercentEncoding.name(of: collection)
        )
        guard let rules else { return key }
        let stated = ConfigurationTree.CollectionKey(
            database: rules.document["database"]?.string ?? key.database,
            collection: rules.document["collection"]?.string ?? key.collection
        )
        if stated == key || stated == .init(database: database, collection: collection) { return stated }
        if PercentEncoding.decode(database) == stated.database,
            PercentEncoding.decode(collection) == stated.collection
        {
            return stated
        }
        findings.add(
            .warning,
            rules.place,
            "says \(stated.database).\(stated.collection); the path, \(key.database).\(key.collection), decides"
        )
        return key
    }

    private mutating func add(_ source: ConfigurationTree.Source, named name: String) {
        if tree.sources[name] != nil {
            findings.add(.error, source.config.place, "there is another data source named '\(name)'")
            return
        }
        tree.sources[name] = source
    }

    // MARK: Version 1

    private mutating func readService(_ folder: String) {
        let base = "services/\(folder)"
        guard files["\(base)/config.json"] != nil else { return }
        let before = taken
        guard var config = object("\(base)/config.json") else { return }
        guard let kind = config.document["type"]?.string, Self.dataKinds.contains(kind) else {
            // A third party's service stays a file; its webhooks become endpoints.
            taken = before
            readWebhooks("\(base)/incoming_webhooks", service: folder)
            return
        }
        let name = config.document["name"]?.string ?? folder
        takeSync(of: name, from: &config)
        var source = ConfigurationTree.Source(
            config: config,
            defaultRule: object("\(base)/default_rule.json")
        )
        for path in filesIn("\(base)/rules") {
            guard let node = object(path) else { continue }
            readOldRule(node, path: path, into: &source)
        }
        add(source, named: name)
    }

    /// Version 1 keeps rules, schema and relationships of a collection in one file.
    ///
    /// Its content names the
    /// collection; the file's name may be wrong.
    private mutating func readOldRule(
        _ node: ConfigurationTree.Node,
        path: String,
        into source: inout ConfigurationTree.Source
    ) {
        var rules = node.document
        let parts = fileName(path).split(separator: ".", maxSplits: 1).map(String.init)
        guard let database = rules["database"]?.string ?? parts.first,
            let collection = rules["collection"]?.string ?? (parts.count == 2 ? parts[1] : nil)
        else {
            findings.add(.error, node.place, "names no database and collection")
            return
        }
        let key = ConfigurationTree.CollectionKey(database: database, collection: collection)
        if source.collections[key] != nil {
            findings.add(.error, node.place, "there are other rules for \(database).\(collection)")
            return
        }
        var parsed = ConfigurationTree.Collection()
        for part in ["schema", "relationships"] {
            guard let value = rules[part] else { continue }
            rules[part] = nil
            if value.isNull { continue }
            guard let document = value.document else {
                findings.add(.error, node.place.key(part), "must be an object")
                continue
            }
            let nested = ConfigurationTree.Node(document, at: node.place.key(part))
            if part == "schema" { parsed.schema = nested } else { parsed.relationships = nested }
        }
        rules["database"] = .string(database)
        rules["collection"] = .string(collection)
        parsed.rules = ConfigurationTree.Node(rules, at: node.place)
        source.collections[key] = parsed
    }

    /// Version 1 keeps the settings of sync in the service's own.
    private mutating func takeSync(of service: String, from node: inout ConfigurationTree.Node) {
        guard var config = node.document["config"]?.document else { return }
        for (key, kind) in [("flexible_sync", "flexible"), ("sync", "partition")] {
            guard let settings = config[key]?.document else { continue }
            let place = node.place.key("config").key(key)
            config[key] = nil
            var sync = tree.sync?.document ?? BSONDocument()
            if sync["type"] != nil {
                findings.add(.error, place, "sync is set up twice")
                continue
            }
            sync["type"] = .string(kind)
            sync["service_name"] = .string(service)
            let partition: Set<String> = ["partition", "permissions"]
            var nested = BSONDocument()
            for field in settings {
                if kind == "partition", partition.contains(field.key) {
                    if field.key == "partition", let document = field.value.document {
                        for inner in document { nested[inner.key] = inner.value }
                    } else {
                        nested[field.key] = field.value
                    }
                } else if field.key == "state", let state = field.value.bool {
                    sync["state"] = state ? "enabled" : "disabled"
                } else {
                    sync[field.key] = field.value
                }
            }
            if !nested.isEmpty { sync["partition"] = .document(nested) }
            tree.sync = ConfigurationTree.Node(sync, at: place)
            findings.add(.adapted, place, "moved to sync/config.json")
        }
        node.document["config"] = .document(config)
    }
}

/// The `%20` form of names that no folder can have.
enum PercentEncoding {
    /// The name behind an encoded one; nil when a percent sign is not followed by two digits.
    static func decode(_ text: String) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// What a folder is called: it is encoded as an export would, or it stands as it is.
    static func name(of folder: String) -> String {
        guard let name = decode(folder), encode(name).utf8.elementsEqual(folder.utf8) else { return folder }
        return name
    }

    /// A name as a folder: slashes, percent signs and leading dots are encoded.
    static func encode(_ text: String) -> String {
        var result = ""
        // By scalars: a slash with an accent is a slash to a file system.
        for (index, character) in text.unicodeScalars.enumerated() {
            switch character {
            case "/": result += "%2F"
            case "%": result += "%25"
            case "\\": result += "%5C"
            case "." where index == 0: result += "%2E"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }
}
