/// The settings of Device Sync.
///
/// Source: `reference/app-config.md` §8; `sync-semantics.md` §1.4.
public struct SyncDefinition: Sendable, Hashable {
    /// The file says `enabled`.
    public let isEnabled: Bool
    /// `flexible` or `partition`.
    public let kind: String
    /// Devices may change schemas.
    public let developmentMode: Bool
    /// The data source that syncs.
    public let dataSource: String?
    /// The database of collections made in development mode.
    public let database: String?
    /// Fields of all collections that subscriptions may name.
    public let queryableFields: [String]
    /// The same by collection.
    public let queryableFieldsByCollection: [String: [String]]
    /// At most one.
    public let indexedQueryableFields: [String]
    /// Collections that devices only write.
    public let asymmetricCollections: [String]
    /// How long a device may stay away, in days.
    public let maxOfflineDays: Int?
    /// Devices that must begin anew lose what they have not synced.
    public let forbidsRecovery: Bool

    /// The queryable fields of one collection.
    public func queryableFields(of collection: String) -> [String] {
        queryableFields + (queryableFieldsByCollection[collection] ?? [])
    }
}
