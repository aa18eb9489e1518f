public import Accounts
import Crypto
public import Errors

extension AccountService {
    /// Checks an access token of the client API.
    ///
    /// - Parameters:
    ///   - text: The bearer token; nil without an `Authorization` header.
    ///   - settings: The app in the path; nil where the app follows from the token.
    ///   - identified: Told whose token it is, once it is known to be ours.
    /// - Returns: The caller.
    /// - Throws: ``ServiceError`` as `reference/client-api.md` §6.2 lists them.
    public func authenticate(
        accessToken text: String?,
        _ settings: AccountSettings? = nil,
        identified: (_ appID: String, _ userID: String) -> Void = { _, _ in }
    ) async throws(ServiceError) -> AuthenticatedUser {
        guard let text else { throw AccountFailure.mustAuthenticate }
        let (settings, claims) = try await accessToken(text, settings)
        identified(claims.appID, claims.userID)
        guard let user = try await user(UserKey(appID: settings.appID, userID: claims.userID)),
            user.accepts(claims)
        else { throw AccountFailure.userNotFound }
        return AuthenticatedUser(token: claims, user: user, settings: settings)
    }

    /// The claims of an access token that is ours, whole and not expired.
    func accessToken(
        _ text: String,
        _ settings: AccountSettings?
    ) async throws(ServiceError) -> (AccountSettings, AccessToken) {
        let digest = SHA256.hash(data: Array(text.utf8))
        if let claims = principals.token(digest, now: .min) {
            guard let settings = settings ?? apps(claims.appID) else {
                throw AccountFailure.malformedToken("unknown app")
            }
            guard claims.appID == settings.appID else { throw AccountFailure.domainMismatch }
            guard claims.expiresAt > seconds else { throw AccountFailure.accessTokenExpired }
            return (settings, claims)
        }
        let generation = principals.generation()
        let (settings, signer) = try await signer(for: text, settings)
        let claims = try signer.accessToken(text, now: seconds)
        principals.store(claims, digest: digest, read: generation)
        return (settings, claims)
    }

    /// The claims of a refresh token that is ours, whole and not expired; its session is not looked at.
    func refreshToken(_ text: String) async throws(ServiceError) -> (AccountSettings, RefreshToken) {
        let (settings, signer) = try await signer(for: text, nil)
        return (settings, try signer.refreshToken(text, now: seconds))
    }

    private func signer(
        for text: String,
        _ settings: AccountSettings?
    ) async throws(ServiceError) -> (AccountSettings, TokenSigner) {
        guard let origin = TokenSigner.claimedOrigin(of: text) else {
            throw AccountFailure.malformedToken("form")
        }
        guard let settings = settings ?? apps(origin.appID) else {
            throw AccountFailure.malformedToken("unknown app")
        }
        guard origin.appID == settings.appID else { throw AccountFailure.domainMismatch }
        return (settings, try await signer(appID: settings.appID, keyID: origin.keyID))
    }
}
