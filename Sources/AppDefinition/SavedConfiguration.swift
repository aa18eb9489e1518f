import BSON

/// The one-object form of an app, as `GET …/pull` answered it, turned into the files of an export.
///
/// Shape: `{ "name", "auth_providers": [...], "data_sources": [...], "schemas": [...], "functions": [...], … }`; schemas
/// stand beside the rules, sources inside the functions. Source: `reference/app-config.md` §18.
struct SavedConfiguration {
    private var files = FileTree()
    private let document: BSONDocument

    /// Keys that are parts; everything else belongs to the root file.
    private static let parts: Set<String> = [
        "auth_providers", "custom_user_data", "data_api_config", "data_sources", "schemas", "functions",
        "endpoints", "https_endpoints", "services", "environments", "graphql", "hosting", "log_forwarders",
        "sync", "triggers", "values",
    ]

    /// The files of a tree that is one such object; nil when it is something else.
    static func expand(_ tree: FileTree, into findings: inout Findings) -> FileTree? {
        guard tree.files.count == 1, let path = tree.paths.first, path.hasSuffix(".json"),
            let bytes = tree[path],
            let document = JSONDialect.read(bytes, file: path, into: &findings)?.document,
            document["name"]?.string != nil,
            document["data_sources"]?.array != nil || document["auth_providers"]?.array != nil
        else { return nil }
        var saved = SavedConfiguration(document: document)
        saved.write()
        return saved.files
    }

    private init(document: BSONDocument) {
        self.document = document
    }

    private mutating func put(_ path: String, _ value: BSONValue?) {
        guard let value, !value.isNull else { return }
        files[path] = ConfigurationTreeWriter.pretty(value)
    }

    /// The elements of a part that have a name, with the name as a file's.
    private func named(_ key: String) -> [(name: String, document: BSONDocument)] {
        (document[key]?.array ?? []).compactMap { element in
            guard let document = element.document, let name = document["name"]?.string else { return nil }
            return (PercentEncoding.encode(name), document)
        }
    }

    private mutating func write() {
        var root = document
        for key in Self.parts { root[key] = nil }
        put("root_config.json", .document(root))
        var providers = BSONDocument()
        for provider in named("auth_providers") { providers[provider.name] = .document(provider.document) }
        put("auth/providers.json", .document(providers))
        put("auth/custom_user_data.json", document["custom_user_data"])
        put("https_endpoints/data_api_config.json", document["data_api_config"])
        put("https_endpoints/config.json", document["endpoints"])
        put("sync/config.json", document["sync"])
        put("hosting/config.json", document["hosting"])
        for folder in ["triggers", "values", "log_forwarders"] {
            for entry in named(folder) { put("\(folder)/\(entry.name).json", .document(entry.document)) }
        }
        // What is called https_endpoints here are the HTTP services of old, not the endpoints.
        for folder in ["services", "https_endpoints"] {
            for service in named(folder) {
                put("services/\(service.name)/config.json", .document(service.document))
            }
        }
        writeSources()
        writeFunctions()
        writeEnvironments()
        writeGraphQL()
    }

    private mutating func writeSources() {
        for source in named("data_sources") {
            let base = "data_sources/\(source.name)"
            var config = source.document
            config["default_rule"] = nil
            config["rules"] = nil
            put("\(base)/config.json", .document(config))
            put("\(base)/default_rule.json", source.document["default_rule"])
            for rules in source.document["rules"]?.array ?? [] {
                guard let database = rules.document?["database"]?.string,
                    let collection = rules.document?["collection"]?.string
                else { continue }
                put("\(base)/\(folder(database, collection))/rules.json", rules)
            }
        }
        for schema in document["schemas"]?.array ?? [] {
            guard let metadata = schema.document?["metadata"]?.document,
                let source = metadata["data_source"]?.string, let database = metadata["database"]?.string,
                let collection = metadata["collection"]?.string
            else { continue }
            let base = "data_sources/\(PercentEncoding.encode(source))/\(folder(database, collection))"
            put("\(base)/schema.json", schema.document?["schema"])
            put("\(base)/relationships.json", schema.document?["relationships"])
        }
    }

    private func folder(_ database: String, _ collection: String) -> String {
        PercentEncoding.encode(database) + "/" + PercentEncoding.encode(collection)
    }

    private mutating func writeFunctions() {
        var configs: [BSONValue] = []
        for element in document["functions"]?.array ?? [] {
            guard var config = element.document, let name = config["name"]?.string else { continue }
            if let source = config["source"]?.string { files["functions/\(name).js"] = Array(source.utf8) }
            config["source"] = nil
            configs.append(.document(config))
        }
        put("functions/config.json", .array(configs))
    }

    private mutating func writeEnvironments() {
        for (tag, value) in (document["environments"]?.document?["values"]?.document ?? BSONDocument()).map({
            ($0.key, $0.value)
        }) {
            let isWrapped = value.document?.keys == ["values"] && value.document?["values"]?.document != nil
            put(
                "environments/\(tag == "none" || tag.isEmpty ? "no-environment" : tag).json",
                isWrapped ? value : ["values": value]
            )
        }
    }

    private mutating func writeGraphQL() {
        guard let graphQL = document["graphql"]?.document else { return }
        put("graphql/config.json", graphQL["config"])
        put("graphql/validation_settings.json", graphQL["validation_settings"])
        for (index, resolver) in (graphQL["custom_resolvers"]?.array ?? []).enumerated() {
            put("graphql/custom_resolvers/resolver\(index).json", resolver)
        }
    }
}
