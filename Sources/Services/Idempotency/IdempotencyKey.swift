import Accounts
import Crypto
public import Errors

/// The name that a caller gives to one write, so that it may be sent again without being done again.
public struct IdempotencyKey: Sendable {
    /// The most characters of a key.
    public static let maxLength = 255

    let app: String
    /// Empty for the system.
    let user: String
    let name: String
    /// What the key stands for: SHA-256 of the action and the body.
    let fingerprint: [UInt8]

    /// A key as it stands in the header.
    ///
    /// - Parameters:
    ///   - name: 1 to 255 visible ASCII characters.
    ///   - context: Who sends it, to which app.
    ///   - action: What is asked, as far as the body does not say it.
    ///   - body: The body as it came.
    /// - Throws: ``ServiceError`` `invalidParameter`.
    public init(
        _ name: String,
        _ context: CallContext,
        action: String,
        body: [UInt8]
    ) throws(ServiceError) {
        guard !name.isEmpty, name.utf8.count <= Self.maxLength,
            name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else {
            throw ServiceError(
                .invalidParameter,
                "'Idempotency-Key' must be 1 to \(known: Self.maxLength) visible ASCII characters",
                details: ["Idempotency-Key": "1 to \(Self.maxLength) visible ASCII characters"]
            )
        }
        self.name = name
        app = context.app.id
        user = if case .user(let profile) = context.principal { profile.id } else { "" }
        var hash = SHA256()
        hash.update(data: Array(action.utf8))
        hash.update(data: [0])
        hash.update(data: body)
        fingerprint = Array(hash.finalize())
    }
}

/// An answer that is kept, to be given again.
public struct RememberedAnswer: Sendable {
    /// The HTTP status.
    public let status: Int
    /// The media type of the body.
    public let contentType: String
    /// UTF-8 text.
    public let body: [UInt8]

    /// Made of its parts.
    public init(status: Int, contentType: String, body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }
}
