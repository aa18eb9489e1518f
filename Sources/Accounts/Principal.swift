public import BSON

/// The caller of one request.
public enum Principal: Sendable {
    /// Rules, filters and schemas do not apply.
    case system
    case user(UserProfile)
}

/// What rules and answers may know of a user.
public struct UserProfile: Sendable, Equatable {
    /// What made the user: a person, or a server API key.
    public enum Kind: String, Sendable {
        case normal
        case server
    }

    /// One way in which the user logs in.
    public struct Identity: Sendable, Hashable {
        /// 24 hexadecimal digits.
        public let id: String
        /// The provider by name, such as `local-userpass`.
        public let providerType: String
        /// 24 hexadecimal digits.
        public let providerID: String
        /// What the provider said of the user: `{email: …}`.
        public let data: BSONDocument

        /// Made of its parts.
        public init(id: String, providerType: String, providerID: String, data: BSONDocument) {
            self.id = id
            self.providerType = providerType
            self.providerID = providerID
            self.data = data
        }
    }

    /// 24 hexadecimal digits.
    public let id: String
    /// Which provider it is.
    public let kind: Kind
    /// The union of all identities' data.
    public let data: BSONDocument
    /// The custom-user-data document, when the app has one for this user.
    public let customData: BSONDocument?
    /// In the order in which they were linked.
    public let identities: [Identity]

    /// Made of its parts.
    public init(
        id: String,
        kind: Kind,
        data: BSONDocument,
        customData: BSONDocument?,
        identities: [Identity]
    ) {
        self.id = id
        self.kind = kind
        self.data = data
        self.customData = customData
        self.identities = identities
    }
}
