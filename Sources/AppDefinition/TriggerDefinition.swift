public import BSON

/// A trigger.
///
/// Source: `reference/app-config.md` §9; `reference/functions.md` §13.
public struct TriggerDefinition: Sendable {
    /// What sets it off.
    public enum Kind: String, Sendable {
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
    /// What it follows; nil for what is not served, which the import names.
    public let source: TriggerSource?
}
