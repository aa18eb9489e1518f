public import AppDefinition
import BSON
public import Errors
import Postgres
import Rules
import SQL
import Schemas

extension AppStore {
    /// How an import decides where the references leave a choice.
    public struct ImportOptions: Sendable, Hashable {
        /// The client app id that the app shall have; nil leaves an existing app its own.
        public var clientAppID: String?
        /// Values and environments that the tree does not have are removed, too.
        public var removesValues: Bool

        /// Options with their defaults.
        public init(clientAppID: String? = nil, removesValues: Bool = false) {
            self.clientAppID = clientAppID
            self.removesValues = removesValues
        }
    }

    /// Writes a checked app and makes its collections.
    ///
    /// - Parameters:
    ///   - tree: What was read; its files go into the tables.
    ///   - app: What ``AppConfigurationParser`` made of it.
    ///   - options: Where the references leave a choice.
    /// - Returns: What changed, and what the app lacks.
    /// - Throws: ``ServiceError`` with code `invalidAppDefinition` when the client app id belongs to another app.
    public func `import`(
        _ tree: ConfigurationTree,
        _ app: AppConfiguration,
        options: ImportOptions = ImportOptions()
    ) async throws(ServiceError) -> ImportResult {
        do {
            return try await database.transaction(within: .seconds(600)) { transaction in
                let importer = AppImporter(transaction: transaction, tree: tree, app: app, options: options)
                return try await importer.run()
            }
        } catch let error as ServiceError {
            throw error
        } catch {
            throw ServiceError(.internalServerError, "the import failed", cause: error)
        }
    }
}

/// One import in one transaction.
struct AppImporter {
    let transaction: Transaction
    let tree: ConfigurationTree
    let app: AppConfiguration
    let options: AppStore.ImportOptions

    func run() async throws(ServiceError) -> AppStore.ImportResult {
        _ = try await transaction.run(AppStoreStatements.lock(name: tree.name))
        let found = try await transaction.run(AppStoreStatements.findByName(tree.name))
        let isNew = found.rowCount == 0
        let target = try await isNew ? create() : found
        guard let id = target.text(0, 0), let before = target.int(0, 2) else {
            throw ServiceError(.internalServerError, "the app's row could not be read")
        }
        if !isNew, let wanted = options.clientAppID {
            try await claim(wanted)
            _ = try await transaction.run(AppStoreStatements.setClientAppID(wanted, app: id))
        }
        try await putRoot(id, isNew: isNew)
        try await putNamed(id)
        try await putSources(id)
        try await putFunctions(id)
        try await putFiles(id)
        let changesMails = try await putMails(id)
        try await makeCollections()
        let after = try await transaction.run(AppStoreStatements.version(app: id)).int(0, 0) ?? before
        let secrets = try await transaction.run(AppStoreStatements.secretNames(app: id))
        let known = Set((0..<secrets.rowCount).compactMap { secrets.text($0, 0) })
        let missing = app.referencedSecrets.map(\.name).filter { !known.contains($0) }
        let stored = try await transaction.run(AppStoreStatements.findByName(tree.name))
        return AppStore.ImportResult(
            id: id,
            clientAppID: stored.text(0, 1) ?? "",
            isNew: isNew,
            changed: isNew || changesMails || after != before,
            version: Int64(after),
            missingSecrets: missing
        )
    }

    private func create() async throws(ServiceError) -> ResultSet {
        let wanted = options.clientAppID ?? tree.clientAppID
        if let wanted { try await claim(wanted) }
        return try await transaction.run(AppStoreStatements.create(name: tree.name, clientAppID: wanted))
    }

    private func claim(_ clientAppID: String) async throws(ServiceError) {
        let owner = try await transaction.run(AppStoreStatements.ownerOf(clientAppID: clientAppID))
        guard owner.rowCount > 0, let name = owner.text(0, 0), name != tree.name else { return }
        throw ServiceError(
            .invalidAppDefinition,
            "app id '\(clientAppID)' belongs to the app '\(name)'; choose another with --app-id",
            details: ["app_id": clientAppID]
        )
    }

    private func putRoot(_ id: String, isNew: Bool) async throws(ServiceError) {
        var root = tree.root.document
        root["config_version"] = .int32(Int32(clamping: tree.version))
        // Most published trees have no app id; an export says what was imported.
        root["app_id"] = tree.clientAppID.map { .string($0) }
        // What an administrator decided outlives an import that says nothing of it.
        let decision = AppConfigurationParser.hiddenFieldQueries
        if !isNew, root[decision] == nil {
            let known = try await transaction.run(AppStoreStatements.rootFlag(decision, app: id))
            if let text = known.text(0, 0) { root[decision] = .bool(text == "true") }
        }
        let lifetime = AppConfigurationParser.refreshTokenLifetime
        if !isNew, root[lifetime] == nil {
            let known = try await transaction.run(AppStoreStatements.rootFlag(lifetime, app: id))
            if let seconds = known.text(0, 0).flatMap({ Int64($0) }) { root[lifetime] = .int64(seconds) }
        }
        _ = try await transaction.run(
            AppStoreStatements.setRoot(
                app: id,
                config: ExtendedJSON.relaxed(.document(root)),
                environment: tree.environmentTag
            )
        )
    }

    private func putNamed(_ id: String) async throws(ServiceError) {
        let settings = [
            ("data_api_config", tree.dataAPI), ("sync", tree.sync), ("custom_user_data", tree.customUserData),
        ]
        let present = settings.compactMap { name, node in node.map { (name, $0) } }
        for table in ConfigurationTable.allCases {
            let nodes: [String: ConfigurationTree.Node] =
                switch table {
                case .environments: tree.environments
                case .values: tree.values
                case .providers: tree.providers
                case .settings: Dictionary(uniqueKeysWithValues: present)
                case .triggers: tree.triggers
                }
            let names = nodes.keys.sorted()
            let configs = names.map { AppRows.text(nodes[$0]) }
            if !names.isEmpty {
                _ = try await transaction.run(table.put(app: id, names: names, configs: configs))
            }
            let keeps = (table == .values || table == .environments) && !options.removesValues
            if !keeps { _ = try await transaction.run(table.removeOthers(app: id, names: names)) }
        }
        let secrets = tree.secrets.keys.sorted()
        guard !secrets.isEmpty else { return }
        _ = try await transaction.run(
            AppStoreStatements.putSecrets(
                app: id,
                names: secrets,
                values: secrets.map { tree.secrets[$0] ?? "" }
            )
        )
    }

    private func putSources(_ id: String) async throws(ServiceError) {
        let names = tree.sources.keys.sorted()
        _ = try await transaction.run(
            AppStoreStatements.putSources(
                app: id,
                names: names,
                configs: names.map { AppRows.text(tree.sources[$0]?.config) },
                defaults: names.map { AppRows.text(tree.sources[$0]?.defaultRule) }
            )
        )
        var kept: [(source: String, key: ConfigurationTree.CollectionKey)] = []
        for name in names {
            for (key, files) in (tree.sources[name]?.collections ?? [:]).sorted(by: { $0.key < $1.key }) {
                kept.append((name, key))
                _ = try await transaction.run(
                    AppStoreStatements.putCollection(
                        app: id,
                        source: name,
                        database: key.database,
                        collection: key.collection,
                        rules: AppRows.text(files.rules),
                        schema: AppRows.text(files.schema),
                        relationships: AppRows.text(files.relationships)
                    )
                )
            }
        }
        _ = try await transaction.run(
            AppStoreStatements.removeCollections(
                app: id,
                exceptSources: kept.map(\.source),
                databases: kept.map(\.key.database),
                collections: kept.map(\.key.collection)
            )
        )
        _ = try await transaction.run(AppStoreStatements.removeSources(app: id, except: names))
    }

    private func putFunctions(_ id: String) async throws(ServiceError) {
        let names = tree.functions.keys.sorted()
        _ = try await transaction.run(
            AppStoreStatements.putFunctions(
                app: id,
                names: names,
                configs: names.map { AppRows.text(tree.functions[$0]?.config) },
                sources: names.map { tree.functions[$0]?.source ?? "" }
            )
        )
        _ = try await transaction.run(AppStoreStatements.removeFunctions(app: id, except: names))
        let routes = tree.endpoints.map { $0.document["route"]?.string ?? "" }
        let methods = tree.endpoints.map { $0.document["http_method"]?.string ?? "*" }
        _ = try await transaction.run(
            AppStoreStatements.putEndpoints(
                app: id,
                routes: routes,
                methods: methods,
                configs: tree.endpoints.map { AppRows.text($0) }
            )
        )
        _ = try await transaction.run(
            AppStoreStatements.removeEndpoints(app: id, exceptRoutes: routes, methods: methods)
        )
    }

    private func putFiles(_ id: String) async throws(ServiceError) {
        let paths = tree.otherFiles.keys.sorted()
        for path in paths {
            _ = try await transaction.run(
                AppStoreStatements.putFile(app: id, path: path, body: tree.otherFiles[path] ?? [])
            )
        }
        _ = try await transaction.run(AppStoreStatements.removeFiles(app: id, except: paths))
    }

    /// The texts of mails, where the tree speaks of them; they are no part of an app's version.
    ///
    /// - Returns: Whether any of them was another.
    private func putMails(_ id: String) async throws(ServiceError) -> Bool {
        guard let node = tree.mailTemplates else { return false }
        let stored = MailTemplates(rows: try await transaction.run(AppStoreStatements.mailTemplates(app: id)))
        let wanted = MailTemplates(node.document)
        for (purpose, text) in wanted.texts where stored.texts[purpose] != text {
            _ = try await transaction.run(
                AppStoreStatements.setMailTemplate(
                    app: id,
                    purpose: purpose,
                    body: text.body,
                    subject: text.subject
                )
            )
        }
        for purpose in stored.texts.keys where wanted.texts[purpose] == nil {
            _ = try await transaction.run(AppStoreStatements.removeMailTemplate(app: id, purpose: purpose))
        }
        return stored.texts != wanted.texts
    }

    /// Makes the table of every collection that the app names, with columns for the fields that its rules and
    /// schema speak of.
    private func makeCollections() async throws(ServiceError) {
        for source in app.dataSources where source.kind != .federation {
            for collection in source.collections {
                _ = try await transaction.run(
                    AppStoreStatements.ensureCollection(
                        database: collection.database,
                        collection: collection.collection
                    )
                )
                for field in PromotedFields.of(collection, defaults: source.defaultRules) {
                    _ = try await transaction.run(
                        AppStoreStatements.promote(
                            database: collection.database,
                            collection: collection.collection,
                            path: field.path,
                            type: field.type
                        )
                    )
                }
            }
        }
    }
}

/// Which fields of a collection get a typed column.
enum PromotedFields {
    struct Field: Hashable {
        let path: String
        /// `string`, `number`, `date`, `objectId`, `bool` or `uuid`.
        let type: String
    }

    /// Scalars of the schema, and fields that rules speak of; of the latter without a declared type as text,
    /// since they are compared with user ids and names.
    static func of(_ collection: CollectionDefinition, defaults: CollectionRules?) -> [Field] {
        var types: [String: String] = [:]
        var fields: [Field] = []
        for (path, bsonType) in collection.schema?.scalarFields ?? [] {
            let text = path.components.joined(separator: ".")
            guard isPromotable(path), let type = columnType(bsonType) else { continue }
            types[text] = type
            fields.append(Field(path: text, type: type))
        }
        for path in (collection.rules ?? defaults)?.fieldsMentioned ?? [] {
            let text = path.components.joined(separator: ".")
            guard isPromotable(path), types[text] == nil else { continue }
            types[text] = "string"
            fields.append(Field(path: text, type: "string"))
        }
        return fields
    }

    /// What `tidegate.promote_field` takes: an import does not fail for a rule about `tags.0`.
    private static func isPromotable(_ path: FieldPath) -> Bool {
        let parts = path.components
        return (1...8).contains(parts.count) && parts.first != "_id"
            && parts.reduce(parts.count - 1, { $0 + $1.utf8.count }) <= 500
            && parts.allSatisfy { part in
                !part.isEmpty && !part.hasPrefix("$") && !part.contains(".")
                    && !part.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            }
    }

    private static func columnType(_ bsonType: String) -> String? {
        switch bsonType {
        case "string", "objectId", "date", "bool", "uuid": bsonType
        case "int", "long", "double", "decimal", "number": "number"
        default: nil
        }
    }
}
