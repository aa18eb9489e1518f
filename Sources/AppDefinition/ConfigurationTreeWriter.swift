public import BSON

/// Turns a ``ConfigurationTree`` into the files of an export.
///
/// The layout is the tree's version; JSON has four spaces of indentation, as exports have. Secrets are never
/// written. Source: `reference/app-config.md` §2.
public struct ConfigurationTreeWriter {
    private var files = FileTree()

    /// The files of an app.
    public static func write(_ tree: ConfigurationTree) -> FileTree {
        var writer = ConfigurationTreeWriter()
        for (path, content) in tree.otherFiles { writer.files[path] = content }
        writer.writeRoot(tree)
        writer.writeSources(tree)
        writer.writeFunctions(tree)
        writer.writeRest(tree)
        return writer.files
    }

    /// JSON text with indentation and a final line break.
    public static func pretty(_ value: BSONValue) -> [UInt8] {
        var out: [UInt8] = []
        write(value, depth: 0, to: &out)
        out.append(UInt8(ascii: "\n"))
        return out
    }

    private mutating func put(_ path: String, _ value: BSONValue) {
        files[path] = Self.pretty(value)
    }

    private mutating func put(_ path: String, _ node: ConfigurationTree.Node?) {
        guard let node else { return }
        put(path, .document(node.document))
    }

    private mutating func writeRoot(_ tree: ConfigurationTree) {
        let isNew = tree.version >= 20_230_101
        var root = BSONDocument()
        if !isNew { root["config_version"] = .int32(20_210_101) }
        if let id = tree.clientAppID { root["app_id"] = .string(id) }
        root["name"] = .string(tree.name)
        for field in tree.root.document { root[field.key] = field.value }
        if !tree.environmentTag.isEmpty { root["environment"] = .string(tree.environmentTag) }
        put(isNew ? "root_config.json" : "realm_config.json", .document(root))
        if isNew { put(".mdb/meta.json", ["config_version": .int32(20_230_101)]) }
    }

    private mutating func writeSources(_ tree: ConfigurationTree) {
        for (name, source) in tree.sources {
            let base = "data_sources/\(name)"
            put("\(base)/config.json", source.config)
            put("\(base)/default_rule.json", source.defaultRule)
            for (key, collection) in source.collections {
                let folder = [key.database, key.collection].map(PercentEncoding.encode).joined(separator: "/")
                put("\(base)/\(folder)/rules.json", collection.rules)
                put("\(base)/\(folder)/schema.json", collection.schema)
                put("\(base)/\(folder)/relationships.json", collection.relationships)
            }
        }
    }

    private mutating func writeFunctions(_ tree: ConfigurationTree) {
        let ordered = tree.functions.sorted { $0.key < $1.key }
        put("functions/config.json", .array(ordered.map { .document($0.value.config.document) }))
        for (name, function) in ordered { files["functions/\(name).js"] = Array(function.source.utf8) }
        let folder = tree.version >= 20_230_101 ? "https_endpoints" : "http_endpoints"
        put("\(folder)/config.json", .array(tree.endpoints.map { .document($0.document) }))
        put("\(folder)/data_api_config.json", tree.dataAPI)
    }

    private mutating func writeRest(_ tree: ConfigurationTree) {
        var providers = BSONDocument()
        for (name, node) in tree.providers.sorted(by: { $0.key < $1.key }) {
            providers.append(name, .document(node.document))
        }
        put("auth/providers.json", .document(providers))
        put("auth/custom_user_data.json", tree.customUserData)
        put("auth/mail_templates.json", tree.mailTemplates)
        put("sync/config.json", tree.sync)
        for (tag, node) in tree.environments {
            put("environments/\(tag.isEmpty ? "no-environment" : tag).json", node)
        }
        for (name, node) in tree.values { put("values/\(PercentEncoding.encode(name)).json", node) }
        for (name, node) in tree.triggers { put("triggers/\(PercentEncoding.encode(name)).json", node) }
    }

    // MARK: JSON

    private static func write(_ value: BSONValue, depth: Int, to out: inout [UInt8]) {
        switch value {
        case .document(let document) where !document.isEmpty:
            out.append(UInt8(ascii: "{"))
            for (index, field) in document.fields.enumerated() {
                breakLine(after: index, depth: depth + 1, to: &out)
                ExtendedJSON.writeRelaxed(.string(field.key), to: &out)
                out += [UInt8(ascii: ":"), UInt8(ascii: " ")]
                write(field.value, depth: depth + 1, to: &out)
            }
            breakLine(after: 0, depth: depth, to: &out)
            out.append(UInt8(ascii: "}"))
        case .array(let elements) where !elements.isEmpty:
            out.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                breakLine(after: index, depth: depth + 1, to: &out)
                write(element, depth: depth + 1, to: &out)
            }
            breakLine(after: 0, depth: depth, to: &out)
            out.append(UInt8(ascii: "]"))
        default:
            ExtendedJSON.writeRelaxed(value, to: &out)
        }
    }

    private static func breakLine(after index: Int, depth: Int, to out: inout [UInt8]) {
        if index > 0 { out.append(UInt8(ascii: ",")) }
        out.append(UInt8(ascii: "\n"))
        out += [UInt8](repeating: UInt8(ascii: " "), count: depth * 4)
    }
}
