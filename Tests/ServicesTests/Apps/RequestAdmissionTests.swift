import Accounts
import AppDefinition
import BSON
import Crypto
import Foundation
import Rules
import Testing

@testable import Services

@Suite("Admission to the Data API")
struct RequestAdmissionTests {
    private func admission(_ config: String, secrets: [String: String] = ["key": "s3cret"]) throws
        -> RequestAdmission
    {
        let tree = try #require(
            ConfigurationTreeReader.read(
                FileTree(files: [
                    "realm_config.json": Array(#"{"config_version": 20210101, "name": "a"}"#.utf8),
                    "http_endpoints/data_api_config.json": Array(config.utf8),
                ])
            ).tree
        )
        let app = try #require(AppConfigurationParser.parse(tree).app)
        return RequestAdmission.dataAPI(
            of: AppSnapshot(id: "a", clientAppID: "a", version: 1, definition: app, secrets: secrets)
        )
    }

    @Test(
        "it asks for nothing by default",
        arguments: [
            "{}", #"{"validation_method": ""}"#,
            #"{"validation_method": "NO_VALIDATION", "can_evaluate": {}}"#,
        ]
    )
    func asksForNothing(config: String) throws {
        let admission = try admission(config)
        #expect(admission.isValidated(secret: nil, signature: nil, body: []))
        #expect(admission.admits(.system, request: nil))
    }

    @Test("it asks for the secret in the query")
    func secretInQuery() throws {
        let config = #"{"validation_method": "SECRET_AS_QUERY_PARAM", "secret_name": "key"}"#
        #expect(try admission(config).isValidated(secret: "s3cret", signature: nil, body: []))
        #expect(try !admission(config).isValidated(secret: "other", signature: nil, body: []))
        #expect(try !admission(config).isValidated(secret: nil, signature: nil, body: []))
        #expect(try !admission(config, secrets: [:]).isValidated(secret: "s3cret", signature: nil, body: []))
        #expect(try !admission(config, secrets: [:]).isValidated(secret: "", signature: nil, body: []))
    }

    @Test("it asks for a signature of the body")
    func signature() throws {
        let admission = try admission(#"{"validation_method": "VERIFY_PAYLOAD", "secret_name": "key"}"#)
        let body = Array(#"{"a": 1}"#.utf8)
        let code = HMAC<SHA256>.authenticationCode(for: body, using: SymmetricKey(data: Array("s3cret".utf8)))
        let hex = code.map { String(format: "%02x", $0) }.joined()
        #expect(admission.isValidated(secret: nil, signature: "sha256=\(hex)", body: body))
        #expect(admission.isValidated(secret: nil, signature: hex.uppercased(), body: body))
        #expect(!admission.isValidated(secret: nil, signature: "sha256=\(hex)", body: body + [32]))
        for wrong in [
            nil, "", "md5=\(hex)", "sha256=", "sha256=\(hex.dropLast(2))", "sha256=\(hex.dropLast())g",
            "sha256=\(hex)00",
        ] {
            #expect(!admission.isValidated(secret: nil, signature: wrong, body: body))
        }
    }

    @Test("it evaluates the condition on request and user")
    func condition() throws {
        let admission = try admission(
            #"{"can_evaluate": {"%%request.requestHeaders.x-key": "k", "%%user.type": "normal"}}"#
        )
        let user = Principal.user(
            UserProfile(id: "u", kind: .normal, data: [:], customData: nil, identities: [])
        )
        var request = RuleRequest()
        #expect(!admission.admits(user, request: request))
        #expect(!admission.admits(user, request: nil))
        request.headers = [(name: "x-key", values: ["other", "k"])]
        #expect(admission.admits(user, request: request))
        #expect(!admission.admits(.system, request: request))
    }
}
