import BSON

extension ConfigurationTreeReader {
    /// Reads the root file; false when it cannot be read.
    mutating func readRoot(_ rootFile: String) -> Bool {
        guard var node = object(rootFile) else { return false }
        let place = node.place
        for meta in TreeLocator.metaFiles {
            guard let meta = object(meta)?.document else { continue }
            if node.document["config_version"] == nil {
                node.document["config_version"] = meta["config_version"]
            }
        }
        readVersion(&node, rootFile)
        tree.name = takeText("name", from: &node) ?? ""
        tree.clientAppID = takeText("app_id", from: &node)
        tree.environmentTag = takeText("environment", from: &node) ?? ""
        if tree.environmentTag == "no-environment" || tree.environmentTag == "none" {
            tree.environmentTag = ""
        }
        readOldRoot(&node)
        for other in TreeLocator.rootFiles where other != rootFile && files[other] != nil {
            findings.add(.warning, Place(file: other), "kept, but \(rootFile) is the app's root file")
        }
        tree.root = ConfigurationTree.Node(node.document, at: place)
        return true
    }

    private mutating func readVersion(_ node: inout ConfigurationTree.Node, _ rootFile: String) {
        let place = node.place.key("config_version")
        var version = TreeLocator.assumedVersion(of: rootFile)
        if let stated = node.document["config_version"], !stated.isNull {
            if let number = stated.exactInt64.flatMap({ Int(exactly: $0) }),
                TreeLocator.versions.contains(number)
            {
                version = number
            } else {
                let known = TreeLocator.versions.map(String.init).joined(separator: ", ")
                findings.add(.error, place, "unknown version; known are \(known)")
            }
        } else if rootFile != "root_config.json" {
            findings.add(.adapted, place, "missing; \(version) assumed")
        }
        node.document["config_version"] = nil
        // The name of the root file decides where endpoints lie; a root_config.json may say 20210101.
        tree.version = rootFile == "root_config.json" ? 20_230_101 : 20_210_101
        if version < 20_210_101 {
            findings.add(.adapted, node.place, "layout of \(version) read; an export gives 20210101")
        }
    }

    /// Moves what older root files held themselves to where it stands today.
    private mutating func readOldRoot(_ node: inout ConfigurationTree.Node) {
        let place = node.place
        if let security = node.document["security"]?.document {
            if let origins = security["allowed_request_origins"] {
                node.document["allowed_request_origins"] = node.document["allowed_request_origins"] ?? origins
            }
            for field in security where field.key != "allowed_request_origins" {
                findings.add(.notImported, place.key("security").key(field.key), "unknown setting")
            }
            node.document["security"] = nil
        }
        if let custom = node.document["custom_user_data_config"]?.document {
            tree.customUserData = ConfigurationTree.Node(custom, at: place.key("custom_user_data_config"))
            node.document["custom_user_data_config"] = nil
        }
        if let sync = node.document["sync"]?.document {
            tree.sync = ConfigurationTree.Node(sync, at: place.key("sync"))
            node.document["sync"] = nil
        }
        if let hosting = node.document["hosting"]?.document {
            if files["hosting/config.json"] == nil {
                files["hosting/config.json"] = ConfigurationTreeWriter.pretty(.document(hosting))
            }
            node.document["hosting"] = nil
        }
    }

    private mutating func takeText(_ key: String, from node: inout ConfigurationTree.Node) -> String? {
        guard let value = node.document[key], !value.isNull else { return nil }
        node.document[key] = nil
        guard let text = value.string else {
            findings.add(.error, node.place.key(key), "must be a string")
            return nil
        }
        return text.isEmpty ? nil : text
    }

    /// Reads a hand-made `secrets.json`: flat, or by provider and service.
    mutating func readSecrets() {
        guard let node = object("secrets.json") else { return }
        let sections = ["auth_providers", "services"]
        for field in node.document {
            if let text = field.value.string {
                tree.secrets[field.key] = text
            } else if sections.contains(field.key), let owners = field.value.document {
                for owner in owners { readSecrets(of: owner.key, owner.value, in: field.key, at: node.place) }
            } else {
                findings.add(.error, node.place.key(field.key), "a secret must be a string")
            }
        }
    }

    /// Secrets given beside what uses them, as the oldest tool wrote them, get a name of their own.
    private mutating func readSecrets(
        of owner: String,
        _ value: BSONValue,
        in section: String,
        at place: Place
    ) {
        guard let entries = value.document else {
            findings.add(.error, place.key(section).key(owner), "must be an object of secrets")
            return
        }
        for entry in entries {
            guard let text = entry.value.string else {
                findings.add(
                    .error,
                    place.key(section).key(owner).key(entry.key),
                    "a secret must be a string"
                )
                continue
            }
            let isProvider = section == "auth_providers"
            let node = isProvider ? tree.providers[owner] : tree.sources[owner]?.config
            let name =
                node?.document["secret_config"]?.document?[entry.key]?.string ?? "\(owner)_\(entry.key)"
            tree.secrets[name] = text
            guard var document = node?.document else { continue }
            var config = document["secret_config"]?.document ?? BSONDocument()
            if config[entry.key] == nil {
                config[entry.key] = .string(name)
                document["secret_config"] = .document(config)
                findings.add(
                    .adapted,
                    place.key(section).key(owner).key(entry.key),
                    "kept as secret '\(name)'"
                )
            }
            if isProvider {
                tree.providers[owner]?.document = document
            } else {
                tree.sources[owner]?.config.document = document
            }
        }
    }
}
