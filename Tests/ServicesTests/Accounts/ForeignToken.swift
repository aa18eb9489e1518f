import Crypto
import Foundation

/// Tokens as an app's own issuer would make them.
enum ForeignToken {
    /// Signed with the fixture's secret; `expires` is in seconds from now.
    static func hs256(
        subject: String,
        audience: String,
        expires: Int = 300,
        more: String = "",
        header: String = #"{"alg":"HS256","typ":"JWT"}"#
    ) throws -> String {
        let exp = Int(Date().timeIntervalSince1970) + expires
        let claims = #"{"sub":"\#(subject)","aud":"\#(audience)","exp":\#(exp)\#(more)}"#
        let text = encode(Data(header.utf8)) + "." + encode(Data(claims.utf8))
        let code = HMAC<SHA256>.authenticationCode(
            for: Data(text.utf8),
            using: SymmetricKey(data: Data(AccountFixture.jwtSecret.utf8))
        )
        return text + "." + encode(Data(code))
    }

    static func encode(_ data: Data) -> String {
        data.base64EncodedString().replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
    }
}
