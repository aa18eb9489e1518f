public import AppDefinition
public import Errors
public import Observability
public import Postgres

/// All apps of the database, each as the newest snapshot that checks.
///
/// ``load()`` once at start, then ``run()`` as long as the process lives. ``app(clientAppID:)`` is called by every
/// request: it takes one uncontended lock and never waits for a load.
public final class AppRegistry: Sendable {
    public init(database: Database, observer: Observer? = nil) { fatalError("in the next commit") }

    /// Reads all apps; an app whose configuration does not check is left out and the reason recorded.
    public func load() async throws(ServiceError) { fatalError("in the next commit") }

    /// Follows `tidegate_config` until cancelled: reloads what changed, everything after a reconnection.
    public func run() async { fatalError("in the next commit") }

    /// The snapshot of an app by the id in URLs.
    public func app(clientAppID: String) -> AppSnapshot? { fatalError("in the next commit") }

    /// All snapshots in force.
    public var apps: [AppSnapshot] { fatalError("in the next commit") }
}
