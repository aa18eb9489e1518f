public import Accounts
public import BSON
public import MQL

/// A whole app, read and checked: what a gateway serves.
///
/// Made by ``AppConfigurationParser`` from a ``ConfigurationTree``. What an app holds beyond this (hosting,
/// GraphQL, services of third parties) stays in the tree for export.
public struct AppConfiguration: Sendable {
    /// 1–64 characters `[A-Za-z0-9_-]`.
    public let name: String
    /// The app id that the tree names, `todo-abcde`; nil in most published trees.
    public let clientAppID: String?
    /// The environment in force: empty, `development`, `testing`, `qa` or `production`.
    public let environmentTag: String
    /// `%%environment.values` of the environment in force.
    public let environmentValues: BSONDocument
    /// Browsers from other origins are refused when this is not empty.
    public let allowedRequestOrigins: [String]
    /// Whether callers may filter and sort on fields that they cannot read; apps of the hosted service could.
    public let allowsHiddenFieldQueries: Bool
    /// How long a session lasts; nil is the standard.
    public let refreshTokenLifetimeSeconds: Int?
    /// `US-VA`, `IE`, …; for the `location` answer.
    public let location: String
    /// `GLOBAL` or `LOCAL`; for the `location` answer.
    public let deploymentModel: String
    /// Values that rules and functions read, by name in order.
    public let values: [ValueDefinition]
    /// Names of all secrets that something refers to, each with the first place.
    public let referencedSecrets: [SecretReference]
    /// Linked data sources, by name in order.
    public internal(set) var dataSources: [DataSource]
    /// Functions, by name in order.
    public let functions: [FunctionDefinition]
    /// Custom HTTPS endpoints.
    public let endpoints: [EndpointDefinition]
    /// Nil when the app has no Data API.
    public let dataAPI: DataAPIDefinition?
    /// By name; an absent one is disabled.
    public let providers: [String: ProviderConfiguration]
    /// Nil when not enabled.
    public let customUserData: CustomUserDataConfiguration?
    /// Nil when the app says nothing of sync.
    public let sync: SyncDefinition?
    /// Triggers, by name in order; they do not run yet.
    public let triggers: [TriggerDefinition]

    /// The data source of that name, byte by byte.
    public func dataSource(_ name: String) -> DataSource? {
        dataSources.first { TextOrder.equal($0.name, name) }
    }

    /// Every collection that the app names, by rules or by schema.
    public var namespaces: [Namespace] {
        dataSources.flatMap { source in
            source.collections.map {
                Namespace(dataSource: source.name, database: $0.database, collection: $0.collection)
            }
        }
    }
}

/// A secret that something refers to.
public struct SecretReference: Sendable, Hashable {
    /// As `tidegate.set_secret` takes it.
    public let name: String
    /// The first place that refers to it.
    public let place: Place
    /// What does not work without it: `provider custom-token`, `value apiKey`.
    public let dependent: String
}
