public import BSON

/// An account as it is stored, with what decides whether its tokens count.
public struct User: Sendable {
    /// 24 hexadecimal digits of the app.
    public let appID: String
    /// Everything but the custom user data, which lies elsewhere.
    public let profile: UserProfile
    /// Whether logins and tokens are refused.
    public let disabled: Bool
    /// Access tokens issued before this second are void; 0 when there was never a reason.
    public let tokensValidFrom: Int64
    /// Sessions that ended so lately that access tokens of theirs may still be about.
    public let endedSessions: Set<String>

    /// Made of its parts.
    public init(
        appID: String,
        profile: UserProfile,
        disabled: Bool,
        tokensValidFrom: Int64,
        endedSessions: Set<String> = []
    ) {
        self.appID = appID
        self.profile = profile
        self.disabled = disabled
        self.tokensValidFrom = tokensValidFrom
        self.endedSessions = endedSessions
    }

    /// Whether an access token may still be used.
    public func accepts(_ token: AccessToken) -> Bool {
        !disabled && token.issuedAt >= tokensValidFrom && !endedSessions.contains(token.sessionID)
    }

    /// The same account with another profile.
    public func with(_ profile: UserProfile) -> User {
        User(
            appID: appID,
            profile: profile,
            disabled: disabled,
            tokensValidFrom: tokensValidFrom,
            endedSessions: endedSessions
        )
    }
}

extension UserProfile {
    /// The same user with a custom user data document.
    public func with(customData: BSONDocument?) -> UserProfile {
        UserProfile(id: id, kind: kind, data: data, customData: customData, identities: identities)
    }

    /// The body of `GET auth/profile`.
    ///
    /// Source: `reference/client-api.md` §5.
    public func document(appID: String) -> BSONDocument {
        var document: BSONDocument = [
            "user_id": .string(id), "domain_id": .string(appID),
            "identities": .array(
                identities.map { identity in
                    var entry: BSONDocument = [
                        "id": .string(identity.id), "provider_type": .string(identity.providerType),
                        "provider_id": .string(identity.providerID),
                    ]
                    if !identity.data.isEmpty { entry.append("provider_data", .document(identity.data)) }
                    return .document(entry)
                }
            ),
            "data": .document(data), "type": .string(kind.rawValue),
        ]
        // `realm-core` reads another name for the picture than `realm-web`.
        if let picture = data["picture"], data["picture_url"] == nil {
            var doubled = data
            doubled.append("picture_url", picture)
            document["data"] = .document(doubled)
        }
        if let customData { document.append("custom_data", .document(customData)) }
        return document
    }
}
