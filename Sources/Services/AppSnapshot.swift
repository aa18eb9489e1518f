public import Accounts
public import AppDefinition
public import BSON
public import MQL
public import Rules
public import Schemas

/// One app at one version, as requests see it from beginning to end.
public final class AppSnapshot: Sendable {
    /// 24 hexadecimal digits.
    public let id: String
    /// The id in URLs.
    public let clientAppID: String
    /// Raised by every change in the database.
    public let version: Int64
    /// The whole configuration.
    public let definition: AppConfiguration
    /// What of it decides who callers are, secrets included.
    public let accounts: AccountSettings
    /// The content of `%%values`; values whose secret is missing are absent.
    public let values: BSONDocument
    /// Secrets by name, for request validation.
    public let secrets: [String: String]

    /// The plans that these rules gave.
    let plans = AccessPlanCache()

    private let collections: [Namespace: CollectionDefinition]
    private let defaults: [ByteText: CollectionRules]
    private let validations: [Namespace: SchemaValidation]
    private let functions: [ByteText: FunctionDefinition]
    private let endpoints: [ByteText: EndpointDefinition]

    /// Makes a snapshot of a checked configuration.
    public init(
        id: String,
        clientAppID: String,
        version: Int64,
        definition: AppConfiguration,
        secrets: [String: String]
    ) {
        self.id = id
        self.clientAppID = clientAppID
        self.version = version
        self.definition = definition
        self.secrets = secrets
        var values = BSONDocument()
        for value in definition.values {
            switch value.content {
            case .plain(let content): values[value.name] = content
            case .secret(let name): values[value.name] = secrets[name].map { .string($0) }
            }
        }
        self.values = values
        var collections: [Namespace: CollectionDefinition] = [:]
        var defaults: [ByteText: CollectionRules] = [:]
        var validations: [Namespace: SchemaValidation] = [:]
        for source in definition.dataSources {
            defaults[ByteText(source.name)] = source.defaultRules
            for collection in source.collections {
                let namespace = Namespace(
                    dataSource: source.name,
                    database: collection.database,
                    collection: collection.collection
                )
                collections[namespace] = collection
                validations[namespace] = collection.schema.map { SchemaValidation($0) }
            }
        }
        self.collections = collections
        self.defaults = defaults
        self.validations = validations
        endpoints = Dictionary(
            definition.endpoints.filter { !$0.isDisabled }.map { (Self.key($0.httpMethod, $0.route), $0) },
            uniquingKeysWith: { first, _ in first }
        )
        functions = Dictionary(
            definition.functions.map { (ByteText($0.name), $0) },
            uniquingKeysWith: { first, _ in first }
        )
        let runAs: AccountSettings.RunAs =
            switch definition.dataAPI?.identity {
            case nil, .caller?: .caller
            case .system?: .system
            case .user(let id)?: .user(id: id)
            case .script?: .script
            }
        accounts = AccountSettings(
            appID: id,
            clientAppID: clientAppID,
            revision: version,
            providers: definition.providers,
            secrets: secrets,
            refreshTokenLifetimeSeconds: definition.refreshTokenLifetimeSeconds.map { Int64($0) }
                ?? RefreshToken.standardLifetimeSeconds,
            customUserData: definition.customUserData,
            dataAPIRunAs: runAs,
            createUserOnAuth: definition.dataAPI?.createsUserOnAuth ?? false,
            fetchCustomUserData: definition.dataAPI?.fetchesCustomUserData ?? false
        )
    }

    /// Whether the app has a data source of that name.
    public func hasDataSource(_ name: String) -> Bool {
        definition.dataSource(name) != nil
    }

    /// The function of that name, byte by byte.
    public func function(_ name: String) -> FunctionDefinition? {
        functions[ByteText(name)]
    }

    /// The endpoint that answers a method under a route: one for the method before one for all.
    public func endpoint(_ route: String, method: String) -> EndpointDefinition? {
        endpoints[Self.key(method, route)] ?? endpoints[Self.key("*", route)]
    }

    private static func key(_ method: String, _ route: String) -> ByteText {
        ByteText("\(method) \(route)")
    }

    /// The rules of a namespace, its own or the data source's default ones; nil when there are neither.
    ///
    /// Source: `reference/rules.md` §1: own roles are never joined by default ones.
    public func rules(for namespace: Namespace) -> CollectionRules? {
        collections[namespace]?.rules ?? defaults[ByteText(namespace.dataSource)]
    }

    /// The schema of a namespace.
    public func schema(for namespace: Namespace) -> CollectionSchema? {
        collections[namespace]?.schema
    }

    /// The schema of a namespace with its `validate` expressions parsed.
    public func validation(for namespace: Namespace) -> SchemaValidation? {
        validations[namespace]
    }

    /// `%%environment.tag`.
    public var environmentTag: String { definition.environmentTag }
    /// `%%environment.values`.
    public var environmentValues: BSONDocument { definition.environmentValues }
    /// Settings of the Data API, the standard ones for an app without any.
    public var dataAPI: DataAPIDefinition { definition.dataAPI ?? .standard }
}
