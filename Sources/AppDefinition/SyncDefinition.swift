public import Rules

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
    /// How documents are parted: of partition-based sync, and of Flexible Sync that was migrated from it.
    public let partition: PartitionDefinition?

    /// Whether devices hold a partition each, rather than what they subscribe.
    public var isPartitioned: Bool { kind == "partition" }

    /// The queryable fields of one collection.
    public func queryableFields(of collection: String) -> [String] {
        queryableFields + (queryableFieldsByCollection[collection] ?? [])
    }
}

/// What makes the partitions of partition-based sync.
///
/// Source: `sync-semantics.md` §16.
public struct PartitionDefinition: Sendable, Hashable {
    /// What a partition is named by; the raw value is the name in the file.
    public enum KeyType: String, Sendable, Hashable, CaseIterable {
        case string
        case objectID = "objectId"
        case long
        case uuid
    }

    /// The field by whose value documents are parted.
    public let key: String
    /// The type of its values.
    public let type: KeyType
    /// Whether documents without the field are in no partition; else they are in the one of null.
    public let isRequired: Bool
    /// Who may open a partition; speaks of `%%partition` and of no document.
    public let read: RuleExpression
    /// Who may write to it, and so open it.
    public let write: RuleExpression
}
