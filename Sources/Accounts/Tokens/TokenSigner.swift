import BSON
import Crypto
public import Errors

/// Signs and checks our own tokens: HS256 with the app's keys, nothing else.
///
/// The order of the checks is: form, algorithm, key, signature, then the claims; nothing of a token is
/// acted on before its signature holds. Source: `reference/client-api.md` §§4, 6.2.
public struct TokenSigner: Sendable {
    private let keys: SigningKeySet

    /// Made of its parts.
    public init(_ keys: SigningKeySet) {
        self.keys = keys
    }

    /// The text of an access token, or nil when no key may sign at this time, in seconds since 1970.
    public func sign(_ token: AccessToken, now: Int64) -> String? {
        sign(token.claims, now: now)
    }

    /// The text of a refresh token, or nil when no key may sign at this time.
    public func sign(_ token: RefreshToken, now: Int64) -> String? {
        sign(token.claims, now: now)
    }

    /// Checks an access token.
    ///
    /// Throws ``ServiceError`` with the text of the case; `unauthorized` for garbage and forgeries.
    public func accessToken(_ text: String, now: Int64) throws(ServiceError) -> AccessToken {
        let token = try checked(text, now: now, forgery: AccountFailure.malformedToken("signature"))
        try expect(AccessToken.type, token)
        guard let claims = AccessToken(token) else { throw AccountFailure.malformedToken("claims") }
        guard claims.appID == keys.appID else { throw AccountFailure.domainMismatch }
        guard claims.expiresAt > now else { throw AccountFailure.accessTokenExpired }
        return claims
    }

    /// Checks a refresh token; whether its session still stands is the service's to ask.
    public func refreshToken(_ text: String, now: Int64) throws(ServiceError) -> RefreshToken {
        let token = try checked(text, now: now, forgery: AccountFailure.signatureInvalid)
        try expect(RefreshToken.type, token)
        guard let claims = RefreshToken(token) else { throw AccountFailure.malformedToken("claims") }
        guard claims.appID == keys.appID else { throw AccountFailure.domainMismatch }
        guard claims.expiresAt > now else { throw AccountFailure.refreshTokenExpired }
        return claims
    }

    /// What a token says of the app and key it belongs to, unchecked: only for finding the keys.
    public static func claimedOrigin(of text: String) -> (appID: String, keyID: String)? {
        guard let token = JSONWebToken(text), let appID = token.objectID("baas_domain_id"),
            let keyID = token.keyID
        else { return nil }
        return (appID, keyID)
    }

    private func expect(_ type: String, _ token: JSONWebToken) throws(ServiceError) {
        guard let found = token.claims["typ"]?.string else { throw AccountFailure.malformedToken("typ") }
        guard found == type else { throw AccountFailure.tokenTypeMismatch }
    }

    private func checked(
        _ text: String,
        now: Int64,
        forgery: ServiceError
    ) throws(ServiceError) -> JSONWebToken {
        guard let token = JSONWebToken(text) else { throw AccountFailure.malformedToken("form") }
        guard token.algorithm == "HS256" else { throw AccountFailure.malformedToken("algorithm") }
        guard let keyID = token.keyID, let key = keys.verifier(keyID, now: now) else { throw forgery }
        guard
            HMAC<SHA256>.isValidAuthenticationCode(
                token.signature,
                authenticating: token.signedBytes,
                using: SymmetricKey(data: key.secret)
            )
        else { throw forgery }
        return token
    }

    private func sign(_ claims: [UInt8], now: Int64) -> String? {
        guard let key = keys.signer(now: now) else { return nil }
        var header: [UInt8] = Array(#"{"alg":"HS256","kid":"#.utf8)
        ExtendedJSON.writeCanonical(.string(key.id), to: &header)
        header += Array(#","typ":"JWT"}"#.utf8)
        var text = Base64.encodeBytes(header, .url)
        text.append(UInt8(ascii: "."))
        text += Base64.encodeBytes(claims, .url)
        let code = HMAC<SHA256>.authenticationCode(for: text, using: SymmetricKey(data: key.secret))
        text.append(UInt8(ascii: "."))
        text += Base64.encodeBytes(Array(code), .url)
        return String(decoding: text, as: UTF8.self)
    }
}
