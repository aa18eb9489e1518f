public import BSON

/// An app's configuration as documents, in the newest layout, whatever layout it came in.
///
/// Both forms of an app lead here and from here: ``ConfigurationTreeReader`` makes it from files of any
/// version, the app store from tables; ``ConfigurationTreeWriter`` makes files, the app store rows. Templates
/// and secrets are not resolved, so that an export says what was imported.
public struct ConfigurationTree: Sendable, Hashable {
    /// A document and where it came from, for messages.
    public struct Node: Sendable, Hashable {
        public var document: BSONDocument
        public var place: Place

        public init(_ document: BSONDocument, at place: Place) {
            self.document = document
            self.place = place
        }

        // Two trees are equal when they say the same; where it was read does not count.
        public static func == (left: Node, right: Node) -> Bool { left.document == right.document }
        public func hash(into hasher: inout Hasher) { hasher.combine(document) }
    }

    /// One data source.
    public struct Source: Sendable, Hashable {
        public var config: Node
        public var defaultRule: Node?
        /// By database, then by collection.
        public var collections: [CollectionKey: Collection] = [:]

        public init(config: Node, defaultRule: Node? = nil) {
            self.config = config
            self.defaultRule = defaultRule
        }
    }

    /// A collection's address in its data source.
    public struct CollectionKey: Sendable, Hashable, Comparable {
        public let database: String
        public let collection: String

        public init(database: String, collection: String) {
            self.database = database
            self.collection = collection
        }

        public static func < (left: CollectionKey, right: CollectionKey) -> Bool {
            (left.database, left.collection) < (right.database, right.collection)
        }
    }

    /// The files of one collection.
    public struct Collection: Sendable, Hashable {
        public var rules: Node?
        public var schema: Node?
        public var relationships: Node?

        public init(rules: Node? = nil, schema: Node? = nil, relationships: Node? = nil) {
            self.rules = rules
            self.schema = schema
            self.relationships = relationships
        }
    }

    /// One function.
    public struct Function: Sendable, Hashable {
        public var config: Node
        public var source: String

        public init(config: Node, source: String) {
            self.config = config
            self.source = source
        }
    }

    /// `root_config.json` without name, app id, environment and version.
    public var root: Node
    public var name: String
    public var clientAppID: String?
    public var environmentTag: String
    /// The layout that an export takes: 20210101 or 20230101. Older trees come out as 20210101.
    public var version: Int
    /// By tag; the empty tag is `no-environment`.
    public var environments: [String: Node] = [:]
    public var values: [String: Node] = [:]
    /// Content by name; from a hand-made `secrets.json` or the database, never written to files.
    public var secrets: [String: String] = [:]
    public var sources: [String: Source] = [:]
    public var functions: [String: Function] = [:]
    public var endpoints: [Node] = []
    public var providers: [String: Node] = [:]
    public var customUserData: Node?
    public var dataAPI: Node?
    public var sync: Node?
    public var triggers: [String: Node] = [:]
    /// What is kept for export alone, byte for byte.
    public var otherFiles: [String: [UInt8]] = [:]

    public init(name: String, root: Node) {
        self.name = name
        self.root = root
        clientAppID = nil
        environmentTag = ""
        version = 20_230_101
    }
}
