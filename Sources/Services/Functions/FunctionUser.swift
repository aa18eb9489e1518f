import Accounts
import BSON

/// `context.user` as functions see a caller.
///
/// Source: `reference/functions.md` §4.2. The provider's key is `provider_type` here, and `providerType` in rules.
enum FunctionUser {
    private static let system: BSONDocument = [
        "type": "system", "data": [:], "custom_data": [:], "identities": [],
    ]

    /// - Parameters:
    ///   - principal: The caller; nobody and the system are the system user, which has no id.
    ///   - hidesData: Whether the function runs as the system on behalf of a user, whose `data` is empty then.
    /// - Returns: The document.
    static func document(_ principal: Principal?, hidesData: Bool) -> BSONDocument {
        guard case .user(let profile)? = principal else {
            return system
        }
        return [
            "id": .string(profile.id), "type": .string(profile.kind.rawValue),
            "data": .document(hidesData ? [:] : profile.data),
            "custom_data": .document(profile.customData ?? [:]),
            "identities": .array(
                profile.identities.map { identity in
                    [
                        "id": .string(identity.id), "provider_type": .string(identity.providerType),
                        "data": .document(identity.data),
                    ]
                }
            ),
        ]
    }
}
