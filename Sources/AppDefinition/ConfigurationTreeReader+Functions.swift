import BSON

extension ConfigurationTreeReader {
    /// Reads functions of both layouts: one list with sources beside it, or a folder for each.
    mutating func readFunctions() {
        let listed = objects("functions/config.json")
        for node in listed {
            guard let name = node.document["name"]?.string, !name.isEmpty else {
                findings.add(.error, node.place.key("name"), "must name the function")
                continue
            }
            guard let path = source(of: name) else {
                findings.add(.error, node.place, "function '\(name)' has no source functions/\(name).js")
                continue
            }
            guard !taken.contains(path) else {
                findings.add(.error, node.place.key("name"), "there is another function named '\(name)'")
                continue
            }
            if let source = text(path) {
                tree.functions[name] = ConfigurationTree.Function(config: node, source: source)
            }
        }
        let sources = files.paths.filter { $0.hasPrefix("functions/") && $0.hasSuffix(".js") }
        for path in sources where !taken.contains(path) {
            readUnlisted(path)
        }
    }

    /// The file of a function: where its name says, or in one folder below.
    private mutating func source(of name: String) -> String? {
        let path = "functions/\(name).js"
        if files[path] != nil { return path }
        let nested = files.paths.filter {
            $0.hasPrefix("functions/") && $0.hasSuffix("/\(name).js") && !taken.contains($0)
        }
        guard let only = nested.first, nested.count == 1 else { return nil }
        findings.add(.adapted, Place(file: only), "taken as the source of the function '\(name)'")
        return only
    }

    /// A source that no list names: a version 1 folder, or a new function with the default settings.
    private mutating func readUnlisted(_ path: String) {
        let folder = path.dropLast("/source.js".count)
        if path.hasSuffix("/source.js"), files["\(folder)/config.json"] != nil {
            guard var node = object("\(folder)/config.json"), let source = text(path) else { return }
            let name = node.document["name"]?.string ?? String(folder.dropFirst("functions/".count))
            // An export lists functions by name, whatever folder they came from.
            if node.document["name"]?.string == nil { node.document["name"] = .string(name) }
            add(ConfigurationTree.Function(config: node, source: source), named: name)
            return
        }
        let name = String(path.dropFirst("functions/".count).dropLast(".js".count))
        guard let source = text(path) else { return }
        let config = ConfigurationTree.Node(
            ["name": .string(name), "private": false],
            at: Place(file: path)
        )
        findings.add(
            .adapted,
            Place(file: path),
            "not listed in functions/config.json; default settings taken"
        )
        add(ConfigurationTree.Function(config: config, source: source), named: name)
    }

    private mutating func add(_ function: ConfigurationTree.Function, named name: String) {
        if tree.functions[name] != nil {
            findings.add(.error, function.config.place, "there is another function named '\(name)'")
            return
        }
        tree.functions[name] = function
    }

    /// Reads endpoints and the Data API's settings from either folder, and webhooks.
    mutating func readEndpoints() {
        var seen: Set<[String]> = []
        for folder in ["http_endpoints", "https_endpoints"] {
            for node in objects("\(folder)/config.json") {
                let key = [node.document["route"]?.string ?? "", node.document["http_method"]?.string ?? "*"]
                if !seen.insert(key).inserted {
                    findings.add(.error, node.place, "there is another endpoint \(key[1]) \(key[0])")
                    continue
                }
                tree.endpoints.append(node)
            }
            readDataAPI("\(folder)/data_api_config.json")
            for service in foldersIn(folder) {
                readWebhooks("\(folder)/\(service)/incoming_webhooks", service: service)
            }
        }
        readDataAPI("data_api_config.json")
    }

    private mutating func readDataAPI(_ path: String) {
        guard let node = object(path) else { return }
        if let other = tree.dataAPI {
            findings.add(.error, node.place, "the Data API is set up in \(other.place.file), too")
            return
        }
        tree.dataAPI = node
    }

    /// Webhooks, the predecessors of endpoints: each becomes an endpoint and a function.
    ///
    /// Source: `reference/app-config.md` §7.
    mutating func readWebhooks(_ folder: String, service: String) {
        for name in foldersIn(folder) {
            guard let node = object("\(folder)/\(name)/config.json"),
                let source = text("\(folder)/\(name)/source.js")
            else {
                findings.add(
                    .error,
                    Place(file: "\(folder)/\(name)"),
                    "a webhook needs config.json and source.js"
                )
                continue
            }
            let function = "webhooks/\(service)/\(name)"
            var config: BSONDocument = ["name": .string(function), "private": true]
            let asCaller = node.document["run_as_authed_user"]?.bool ?? false
            let carried = ["run_as_user_id", "run_as_user_id_script_source", "can_evaluate"]
            for key in carried { config[key] = node.document[key] }
            if !asCaller, (node.document["run_as_user_id"]?.string ?? "").isEmpty,
                (node.document["run_as_user_id_script_source"]?.string ?? "").isEmpty
            {
                config["run_as_system"] = true
            }
            add(
                ConfigurationTree.Function(config: .init(config, at: node.place), source: source),
                named: function
            )
            let options = node.document["options"]?.document
            var endpoint: BSONDocument = [
                "route": .string("/\(service)/\(name)"),
                "http_method": options?["httpMethod"] ?? "*",
                "function_name": .string(function),
                "validation_method": options?["validationMethod"] ?? "NO_VALIDATION",
                "respond_result": node.document["respond_result"] ?? false,
                "fetch_custom_user_data": node.document["fetch_custom_user_data"] ?? false,
                "create_user_on_auth": node.document["create_user_on_auth"] ?? false,
                "disabled": false,
            ]
            endpoint["secret_name"] = options?["secret_name"]
            // A webhook holds its secret itself; here it becomes one of the app's.
            if let literal = options?["secret"]?.string, !literal.isEmpty {
                let secret = "webhook_\(service)_\(name)"
                tree.secrets[secret] = tree.secrets[secret] ?? literal
                endpoint["secret_name"] = .string(secret)
            }
            tree.endpoints.append(ConfigurationTree.Node(endpoint, at: node.place))
            findings.add(
                .adapted,
                node.place,
                "webhook '\(name)' taken as endpoint /\(service)/\(name) and function '\(function)'"
            )
        }
    }

    /// Reads providers of both layouts and the custom user data settings.
    mutating func readAccounts() {
        if let map = object("auth/providers.json") {
            for field in map.document {
                guard let entry = field.value.document else {
                    findings.add(.error, map.place.key(field.key), "must be an object")
                    continue
                }
                tree.providers[field.key] = ConfigurationTree.Node(entry, at: map.place.key(field.key))
            }
        }
        for path in filesIn("auth_providers") {
            guard let node = object(path) else { continue }
            let name = node.document["type"]?.string ?? fileName(path)
            if tree.providers[name] != nil {
                findings.add(.error, node.place, "provider '\(name)' is set up twice")
                continue
            }
            tree.providers[name] = node
        }
        guard let custom = object("auth/custom_user_data.json") else { return }
        if tree.customUserData != nil {
            findings.add(.warning, custom.place, "decides over custom_user_data_config of the root file")
        }
        tree.customUserData = custom
    }
}
