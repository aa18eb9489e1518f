import Accounts
import BSON
import Rules

/// Turns a ``ConfigurationTree`` into an ``AppConfiguration``, or into every fault found.
///
/// The same parser serves `check`, the import, and gateways that load an app from the database, so that a
/// change by SQL is judged as a file is. Source: `reference/app-config.md`.
public struct AppConfigurationParser {
    let tree: ConfigurationTree
    var findings = Findings()
    /// `%%environment.values` in force.
    let environmentValues: BSONDocument
    var secrets: [SecretReference] = []

    /// Parses and cross-checks a tree.
    ///
    /// - Parameters:
    ///   - tree: What was read.
    ///   - knownSecrets: Names of secrets that exist elsewhere, in the database.
    /// - Returns: The app, nil when there are errors; and every finding in the order of the tree.
    public static func parse(
        _ tree: ConfigurationTree,
        knownSecrets: Set<String> = []
    ) -> (app: AppConfiguration?, findings: Findings) {
        var findings = Findings()
        let tag = tree.environmentTag
        let environment = tree.environments[tag]
        var values = BSONDocument()
        if let node = environment, let stated = node.document["values"], !stated.isNull {
            if let document = stated.document {
                values = document
            } else {
                findings.add(.error, node.place.key("values"), "must be an object")
            }
        }
        var resolver = TemplateResolver(values: values)
        let resolved = tree.mapNodes { resolver.resolve($0) }
        findings.append(contentsOf: resolver.findings)
        var parser = AppConfigurationParser(tree: resolved, environmentValues: values)
        parser.findings = findings
        let app = parser.app(knownSecrets: knownSecrets.union(tree.secrets.keys))
        return (parser.findings.hasErrors ? nil : app, parser.findings)
    }

    /// The data sources of a tree that says nothing else, and has been checked before.
    static func sources(of tree: ConfigurationTree, environmentValues: BSONDocument) -> [DataSource] {
        var resolver = TemplateResolver(values: environmentValues)
        let resolved = tree.mapNodes { resolver.resolve($0) }
        var parser = AppConfigurationParser(tree: resolved, environmentValues: environmentValues)
        return parser.dataSources()
    }

    private init(tree: ConfigurationTree, environmentValues: BSONDocument) {
        self.tree = tree
        self.environmentValues = environmentValues
    }

    private mutating func app(knownSecrets: Set<String>) -> AppConfiguration {
        var root = ObjectReader(tree.root)
        checkName(tree.name)
        checkEnvironment()
        let origins = root.texts("allowed_request_origins")
        let saysHidden = tree.root.document[Self.hiddenFieldQueries] != nil
        let allowsHidden = root.flag(Self.hiddenFieldQueries, default: true)
        let lifetime = root.integer(Self.refreshTokenLifetime)
        if let lifetime, !Self.refreshTokenLifetimes.contains(Int64(lifetime)) {
            root.error(Self.refreshTokenLifetime, "must be between 30 minutes and 5 years, in seconds")
        }
        let location = root.text("location") ?? "US-VA"
        let model = root.text("deployment_model") ?? "GLOBAL"
        for key in ["provider_region", "config_version"] { _ = root.value(key) }
        root.reportUnknown()
        findings.append(contentsOf: root.findings)
        findings.add(.imported, tree.root.place, "app '\(tree.name)'")
        let values = values()
        let sources = dataSources()
        let functions = functions()
        let providers = providers()
        let custom = customUserData()
        let endpoints = endpoints()
        let dataAPI = dataAPI()
        let sync = sync()
        let triggers = triggers()
        let app = AppConfiguration(
            name: tree.name,
            clientAppID: tree.clientAppID,
            environmentTag: tree.environmentTag,
            environmentValues: environmentValues,
            allowedRequestOrigins: origins,
            allowsHiddenFieldQueries: allowsHidden,
            refreshTokenLifetimeSeconds: lifetime,
            location: location,
            deploymentModel: model,
            values: values,
            referencedSecrets: secrets,
            dataSources: sources,
            functions: functions,
            endpoints: endpoints,
            dataAPI: dataAPI,
            providers: providers,
            customUserData: custom,
            sync: sync,
            triggers: triggers
        )
        findings.append(contentsOf: CrossChecks.check(app, tree))
        if !saysHidden { adviseOnHiddenFields(sources) }
        for secret in secrets where !knownSecrets.contains(secret.name) {
            findings.add(
                .warning,
                secret.place,
                "secret '\(secret.name)' is not part of the export; \(secret.dependent) does not work before it is set"
            )
        }
        findings.append(contentsOf: UnservedParts.report(tree))
        return app
    }

    /// The key of the root file; an app made here says false, an exported one nothing.
    public static let hiddenFieldQueries = "allow_hidden_field_queries"

    /// A key of our own in the root file; the hosted service kept this setting out of exports.
    public static let refreshTokenLifetime = "refresh_token_lifetime_seconds"
    private static let refreshTokenLifetimes =
        RefreshToken.shortestLifetimeSeconds...RefreshToken.longestLifetimeSeconds

    private mutating func adviseOnHiddenFields(_ sources: [DataSource]) {
        let hiding = sources.flatMap { source in
            (source.defaultRules.map { $0.hidesFields ? ["\(source.name) (default rules)"] : [] } ?? [])
                + source.collections.filter { $0.rules?.hidesFields ?? false }
                .map { "\($0.database).\($0.collection)" }
        }
        guard let first = hiding.first else { return }
        let others = hiding.count > 1 ? " and \(hiding.count - 1) more" : ""
        findings.add(
            .warning,
            tree.root.place,
            "callers may filter and sort on fields that rules hide from them, as the hosted service let them (\(first)\(others)); tidegate.set_hidden_field_queries(app, false) ends that"
        )
    }

    private mutating func checkName(_ name: String) {
        let place = tree.root.place.key("name")
        if name.isEmpty {
            findings.add(.error, place, "is missing")
        } else if name.utf8.count > 64 || !Self.isPlain(name) {
            findings.add(.error, place, "must be 1 to 64 letters, digits, - and _")
        }
        if let id = tree.clientAppID,
            id.utf8.count > 128 || !Self.isPlain(id) || id.hasPrefix("-") || id.hasPrefix("_")
        {
            findings.add(.error, tree.root.place.key("app_id"), "must be 1 to 128 letters, digits, - and _")
        }
    }

    /// Letters, digits, `-` and `_`.
    static func isPlain(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    private mutating func checkEnvironment() {
        guard ConfigurationTreeReader.environmentTags.contains(tree.environmentTag) else {
            findings.add(
                .error,
                tree.root.place.key("environment"),
                "must be empty, development, testing, qa or production, is '\(tree.environmentTag)'"
            )
            return
        }
    }

    private mutating func values() -> [ValueDefinition] {
        var values: [ValueDefinition] = []
        for (name, node) in tree.values.sorted(by: { $0.key < $1.key }) {
            var reader = ObjectReader(node)
            _ = reader.value("name")
            _ = reader.value("private")
            _ = reader.value("value")
            let fromSecret = reader.flag("from_secret")
            if fromSecret {
                if let secret = reader.requiredText("value") {
                    values.append(ValueDefinition(name: name, content: .secret(name: secret)))
                    refer(to: secret, at: node.place.key("value"), for: "value '\(name)'")
                }
            } else if let value = node.document["value"] {
                values.append(ValueDefinition(name: name, content: .plain(value)))
            } else {
                reader.error("value", "is missing")
            }
            reader.reportUnknown()
            reader.note(.imported, "value '\(name)'")
            findings.append(contentsOf: reader.findings)
        }
        return values
    }

    /// Takes note of a secret that something needs; the first place counts.
    mutating func refer(to secret: String, at place: Place, for dependent: String) {
        guard !secrets.contains(where: { $0.name == secret }) else { return }
        secrets.append(SecretReference(name: secret, place: place, dependent: dependent))
    }
}

extension ConfigurationTree {
    /// The tree with every document replaced.
    func mapNodes(_ change: (Node) -> Node) -> ConfigurationTree {
        var result = self
        result.root = change(root)
        result.values = values.mapValues(change)
        result.sources = sources.mapValues { source in
            var mapped = source
            mapped.config = change(source.config)
            mapped.defaultRule = source.defaultRule.map(change)
            mapped.collections = source.collections.mapValues { collection in
                Collection(
                    rules: collection.rules.map(change),
                    schema: collection.schema.map(change),
                    relationships: collection.relationships.map(change)
                )
            }
            return mapped
        }
        result.functions = functions.mapValues { Function(config: change($0.config), source: $0.source) }
        result.endpoints = endpoints.map(change)
        result.providers = providers.mapValues(change)
        result.customUserData = customUserData.map(change)
        result.dataAPI = dataAPI.map(change)
        result.sync = sync.map(change)
        result.triggers = triggers.mapValues(change)
        return result
    }
}
