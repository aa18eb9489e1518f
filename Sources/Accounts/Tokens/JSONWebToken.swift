public import BSON

/// A JWT taken apart, not yet believed.
///
/// Both JSON parts are read once by the Extended JSON reader, which refuses duplicate members: two
/// readers that keep different ones of a pair would disagree about who the caller is.
public struct JSONWebToken: Sendable {
    /// The first part.
    public let header: BSONDocument
    /// The second part.
    public let claims: BSONDocument
    /// Header, dot, claims, as they were signed.
    let signedBytes: [UInt8]
    let signature: [UInt8]

    /// A document of the deepest kind still fits into a claim.
    private static let limits = ReadLimits(depth: 110, nodes: 200_000)

    /// Takes a text apart; nil for anything that is no JWT.
    ///
    /// - Parameters:
    ///   - text: Three parts in strict base64url.
    ///   - maximumCharacters: Longer texts are refused unread.
    public init?(_ text: String, maximumCharacters: Int = 1_000_000) {
        let bytes = Array(text.utf8)
        guard bytes.count <= maximumCharacters else { return nil }
        let dot = UInt8(ascii: ".")
        guard let first = bytes.firstIndex(of: dot),
            let second = bytes[(first + 1)...].firstIndex(of: dot),
            !bytes[(second + 1)...].contains(dot), first > 0, second > first + 1, second < bytes.count - 1
        else { return nil }
        guard let headerBytes = Base64.decode(bytes: bytes[..<first], .url),
            let claimBytes = Base64.decode(bytes: bytes[(first + 1)..<second], .url),
            let signature = Base64.decode(bytes: bytes[(second + 1)...], .url),
            let header = try? ExtendedJSON.readDocument(headerBytes, limits: Self.limits),
            let claims = try? ExtendedJSON.readDocument(claimBytes, limits: Self.limits)
        else { return nil }
        // Extensions that must be understood are not: RFC 7515 §4.1.11 says to refuse.
        guard header["crit"] == nil else { return nil }
        self.header = header
        self.claims = claims
        self.signature = signature
        signedBytes = Array(bytes[..<second])
    }

    /// The name of the algorithm that the header claims.
    public var algorithm: String? { header["alg"]?.string }

    /// Which key the header says it was signed with; never a path, address or key itself.
    public var keyID: String? { header["kid"]?.string }

    /// A claim of whole or fractional seconds since 1970.
    func seconds(_ claim: String) -> Int64? {
        switch claims[claim] {
        case .int32(let value)?: Int64(value)
        case .int64(let value)?: value
        case .double(let value)?: Int64(exactly: value.rounded(.down))
        default: nil
        }
    }
}
