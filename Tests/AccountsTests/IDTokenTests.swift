import BSON
import Crypto
import Errors
import Foundation
import Testing

@testable import Accounts

@Suite("Id tokens")
struct IDTokenTests {
    private static let now: Int64 = 1_700_000_000
    private static let key = P256.Signing.PrivateKey()

    private static func encode(_ data: some DataProtocol) -> String {
        Data(data).base64EncodedString().replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
    }

    /// Signed with ES256; the parts of the claims can be replaced.
    private static func token(
        issuer: String = "https://accounts.google.com",
        audience: String = #""client-1""#,
        expires: Int64 = now + 300,
        more: String = "",
        algorithm: String = "ES256"
    ) throws -> String {
        let claims = #"{"iss":"\#(issuer)","aud":\#(audience),"sub":"107","exp":\#(expires)\#(more)}"#
        let text =
            encode(Data(#"{"alg":"\#(algorithm)","kid":"k1"}"#.utf8)) + "." + encode(Data(claims.utf8))
        return text + "." + encode(try key.signature(for: Data(text.utf8)).rawRepresentation)
    }

    private static func provider(
        _ kind: ProviderConfiguration.Kind = .google,
        clientID: String? = "client-1",
        domains: [String] = [],
        fields: [MetadataField] = []
    ) -> IDTokenProvider {
        let origin = OAuthSettings.standardOrigin(kind)
        return IDTokenProvider(
            kind: kind,
            settings: OAuthSettings(
                clientID: clientID,
                clientSecretName: nil,
                openID: true,
                redirectURIs: [],
                domainRestrictions: domains,
                issuers: origin.issuers,
                keySetAddress: origin.keys
            ),
            metadataFields: fields
        )
    }

    private func decide(_ provider: IDTokenProvider, _ text: String) throws -> CustomTokenProvider.Decision {
        try provider.decide(try #require(JSONWebToken(text)), now: Self.now)
    }

    @Test("names the user by `sub`, and tells the fields that the app lists")
    func accepted() throws {
        let more = #","given_name":"Ann","email":"ann@example.com","picture":"https://p""#
        let fields = [
            MetadataField(required: true, name: "email"), MetadataField(required: false, name: "first_name"),
            MetadataField(required: false, name: "last_name"),
        ]
        let decision = try decide(Self.provider(fields: fields), try Self.token(more: more))
        #expect(decision.identityID == "107")
        #expect(decision.data == ["email": "ann@example.com", "first_name": "Ann"])
        let apple = try decide(
            Self.provider(.apple),
            try Self.token(issuer: "https://appleid.apple.com", more: more)
        )
        #expect(apple.data == ["email": "ann@example.com"])
    }

    @Test("must come from the provider, for this app, in time")
    func refused() throws {
        let good = Self.provider()
        for text in [
            try Self.token(issuer: "https://evil.example"), try Self.token(audience: #""client-2""#),
            try Self.token(audience: #"{"$ne":""}"#), try Self.token(expires: Self.now),
            try Self.token(more: #","nbf":1800000000"#),
        ] {
            let error = #expect(throws: ServiceError.self) { try decide(good, text) }
            #expect(error?.code == .authError)
            #expect(error?.message == "unauthorized")
        }
        #expect(throws: ServiceError.self) {
            try decide(Self.provider(clientID: nil), try Self.token())
        }
        #expect(throws: ServiceError.self) {
            try decide(
                Self.provider(fields: [MetadataField(required: true, name: "email")]),
                try Self.token()
            )
        }
    }

    @Test("count for a domain only with an address that was verified")
    func domains() throws {
        let provider = Self.provider(domains: ["example.com"])
        _ = try decide(provider, try Self.token(more: #","email":"a@Example.com","email_verified":true"#))
        for more in [
            "", #","email":"a@example.com""#, #","email":"a@example.com","email_verified":false"#,
            #","email":"a@example.com.evil","email_verified":true"#,
            #","email":"example.com","email_verified":true"#,
        ] {
            #expect(throws: ServiceError.self) { try decide(provider, try Self.token(more: more)) }
        }
    }

    @Test("are checked with P-256 keys of a set, each for its one algorithm")
    func curve() throws {
        let numbers = Self.key.publicKey.rawRepresentation
        let entry =
            #""kty":"EC","kid":"k1","crv":"P-256","x":"\#(Self.encode(numbers.prefix(32)))","y":"\#(Self.encode(numbers.suffix(32)))""#
        func keys(_ entry: String) -> [ForeignKey] {
            ForeignKey.keySet(Array(#"{"keys":[{\#(entry)}]}"#.utf8)) ?? []
        }
        let key = try #require(keys(entry).first)
        #expect(key.verifies(try #require(JSONWebToken(try Self.token()))))
        for algorithm in ["RS256", "HS256", "none", "ES384"] {
            #expect(!key.verifies(try #require(JSONWebToken(try Self.token(algorithm: algorithm)))))
        }
        let text = try Self.token()
        let other = try Self.token(more: #","a":1"#).split(separator: ".")[1]
        let parts = text.split(separator: ".")
        #expect(!key.verifies(try #require(JSONWebToken("\(parts[0]).\(other).\(parts[2])"))))
        #expect(!key.verifies(try #require(JSONWebToken("\(parts[0]).\(parts[1]).AAAA"))))
        for bad in [
            entry.replacing("P-256", with: "P-384"), entry.replacing("\"EC\"", with: "\"RSA\""),
            entry + #","use":"enc""#, entry + #","alg":"ES384""#,
            #""kty":"EC","crv":"P-256","x":"AA","y":"AA""#,
        ] {
            #expect(keys(bad).isEmpty, "\(bad)")
        }
    }

    @Test("are what such a login must send", arguments: ["oauth2-google", "oauth2-apple", "oauth2-facebook"])
    func bodies(provider: String) throws {
        guard case .idToken(let kind, "t") = try Credentials.parse(provider: provider, ["id_token": "t"])
        else {
            Issue.record("not read as an id token")
            return
        }
        #expect(kind.rawValue == provider)
        for (body, text) in [
            (["authCode": "c"] as BSONDocument, "'authCode' is not served: log in with 'id_token'"),
            (["accessToken": "c"], "'accessToken' is not served: log in with 'id_token'"),
            (["id_token": ["$ne": ""]], "'id_token' is a required string"),
            ([:], "'id_token' is a required string"),
        ] {
            let error = #expect(throws: ServiceError.self) {
                try Credentials.parse(provider: provider, body)
            }
            #expect(error?.code == .invalidParameter)
            #expect(error?.message == text)
        }
    }
}
