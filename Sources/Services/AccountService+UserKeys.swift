public import Accounts
import BSON
public import Errors
import SQL

/// The API keys of the current user, by refresh token (client-api.md §7).
extension AccountService {
    /// Told whose token it is, once it is known to be ours.
    public typealias Identified = (_ appID: String, _ userID: String) -> Void

    /// Makes a key; the key itself is handed out this once.
    public func createKey(
        refreshToken: String?,
        name: String?,
        identified: Identified = { _, _ in }
    ) async throws(ServiceError) -> (key: String, description: UserAPIKey) {
        let (_, user, settings) = try await keyOwner(refreshToken, identified)
        _ = try provider(.apiKey, settings)
        guard let name, !name.isEmpty else { throw AccountFailure.keyNameMissing }
        guard name.utf8.count <= 64 else { throw AccountFailure.keyNameLength }
        guard APIKeyProvider.isName(name) else { throw AccountFailure.keyName }
        let identities = user.profile.identities.map(\.providerType)
        guard user.profile.kind == .normal,
            identities.contains(where: { $0 != ProviderConfiguration.Kind.anonymous.rawValue })
        else { throw AccountFailure.keysNotForUser }
        var random = SystemRandomNumberGenerator()
        let key = APIKeyProvider.makeKey(random: &random)
        guard let digest = APIKeyProvider.digest(key) else {
            throw ServiceError(.internalServerError, "the new key cannot be stored")
        }
        let id = newID().hex
        let rows = try await query(
            UserKeyStatements.create(
                appID: settings.appID,
                userID: user.profile.id,
                keyID: id,
                name: name,
                digest: digest
            )
        )
        switch rows.text(0, 0) {
        case "made": return (key, UserAPIKey(id: id, name: name, disabled: false))
        case "taken": throw AccountFailure.keyNameInUse
        case "full": throw AccountFailure.tooManyKeys
        default: throw AccountFailure.refreshTokenNotFound
        }
    }

    /// The caller's keys, oldest first.
    public func keys(
        refreshToken: String?,
        identified: Identified = { _, _ in }
    ) async throws(ServiceError) -> [UserAPIKey] {
        let (_, user, settings) = try await keyOwner(refreshToken, identified)
        return try UserKeyStatements.readList(
            try await query(UserKeyStatements.list(appID: settings.appID, userID: user.profile.id))
        )
    }

    /// One of the caller's keys.
    public func key(
        _ id: String,
        refreshToken: String?,
        identified: Identified = { _, _ in }
    ) async throws(ServiceError) -> UserAPIKey {
        let keys = try await keys(refreshToken: refreshToken, identified: identified)
        guard let key = keys.first(where: { $0.id == id }) else { throw AccountFailure.keyNotFound(id) }
        return key
    }

    /// Disables or enables one of the caller's keys, in every gateway from the next request on.
    public func setKey(
        _ id: String,
        disabled: Bool,
        refreshToken: String?,
        identified: Identified = { _, _ in }
    ) async throws(ServiceError) {
        let (token, user, settings) = try await keyOwner(refreshToken, identified)
        if disabled { try Self.checkNotInUse(id, token) }
        let rows = try await query(
            UserKeyStatements.set(
                appID: settings.appID,
                userID: user.profile.id,
                keyID: id,
                disabled: disabled
            )
        )
        guard rows.rowCount > 0 else { throw AccountFailure.keyNotFound(id) }
        forget(UserKey(appID: settings.appID, userID: user.profile.id))
    }

    /// Deletes one of the caller's keys, in every gateway from the next request on.
    public func deleteKey(
        _ id: String,
        refreshToken: String?,
        identified: Identified = { _, _ in }
    ) async throws(ServiceError) {
        let (token, user, settings) = try await keyOwner(refreshToken, identified)
        try Self.checkNotInUse(id, token)
        let rows = try await query(
            UserKeyStatements.drop(appID: settings.appID, userID: user.profile.id, keyID: id)
        )
        guard rows.rowCount > 0 else { throw AccountFailure.keyNotFound(id) }
        forget(UserKey(appID: settings.appID, userID: user.profile.id))
    }

    private func keyOwner(
        _ refreshToken: String?,
        _ identified: Identified
    ) async throws(ServiceError) -> (token: RefreshToken, user: User, settings: AccountSettings) {
        // A header with an empty token has an answer of its own here.
        if let refreshToken, refreshToken.isEmpty { throw AccountFailure.noBearer }
        return try await authenticate(refreshToken: refreshToken, identified: identified)
    }

    private static func checkNotInUse(_ id: String, _ token: RefreshToken) throws(ServiceError) {
        let isInUse =
            token.providerType == ProviderConfiguration.Kind.apiKey.rawValue && token.identityID == id
        guard !isInUse else { throw AccountFailure.keyInUse }
    }
}
