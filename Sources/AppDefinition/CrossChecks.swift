import Accounts
import BSON
import MQL
import Rules
import Schemas

/// What no single file can tell: whether names lead somewhere.
///
/// Source: `reference/app-config.md` §16.
struct CrossChecks {
    private let app: AppConfiguration
    private let tree: ConfigurationTree
    private var findings = Findings()

    static func check(_ app: AppConfiguration, _ tree: ConfigurationTree) -> Findings {
        var checks = CrossChecks(app: app, tree: tree)
        checks.functionNames()
        checks.ruleFunctions()
        checks.sourceNames()
        checks.relationships()
        checks.sync()
        return checks.findings
    }

    private init(app: AppConfiguration, tree: ConfigurationTree) {
        self.app = app
        self.tree = tree
    }

    // MARK: Functions

    private mutating func functionNames() {
        for (endpoint, node) in zip(app.endpoints, tree.endpoints) where !endpoint.functionName.isEmpty {
            need(
                function: endpoint.functionName,
                at: node.place.key("function_name"),
                idle: endpoint.isDisabled
            )
        }
        for trigger in app.triggers {
            guard let name = trigger.functionName, let node = tree.triggers[trigger.name] else { continue }
            need(function: name, at: node.place, idle: trigger.isDisabled)
        }
        for (name, provider) in app.providers.sorted(by: { $0.key < $1.key }) {
            guard let place = tree.providers[name]?.place.key("config") else { continue }
            switch provider.settings {
            case .none, .customToken, .oauth: break
            case .customFunction(let function):
                need(function: function, at: place.key("authFunctionName"), idle: provider.disabled)
            case .emailPassword(let settings):
                if settings.runConfirmationFunction, let function = settings.confirmationFunctionName {
                    need(
                        function: function,
                        at: place.key("confirmationFunctionName"),
                        idle: provider.disabled
                    )
                }
                if settings.runResetFunction, let function = settings.resetFunctionName {
                    need(function: function, at: place.key("resetFunctionName"), idle: provider.disabled)
                }
            }
        }
        if let function = app.customUserData?.onUserCreationFunctionName, let node = tree.customUserData {
            need(function: function, at: node.place.key("on_user_creation_function_name"), idle: false)
        }
    }

    /// What rules ask of functions: without an answer they let nobody in.
    private mutating func ruleFunctions() {
        for source in app.dataSources {
            for name in source.defaultRules?.functionNames ?? [] {
                guard let node = tree.sources[source.name]?.defaultRule else { continue }
                need(function: name, at: node.place, idle: false)
            }
            for collection in source.collections {
                let key = ConfigurationTree.CollectionKey(
                    database: collection.database,
                    collection: collection.collection
                )
                guard let found = tree.sources[source.name]?.collections[key] else { continue }
                if let node = found.rules {
                    for name in collection.rules?.functionNames ?? [] {
                        need(function: name, at: node.place, idle: false)
                    }
                }
                if let node = found.schema, let schema = collection.schema {
                    for name in SchemaValidation(schema).functionNames {
                        need(function: name, at: node.place, idle: false)
                    }
                }
            }
        }
    }

    private mutating func need(function name: String, at place: Place, idle: Bool) {
        guard tree.functions[name] == nil else { return }
        findings.add(idle ? .warning : .error, place, "there is no function '\(name)'")
    }

    // MARK: Data sources

    private mutating func sourceNames() {
        if let custom = app.customUserData, let name = custom.serviceName, let node = tree.customUserData {
            // Without its source nobody has custom data, and rules that ask for it let nobody in.
            need(source: name, at: node.place.key("mongo_service_name"), idle: true)
        }
        for trigger in app.triggers where trigger.kind == .database {
            guard let node = tree.triggers[trigger.name] else { continue }
            let place = node.place.key("config").key("service_name")
            if let name = trigger.config["service_name"]?.string {
                need(source: name, at: place, idle: trigger.isDisabled)
            } else if trigger.config["service_id"] != nil {
                findings.add(
                    .warning,
                    node.place.key("config").key("service_id"),
                    "an id names no data source here"
                )
            }
        }
        if let sync = app.sync, sync.isEnabled, let name = sync.dataSource, let node = tree.sync {
            need(source: name, at: node.place.key("service_name"), idle: false)
        }
    }

    private mutating func need(source name: String, at place: Place, idle: Bool) {
        guard tree.sources[name] == nil else { return }
        findings.add(idle ? .warning : .error, place, "there is no data source '\(name)'")
    }

    private mutating func relationships() {
        let known = Set(app.namespaces)
        for source in app.dataSources {
            for collection in source.collections {
                for link in collection.relationships {
                    let target = (link.dataSource, link.database, link.collection)
                    if known.contains(where: { ($0.dataSource, $0.database, $0.collection) == target }) {
                        continue
                    }
                    let key = ConfigurationTree.CollectionKey(
                        database: collection.database,
                        collection: collection.collection
                    )
                    guard let node = tree.sources[source.name]?.collections[key]?.relationships else {
                        continue
                    }
                    findings.add(
                        .warning,
                        node.place.key(link.field),
                        "leads to \(link.database).\(link.collection), of which the app says nothing"
                    )
                }
            }
        }
    }

    // MARK: Sync

    private mutating func sync() {
        guard let sync = app.sync, sync.isEnabled, let node = tree.sync,
            let source = sync.dataSource.flatMap({ app.dataSource($0) })
        else { return }
        var titles: [String: String] = [:]
        for collection in source.collections {
            guard let title = collection.schema?.title else { continue }
            if let other = titles[title] {
                findings.add(
                    .warning,
                    node.place,
                    "the schemas of \(other) and \(collection.collection) share the title '\(title)'"
                )
            }
            titles[title] = collection.collection
        }
        let schemas = source.collections.filter { $0.schema != nil }
        if sync.isPartitioned {
            if let key = sync.partition?.key, !schemas.isEmpty, !schemas.contains(where: { has(key, $0) }) {
                findings.add(.warning, node.place.key("partition"), "no schema has the field '\(key)'")
            }
            // Roles of collections do not count there.
            return
        }
        for field in sync.queryableFields where !schemas.isEmpty {
            let exists = schemas.contains { has(field, $0) }
            if !exists {
                findings.add(
                    .warning,
                    node.place.key("queryable_fields_names"),
                    "no schema has the field '\(field)'"
                )
            }
        }
        for (name, fields) in sync.queryableFieldsByCollection.sorted(by: { $0.key < $1.key }) {
            guard let collection = schemas.first(where: { $0.collection == name }) else { continue }
            for field in fields where !has(field, collection) {
                findings.add(
                    .warning,
                    node.place.key("collection_queryable_fields_names").key(name),
                    "the schema has no field '\(field)'"
                )
            }
        }
        for collection in source.collections {
            guard let rules = collection.rules else { continue }
            let key = ConfigurationTree.CollectionKey(
                database: collection.database,
                collection: collection.collection
            )
            guard let file = tree.sources[source.name]?.collections[key]?.rules else { continue }
            let queryable = Set(sync.queryableFields(of: collection.collection))
            for (index, role) in rules.roles.enumerated() {
                for reason in SyncCompatibility.obstacles(role, queryableFields: queryable) {
                    findings.add(
                        .warning,
                        file.place.key("roles").index(index),
                        "role '\(role.name)' gives no access under sync: \(reason)"
                    )
                }
            }
        }
    }

    private func has(_ field: String, _ collection: CollectionDefinition) -> Bool {
        let first = field.split(separator: ".").first.map(String.init) ?? field
        return collection.schema?.properties.contains { $0.name == first } ?? false
    }
}
