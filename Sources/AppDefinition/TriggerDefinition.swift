public import BSON

/// A trigger.
///
/// Kept and checked; triggers are not served yet. /// Source: `reference/app-config.md` §9.
public struct TriggerDefinition: Sendable, Hashable {
    /// What sets it off.
    public enum Kind: String, Sendable, Hashable {
        case database = "DATABASE"
        case authentication = "AUTHENTICATION"
        case scheduled = "SCHEDULED"
    }

    /// Unique in the app.
    public let name: String
    /// What sets it off.
    public let kind: Kind
    /// It never runs.
    public let isDisabled: Bool
    /// The function that it runs; nil when it goes elsewhere.
    public let functionName: String?
    /// The settings of its kind, as the file says.
    public let config: BSONDocument
}
