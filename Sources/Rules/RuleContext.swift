public import BSON

/// Everything that rules may know before a document is seen: what `%%user`, `%%values`,
/// `%%environment` and `%%request` expand to.
///
/// Source: `rules.md` §8.4.
public struct RuleContext: Sendable {
    /// nil where nobody is logged in: every `%%user` expansion is then missing.
    public var user: RuleUser?
    /// The app's values by name.
    public var values: BSONDocument
    /// Empty, `development`, `testing`, `qa` or `production`.
    public var environmentTag: String
    /// The values of the current environment by name.
    public var environmentValues: BSONDocument
    /// Asked when an expansion needs it; nil outside HTTP: every `%%request` expansion is then missing.
    public var request: @Sendable () -> RuleRequest?
    /// What `%%partition` expands to; nil outside of partition-based sync.
    public var partition: BSONValue?
    /// What functions answered; nil where none can be asked: every `%function` is then missing.
    public var answers: FunctionAnswers?

    /// What is known; the rest is missing.
    public init(
        user: RuleUser?,
        values: BSONDocument = [:],
        environmentTag: String = "",
        environmentValues: BSONDocument = [:],
        request: @autoclosure @escaping @Sendable () -> RuleRequest? = nil,
        partition: BSONValue? = nil,
        answers: FunctionAnswers? = nil
    ) {
        self.user = user
        self.values = values
        self.environmentTag = environmentTag
        self.environmentValues = environmentValues
        self.request = request
        self.partition = partition
        self.answers = answers
    }
}

/// The caller, as rules see it.
public struct RuleUser: Sendable {
    /// One way in which the user logs in.
    public struct Identity: Sendable, Hashable {
        /// The identity's id.
        public let id: String
        /// The provider: `local-userpass`, `anon-user`, `api-key`, `custom-token`.
        public let providerType: String

        /// An identity.
        public init(id: String, providerType: String) {
            self.id = id
            self.providerType = providerType
        }
    }

    /// 24 hexadecimal digits.
    public var id: String
    /// `normal` or `server`.
    public var type: String
    /// What the providers say of the user: `{email: …}`.
    public var data: BSONDocument
    /// The custom-user-data document; nil where there is none.
    public var customData: BSONDocument?
    /// The ways in which the user logs in.
    public var identities: [Identity]

    /// A user as the account service knows it.
    public init(
        id: String,
        type: String = "normal",
        data: BSONDocument = [:],
        customData: BSONDocument? = nil,
        identities: [Identity] = []
    ) {
        self.id = id
        self.type = type
        self.data = data
        self.customData = customData
        self.identities = identities
    }

    /// The user as a document, with the keys that expansions use.
    var document: BSONDocument {
        var document: BSONDocument = ["id": .string(id), "type": .string(type), "data": .document(data)]
        if let customData { document.append("custom_data", .document(customData)) }
        document.append(
            "identities",
            .array(identities.map { ["id": .string($0.id), "providerType": .string($0.providerType)] })
        )
        return document
    }
}
