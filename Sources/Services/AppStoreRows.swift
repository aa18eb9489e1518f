import AppDefinition
import BSON
import MQL
import SQL

/// Rows of ``AppStoreStatements/rows(app:)`` to ``ConfigurationTree``, and values to JSON text.
enum AppRows {
    /// Compact Extended JSON, as the tables hold it.
    static func text(_ node: ConfigurationTree.Node?) -> String {
        node.map { ExtendedJSON.relaxed(.document($0.document)) } ?? ""
    }

    /// Findings as `tidegate.config_errors` holds them.
    static func json(_ findings: [Finding]) -> String {
        ExtendedJSON.relaxed(
            .array(
                findings.map {
                    ["file": .string($0.file), "path": .string($0.path), "message": .string($0.message)]
                }
            )
        )
    }

    static func bytes(hex: ArraySlice<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(hex.count / 2)
        var high: UInt8?
        for digit in hex {
            let value =
                digit <= UInt8(ascii: "9")
                ? digit &- UInt8(ascii: "0") : (digit | 0x20) &- UInt8(ascii: "a") &+ 10
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return bytes
    }

    static func apps(_ rows: ResultSet) -> [AppStore.StoredApp] {
        var readers: [String: AppRowReader] = [:]
        var order: [String] = []
        // The app's own row may come after its parts.
        for row in 0..<rows.rowCount where rows.text(row, 1) == "app" {
            guard let id = rows.text(row, 0) else { continue }
            order.append(id)
            readers[id] = AppRowReader(rows, row)
        }
        for row in 0..<rows.rowCount where rows.text(row, 1) != "app" {
            guard let id = rows.text(row, 0) else { continue }
            readers[id]?.read(rows, row)
        }
        return order.sorted().compactMap { id in
            readers[id].map { reader in
                AppStore.StoredApp(
                    id: id,
                    clientAppID: reader.clientAppID,
                    version: reader.version,
                    tree: reader.tree,
                    findings: reader.findings
                )
            }
        }
    }
}

/// Puts the rows of one app together.
struct AppRowReader {
    var tree: ConfigurationTree
    var findings = Findings()
    let clientAppID: String
    let version: Int64

    init(_ rows: ResultSet, _ row: Int) {
        clientAppID = rows.text(row, 2) ?? ""
        version = Int64(rows.text(row, 5) ?? "") ?? 0
        let place = Place(file: "root_config.json")
        tree = ConfigurationTree(name: rows.text(row, 3) ?? "", root: .init(BSONDocument(), at: place))
        tree.environmentTag = rows.text(row, 4) ?? ""
        if var root = node(rows, row, 6, place.file) {
            if let layout = root.document["config_version"]?.exactInt64.flatMap({ Int(exactly: $0) }) {
                tree.version = layout
            }
            // An app that was made by SQL was never told to leave its id out.
            let isImported = root.document["config_version"] != nil
            if root.document["app_id"] != nil || !isImported { tree.clientAppID = clientAppID }
            root.document["config_version"] = nil
            root.document["app_id"] = nil
            tree.root = root
        }
    }

    private mutating func node(_ rows: ResultSet, _ row: Int, _ column: Int, _ file: String)
        -> ConfigurationTree.Node?
    {
        guard let bytes = rows.slice(row, column) else { return nil }
        guard let value = JSONDialect.read(Array(bytes), file: file, into: &findings) else { return nil }
        guard let document = value.document else {
            findings.add(.error, Place(file: file), "must hold an object")
            return nil
        }
        return ConfigurationTree.Node(document, at: Place(file: file))
    }

    /// One row; places are those of the files that an export would write.
    mutating func read(_ rows: ResultSet, _ row: Int) {
        let name = rows.text(row, 2) ?? ""
        switch rows.text(row, 1) {
        case "environment":
            let file = "environments/\(name.isEmpty ? "no-environment" : name).json"
            tree.environments[name] = node(rows, row, 6, file)
        case "value": tree.values[name] = node(rows, row, 6, "values/\(name).json")
        case "secret": tree.secrets[name] = rows.text(row, 6)
        case "source":
            guard let config = node(rows, row, 6, "data_sources/\(name)/config.json") else { return }
            var source = tree.sources[name] ?? ConfigurationTree.Source(config: config)
            source.config = config
            source.defaultRule = node(rows, row, 5, "data_sources/\(name)/default_rule.json")
            tree.sources[name] = source
        case "rules": collection(rows, row, \.rules, "rules")
        case "schema": collection(rows, row, \.schema, "schema")
        case "relationships": collection(rows, row, \.relationships, "relationships")
        case "function":
            guard let config = node(rows, row, 6, "functions/config.json") else { return }
            tree.functions[name] = ConfigurationTree.Function(config: config, source: rows.text(row, 5) ?? "")
        case "endpoint":
            if let endpoint = node(rows, row, 6, "http_endpoints/config.json") {
                tree.endpoints.append(endpoint)
            }
        case "provider": tree.providers[name] = node(rows, row, 6, "auth/providers.json")
        case "setting": setting(name, rows, row)
        case "trigger": tree.triggers[name] = node(rows, row, 6, "triggers/\(name).json")
        default: findings.add(.error, Place(file: "root_config.json"), "unknown row")
        }
    }

    private mutating func setting(_ name: String, _ rows: ResultSet, _ row: Int) {
        switch name {
        case "data_api_config": tree.dataAPI = node(rows, row, 6, "http_endpoints/data_api_config.json")
        case "sync": tree.sync = node(rows, row, 6, "sync/config.json")
        case "custom_user_data": tree.customUserData = node(rows, row, 6, "auth/custom_user_data.json")
        default: findings.add(.error, Place(file: name), "unknown setting")
        }
    }

    private mutating func collection(
        _ rows: ResultSet,
        _ row: Int,
        _ part: WritableKeyPath<ConfigurationTree.Collection, ConfigurationTree.Node?>,
        _ what: String
    ) {
        let source = rows.text(row, 2) ?? ""
        let key = ConfigurationTree.CollectionKey(
            database: rows.text(row, 3) ?? "",
            collection: rows.text(row, 4) ?? ""
        )
        let base = "data_sources/\(source)"
        let node = node(rows, row, 6, "\(base)/\(key.database)/\(key.collection)/\(what).json")
        // A foreign key sees to it that the source has a row, which may follow this one.
        let placeholder = ConfigurationTree.Node(BSONDocument(), at: Place(file: "\(base)/config.json"))
        tree.sources[source, default: .init(config: placeholder)].collections[key, default: .init()][
            keyPath: part
        ] =
            node
    }
}
