import Accounts
import BSON
import Rules

extension AppConfigurationParser {
    mutating func providers() -> [String: ProviderConfiguration] {
        var providers: [String: ProviderConfiguration] = [:]
        for (name, node) in tree.providers.sorted(by: { $0.key < $1.key }) {
            let parsed = ProviderConfigurationParser.parse(name: name, node.document)
            add(parsed.faults, at: node.place, below: name)
            guard let configuration = parsed.configuration else { continue }
            if providers[configuration.name] != nil {
                findings.add(.error, node.place, "provider '\(configuration.name)' is set up twice")
                continue
            }
            providers[configuration.name] = configuration
            for secret in ProviderConfigurationParser.secretNames(of: configuration)
            where !configuration.disabled {
                refer(
                    to: secret,
                    at: node.place.key("secret_config"),
                    for: "provider '\(configuration.name)'"
                )
            }
            let state = configuration.disabled ? ", disabled" : ""
            findings.add(.imported, node.place, "provider '\(configuration.name)'\(state)")
        }
        return providers
    }

    /// Takes over faults whose paths begin with the provider's name.
    private mutating func add(_ faults: [ProviderFault], at place: Place, below prefix: String?) {
        for fault in faults {
            var path = fault.path
            if let prefix, path.hasPrefix(prefix) { path = String(path.dropFirst(prefix.count)) }
            if path.hasPrefix(".") { path.removeFirst() }
            findings.add(
                fault.severity == .error ? .error : .warning,
                path.isEmpty ? place : place.key(path),
                fault.message
            )
        }
    }

    mutating func customUserData() -> CustomUserDataConfiguration? {
        guard let node = tree.customUserData else { return nil }
        let parsed = CustomUserDataConfiguration.parse(node.document)
        add(parsed.faults, at: node.place, below: nil)
        guard let configuration = parsed.configuration else { return nil }
        let sources = tree.sources.keys.sorted()
        if configuration.serviceName == nil {
            // Older exports leave it out; a second source was the one for sync.
            guard let service = sources.contains("mongodb-atlas") ? "mongodb-atlas" : sources.first else {
                findings.add(
                    .error,
                    node.place.key("mongo_service_name"),
                    "is missing, and there is no data source"
                )
                return nil
            }
            findings.add(.adapted, node.place.key("mongo_service_name"), "missing; '\(service)' taken")
            return CustomUserDataConfiguration(
                serviceName: service,
                databaseName: configuration.databaseName,
                collectionName: configuration.collectionName,
                userIDField: configuration.userIDField,
                onUserCreationFunctionName: configuration.onUserCreationFunctionName
            )
        }
        findings.add(.imported, node.place, "custom user data")
        return configuration
    }

    mutating func dataAPI() -> DataAPIDefinition? {
        guard let node = tree.dataAPI else {
            findings.add(
                .adapted,
                Place(file: "http_endpoints/data_api_config.json"),
                "is not there; the Data API is on, under the app's rules (\"disabled\": true closes it)"
            )
            return nil
        }
        var reader = ObjectReader(node)
        var versions = reader.texts("versions")
        for version in versions where version != "v1" && version != "beta" {
            reader.error("versions", "holds '\(version)'; there are v1 and beta")
        }
        if versions.isEmpty { versions = ["v1"] }
        let user = reader.text("run_as_user_id")
        let script = reader.text("run_as_user_id_script_source")
        let identity: DataAPIDefinition.Identity
        if let script {
            if user != nil { reader.error("run_as_user_id", "excludes run_as_user_id_script_source") }
            identity = .script(source: script)
        } else if reader.flag("run_as_system") {
            identity = .system
        } else if let user {
            identity = .user(id: user)
        } else {
            identity = .caller
        }
        _ = reader.value("run_as_system")
        let condition = condition(&reader)
        let definition = DataAPIDefinition(
            isDisabled: reader.flag("disabled"),
            versions: versions,
            returnType: returnType(&reader, default: .json),
            identity: identity,
            canEvaluate: condition,
            validation: validation(&reader, dependent: "the Data API"),
            createsUserOnAuth: reader.flag("create_user_on_auth"),
            fetchesCustomUserData: reader.flag("fetch_custom_user_data"),
            logsArguments: reader.flag("log_function_arguments")
        )
        reader.reportUnknown()
        reader.note(.imported, definition.isDisabled ? "Data API, disabled" : "Data API")
        findings.append(contentsOf: reader.findings)
        return definition
    }

    /// Reads `can_evaluate`, which no document is known to.
    mutating func condition(_ reader: inout ObjectReader) -> RuleExpression {
        guard let value = reader.value("can_evaluate") else { return .constant(true) }
        var parser = RuleExpressionParser(scope: .noDocument)
        let condition = parser.parse(value, at: "$.can_evaluate")
        add(parser.faults, at: reader.place)
        return condition
    }

    private enum SyncKind: String, CaseIterable {
        case flexible
        case partition
    }

    mutating func sync() -> SyncDefinition? {
        guard let node = tree.sync, !node.document.isEmpty else { return nil }
        var reader = ObjectReader(node)
        let kind = reader.word("type", SyncKind.self) ?? .flexible
        var enabled = false
        switch reader.value("state") {
        case nil: break
        case .bool(let flag)?: enabled = flag
        case .string(let state)?:
            enabled = state == "enabled"
            if !["enabled", "disabled", ""].contains(state) {
                reader.error("state", "must be enabled or disabled")
            }
        default: reader.error("state", "must be enabled or disabled")
        }
        var byCollection: [String: [String]] = [:]
        for field in reader.object("collection_queryable_fields_names") ?? BSONDocument() {
            let names = (field.value.array ?? []).compactMap(\.string)
            if names.count != field.value.array?.count {
                reader.error("collection_queryable_fields_names.\(field.key)", "must be an array of strings")
            }
            byCollection[field.key] = names
        }
        let indexed = reader.texts("indexed_queryable_fields_names")
        if indexed.count > 1 { reader.error("indexed_queryable_fields_names", "may name one field") }
        let permissions = kind == .partition ? reader.object("permissions") : nil
        let partition = partition(
            reader.object("partition"),
            permissions,
            reports: enabled && kind == .partition,
            at: reader.place.key("partition")
        )
        if kind == .partition, enabled, partition == nil {
            reader.error("partition", "must name key and type of the partitions")
        }
        let definition = SyncDefinition(
            isEnabled: enabled,
            kind: kind.rawValue,
            developmentMode: reader.flag("development_mode_enabled"),
            dataSource: reader.text("service_name"),
            database: reader.text("database_name"),
            queryableFields: reader.texts("queryable_fields_names"),
            queryableFieldsByCollection: byCollection,
            indexedQueryableFields: indexed,
            asymmetricCollections: reader.texts("asymmetric_tables"),
            maxOfflineDays: reader.integer("client_max_offline_days"),
            forbidsRecovery: reader.flag("is_recovery_mode_disabled"),
            partition: partition
        )
        for key in ["last_disabled", "permissions"] {
            _ = reader.value(key)
        }
        reader.reportUnknown()
        reader.note(.imported, enabled ? "sync, enabled" : "sync settings")
        findings.append(contentsOf: reader.findings)
        return definition
    }

    /// Reads `partition`; older exports have its permissions beside it.
    private mutating func partition(
        _ document: BSONDocument?,
        _ outerPermissions: BSONDocument?,
        reports: Bool,
        at place: Place
    ) -> PartitionDefinition? {
        guard let document else { return nil }
        var reader = ObjectReader(document, at: place)
        var faults: [RuleFault] = []
        defer {
            // What is not in force is no reason to refuse an app.
            if reports {
                findings.append(contentsOf: reader.findings)
                add(faults, at: place)
            }
        }
        let key = reader.requiredText("key")
        let type = reader.word("type", PartitionDefinition.KeyType.self) ?? .string
        let isRequired = reader.flag("required")
        let permissions = reader.object("permissions") ?? outerPermissions
        reader.reportUnknown()
        guard let key else { return nil }
        guard !key.contains("."), !key.hasPrefix("$"), key != "_id" else {
            reader.error("key", "must be a field of documents, without a dot, and not '_id'")
            return nil
        }
        return PartitionDefinition(
            key: key,
            type: type,
            isRequired: isRequired,
            read: Self.permission("read", permissions, &reader, &faults),
            write: Self.permission("write", permissions, &reader, &faults)
        )
    }

    /// A permission of a partition; nobody has one that is not given.
    private static func permission(
        _ name: String,
        _ permissions: BSONDocument?,
        _ reader: inout ObjectReader,
        _ faults: inout [RuleFault]
    ) -> RuleExpression {
        guard let value = permissions?[name], !value.isNull else {
            reader.warn("permissions", "nobody may \(name): '\(name)' is not given")
            return .constant(false)
        }
        var parser = RuleExpressionParser(scope: .partition)
        let expression = parser.parse(value, at: "$.permissions.\(name)")
        faults += parser.faults
        return expression
    }
}
