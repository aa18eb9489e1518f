public import Schemas

/// Switches of an app where the references leave a choice.
public struct RuleOptions: Sendable {
    /// D1: an absent half of `document_filters` permits instead of denying, as the vendor's table says.
    public var lenientDocumentFilters: Bool
    /// D10: callers may filter and sort on fields that they cannot read, as the hosted service let them.
    public var allowsHiddenFieldQueries: Bool
    /// How null is taken.
    public var schema: SchemaOptions

    /// The defaults deny.
    public init(
        lenientDocumentFilters: Bool = false,
        allowsHiddenFieldQueries: Bool = false,
        schema: SchemaOptions = SchemaOptions()
    ) {
        self.lenientDocumentFilters = lenientDocumentFilters
        self.allowsHiddenFieldQueries = allowsHiddenFieldQueries
        self.schema = schema
    }
}
