/// The mails that accounts need.
public enum AccountMailPurpose: String, Sendable {
    /// Whoever registered an address reads its mail.
    case confirm
    /// Whoever forgot a password chooses another.
    case reset
}

/// A mail's text with what stands in for its placeholders.
///
/// Shape: `%email%`, `%app%`, `%link%`, `%token%` and `%tokenId%` are replaced in one pass, so that a value
/// that looks like a placeholder stays as it is; other percent signs stay, too.
public struct AccountMail: Sendable {
    /// The address that it goes to.
    public let recipient: String
    /// One line.
    public let subject: String
    /// Plain text.
    public let body: String

    /// Fills a template in.
    ///
    /// - Parameters:
    ///   - subject: A template; control characters are taken out.
    ///   - body: A template.
    ///   - recipient: The account's email.
    ///   - app: The app's client app id.
    ///   - address: Where the link leads, without token.
    ///   - token: The token in clear.
    ///   - tokenID: Its id.
    public init(
        subject: String,
        body: String,
        recipient: String,
        app: String,
        address: String,
        token: String,
        tokenID: String
    ) {
        let values = [
            "email": recipient, "app": app, "token": token, "tokenId": tokenID,
            "link": Self.link(address, token: token, tokenID: tokenID),
        ]
        self.recipient = recipient
        self.subject = String(
            Self.filled(subject, values).unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }
                .map(Character.init)
        )
        self.body = Self.filled(body, values)
    }

    /// An address with token and token id in its query, before any fragment.
    ///
    /// Source: `reference/functions.md` §11, “query parameters”.
    static func link(_ address: String, token: String, tokenID: String) -> String {
        let parts = address.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let base = String(parts[0])
        let fragment = parts.count > 1 ? "#" + parts[1] : ""
        let joint = base.contains("?") ? (base.hasSuffix("?") || base.hasSuffix("&") ? "" : "&") : "?"
        return "\(base)\(joint)token=\(token)&tokenId=\(tokenID)\(fragment)"
    }

    private static func filled(_ template: String, _ values: [String: String]) -> String {
        var text = ""
        var rest = Substring(template)
        while let start = rest.firstIndex(of: "%") {
            text += rest[..<start]
            let after = rest.index(after: start)
            if let end = rest[after...].firstIndex(of: "%"), let value = values[String(rest[after..<end])] {
                text += value
                rest = rest[rest.index(after: end)...]
            } else {
                text.append("%")
                rest = rest[after...]
            }
        }
        return text + rest
    }
}
