public import Rules
public import Schemas

/// A linked data source and its collections.
public struct DataSource: Sendable {
    /// What `type` says.
    public enum Kind: String, Sendable, Hashable {
        case cluster = "mongodb-atlas"
        /// A server by address, in test set-ups.
        case server = "mongodb"
        /// Data federation: no rules, only system functions.
        case federation = "datalake"
    }

    /// The name in requests: `mongodb-atlas`.
    public let name: String
    /// What it was linked to.
    public let kind: Kind
    /// Rules of the collections that have none of their own; nil when there is no file.
    public let defaultRules: CollectionRules?
    /// Collections of which the app says something.
    public let collections: [CollectionDefinition]
}

/// What an app says of one collection.
public struct CollectionDefinition: Sendable {
    /// As clients name it.
    public let database: String
    /// As clients name it.
    public let collection: String
    /// Nil when there is no file, or when it has no role: then the default rules apply.
    public let rules: CollectionRules?
    /// Nil when there is no file, or `{}`.
    public let schema: CollectionSchema?
    /// Links to other collections; reads never expand them.
    public let relationships: [Relationship]
}

/// A field that holds the key of a document elsewhere.
///
/// Reads never expand it. /// Source: `reference/rules.md` §15.
public struct Relationship: Sendable, Hashable {
    /// The path of the field; `[]` stands for the elements of an array.
    public let field: String
    /// Where the document elsewhere lies.
    public let dataSource: String
    /// Its database.
    public let database: String
    /// Its collection.
    public let collection: String
    /// The field there that holds the same value.
    public let foreignKey: String
    /// The field holds an array of keys.
    public let isList: Bool
}
