public import BSON

/// An app's configuration as documents, in the newest layout, whatever layout it came in.
///
/// Both forms of an app lead here and from here: ``ConfigurationTreeReader`` makes it from files of any
/// version, the app store from tables; ``ConfigurationTreeWriter`` makes files, the app store rows. Templates
/// and secrets are not resolved, so that an export says what was imported.
public struct ConfigurationTree: Sendable, Hashable {
    /// A document and where it came from, for messages.
    public struct Node: Sendable, Hashable {
        /// What the file says.
        public var document: BSONDocument
        /// Where it says so.
        public var place: Place

        /// A document from a file or a row.
        public init(_ document: BSONDocument, at place: Place) {
            self.document = document
            self.place = place
        }

        /// Two nodes are equal when they say the same; where they were read does not count.
        public static func == (left: Node, right: Node) -> Bool { left.document == right.document }
        /// Agrees with `==`.
        public func hash(into hasher: inout Hasher) { hasher.combine(document) }
    }

    /// One data source.
    public struct Source: Sendable, Hashable {
        /// `data_sources/<name>/config.json`.
        public var config: Node
        /// `data_sources/<name>/default_rule.json`.
        public var defaultRule: Node?
        /// By database, then by collection.
        public var collections: [CollectionKey: Collection] = [:]

        /// A data source without collections.
        public init(config: Node, defaultRule: Node? = nil) {
            self.config = config
            self.defaultRule = defaultRule
        }
    }

    /// A collection's address in its data source.
    public struct CollectionKey: Sendable, Hashable, Comparable {
        /// As clients name it.
        public let database: String
        /// As clients name it.
        public let collection: String

        /// An address.
        public init(database: String, collection: String) {
            self.database = database
            self.collection = collection
        }

        /// By database, then by collection.
        public static func < (left: CollectionKey, right: CollectionKey) -> Bool {
            (left.database, left.collection) < (right.database, right.collection)
        }
    }

    /// The files of one collection.
    public struct Collection: Sendable, Hashable {
        /// `rules.json`.
        public var rules: Node?
        /// `schema.json`.
        public var schema: Node?
        /// `relationships.json`.
        public var relationships: Node?

        /// A collection with the files that it has.
        public init(rules: Node? = nil, schema: Node? = nil, relationships: Node? = nil) {
            self.rules = rules
            self.schema = schema
            self.relationships = relationships
        }
    }

    /// One function.
    public struct Function: Sendable, Hashable {
        /// Its entry in `functions/config.json`.
        public var config: Node
        /// JavaScript.
        public var source: String

        /// A function.
        public init(config: Node, source: String) {
            self.config = config
            self.source = source
        }
    }

    /// `root_config.json` without name, app id, environment and version.
    public var root: Node
    /// The app's name, its identity for imports.
    public var name: String
    /// The app id that the root file names.
    public var clientAppID: String?
    /// The environment in force; empty for none.
    public var environmentTag: String
    /// The layout that an export takes: 20210101 or 20230101.
    ///
    /// Older trees come out as 20210101.
    public var version: Int
    /// By tag; the empty tag is `no-environment`.
    public var environments: [String: Node] = [:]
    /// By name.
    public var values: [String: Node] = [:]
    /// Content by name; from a hand-made `secrets.json` or the database, never written to files.
    public var secrets: [String: String] = [:]
    /// By name.
    public var sources: [String: Source] = [:]
    /// By name, folders with slashes.
    public var functions: [String: Function] = [:]
    /// In the order of the file.
    public var endpoints: [Node] = []
    /// By name, which is their type.
    public var providers: [String: Node] = [:]
    /// `auth/custom_user_data.json`.
    public var customUserData: Node?
    /// `auth/mail_templates.json`, which is our own: what the app's mails say, by purpose.
    public var mailTemplates: Node?
    /// `data_api_config.json`.
    public var dataAPI: Node?
    /// `sync/config.json`.
    public var sync: Node?
    /// By name.
    public var triggers: [String: Node] = [:]
    /// What is kept for export alone, byte for byte.
    public var otherFiles: [String: [UInt8]] = [:]

    /// A tree with a root file alone.
    public init(name: String, root: Node) {
        self.name = name
        self.root = root
        clientAppID = nil
        environmentTag = ""
        version = 20_230_101
    }
}
