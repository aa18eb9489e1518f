/// The settings of Device Sync. Kept and checked; sync is not served yet.
///
/// Source: `reference/app-config.md` §8.
public struct SyncDefinition: Sendable, Hashable {
    public let isEnabled: Bool
    /// `flexible` or `partition`.
    public let kind: String
    public let developmentMode: Bool
    public let dataSource: String?
    public let database: String?
    public let queryableFields: [String]
    public let queryableFieldsByCollection: [String: [String]]
    public let indexedQueryableFields: [String]
    public let asymmetricCollections: [String]
    /// How long a device may stay away, in days.
    public let maxOfflineDays: Int?

    /// The queryable fields of one collection.
    public func queryableFields(of collection: String) -> [String] {
        queryableFields + (queryableFieldsByCollection[collection] ?? [])
    }
}
