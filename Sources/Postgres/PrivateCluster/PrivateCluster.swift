public import Errors

/// A PostgreSQL cluster of our own in a directory, reached by a Unix socket alone.
public final class PrivateCluster: Sendable {
    public enum Durability: Sendable { case durable, none }
    public init(directory: String, durability: Durability = .durable) { fatalError("in the next commit") }
    /// Makes the cluster when there is none, and starts it.
    public func start() async throws(ServiceError) { fatalError("in the next commit") }
    public func stop() async { fatalError("in the next commit") }
    /// For a database of the cluster; `tidegate` is made by `start`.
    public func connectionString(database: String = "tidegate") -> String { fatalError("in the next commit") }
}
