import BSON
import Testing

@testable import Accounts

@Suite("Provider configurations")
struct ProviderConfigurationTests {
    @Test("it reads an email/password provider as exports hold it")
    func emailPassword() throws {
        let (configuration, faults) = ProviderConfigurationParser.parse(
            name: "local-userpass",
            [
                "name": "local-userpass", "type": "local-userpass", "disabled": false,
                "config": [
                    "autoConfirm": true, "resetPasswordUrl": "https://", "runConfirmationFunction": false,
                ],
            ]
        )
        #expect(faults.isEmpty)
        #expect(
            configuration?.settings
                == .emailPassword(EmailPasswordSettings(autoConfirm: true, resetPasswordURL: "https://"))
        )
        #expect(configuration?.disabled == false)
    }

    static let unserved: [(BSONDocument, String?)] = [
        (["runConfirmationFunction": true], "confirmationFunctionName"), ([:], "emailConfirmationUrl"),
        (["runConfirmationFunction": true, "confirmationFunctionName": "f"], nil),
        (["autoConfirm": true, "runResetFunction": true], nil),
        (["emailConfirmationUrl": "https://app.example/confirm"], nil),
    ]

    @Test("it warns of registrations that will be refused", arguments: unserved)
    func confirmation(_ config: BSONDocument, _ key: String?) {
        let (configuration, faults) = ProviderConfigurationParser.parse(
            name: "local-userpass",
            ["type": "local-userpass", "config": .document(config)]
        )
        #expect(configuration != nil)
        #expect(faults.allSatisfy { $0.severity == .warning })
        #expect(faults.map(\.path) == (key.map { ["local-userpass.config.\($0)"] } ?? []))
    }

    @Test("it knows where id tokens come from, unless the app says otherwise")
    func idTokens() {
        func settings(_ name: String, _ config: BSONDocument) -> OAuthSettings? {
            let (configuration, faults) = ProviderConfigurationParser.parse(
                name: name,
                ["type": .string(name), "config": .document(config)]
            )
            #expect(faults.isEmpty)
            guard case .oauth(let settings)? = configuration?.settings else { return nil }
            return settings
        }
        let standard = settings("oauth2-apple", ["clientId": "c"])
        #expect(standard?.issuers == ["https://appleid.apple.com"])
        #expect(standard?.keySetAddress == "https://appleid.apple.com/auth/keys")
        let own = settings(
            "oauth2-google",
            ["clientId": "c", "issuer": "https://i.example", "jwkURI": "http://127.0.0.1:1/k"]
        )
        #expect(own?.issuers == ["https://i.example"])
        #expect(own?.keySetAddress == "http://127.0.0.1:1/k")
    }

    static let audiences: [(BSONValue, [String])] = [
        ("app", ["app"]), ("a, b,c", ["a", "b", "c"]), (["a", "b"], ["a", "b"]), ("", []), (.null, []),
    ]

    @Test("it reads an audience as text, list or array", arguments: audiences)
    func readsAudience(_ value: BSONValue, _ expected: [String]) {
        let (configuration, faults) = ProviderConfigurationParser.parse(
            name: "custom-token",
            [
                "type": "custom-token", "config": ["audience": value, "signingAlgorithm": "HS256"],
                "secret_config": ["signingKeys": ["k1", "k2"]],
                "metadata_fields": [["required": true, "name": "a.b", "field_name": "c"]],
            ]
        )
        #expect(faults.isEmpty)
        #expect(
            configuration?.settings
                == .customToken(
                    CustomTokenSettings(algorithm: .hs256, keys: .secrets(["k1", "k2"]), audience: expected)
                )
        )
        #expect(configuration?.metadataFields == [MetadataField(required: true, name: "a.b", fieldName: "c")])
        #expect(configuration.map(ProviderConfigurationParser.secretNames) == ["k1", "k2"])
    }

    static let faulty: [(BSONDocument, String)] = [
        (["type": "custom-token", "config": ["signingAlgorithm": "none"]], "p.config.signingAlgorithm"),
        (["type": "custom-token", "config": ["signingAlgorithm": "HS256"]], "p.secret_config.signingKeys"),
        (
            ["type": "custom-token", "config": [:], "secret_config": ["signingKeys": ["a", "b", "c", "d"]]],
            "p.secret_config.signingKeys"
        ),
        (
            ["type": "custom-token", "config": ["useJWKURI": true, "jwkURI": "http://issuer.example"]],
            "p.config.jwkURI"
        ),
        (
            [
                "type": "custom-token",
                "config": ["useJWKURI": true, "jwkURI": "https://i.example", "signingAlgorithm": "HS256"],
            ], "p.config.signingAlgorithm"
        ),
        (["type": "custom-token", "config": ["audience": 3]], "p.config.audience"),
        (["type": "custom-function", "config": [:]], "p.config.authFunctionName"),
        (["type": "smoke-signals"], "p.type"), (["type": "local-userpass", "config": 3], "p.config"),
        (["type": "local-userpass", "config": ["autoConfirm": "yes"]], "p.config.autoConfirm"),
        (
            ["type": "oauth2-google", "config": ["clientId": "c", "jwkURI": "http://keys.example"]],
            "p.config.jwkURI"
        ),
    ]

    @Test("it reports a fault with its path and gives no configuration", arguments: faulty)
    func reports(_ entry: BSONDocument, _ path: String) {
        let (configuration, faults) = ProviderConfigurationParser.parse(name: "p", entry)
        #expect(configuration == nil)
        #expect(faults.contains { $0.path == path && $0.severity == .error })
    }

    @Test("it reads where custom user data lies, and nothing when it is off")
    func customUserData() {
        let (off, none) = CustomUserDataConfiguration.parse(["enabled": false])
        #expect(off == nil && none.isEmpty)
        let (on, faults) = CustomUserDataConfiguration.parse([
            "enabled": true, "mongo_service_name": "mongodb-atlas", "database_name": "d",
            "collection_name": "c",
            "user_id_field": "uid",
        ])
        #expect(faults.isEmpty)
        #expect(
            on
                == CustomUserDataConfiguration(
                    serviceName: "mongodb-atlas",
                    databaseName: "d",
                    collectionName: "c",
                    userIDField: "uid"
                )
        )
        let (bad, missing) = CustomUserDataConfiguration.parse(["enabled": true, "database_name": "d"])
        #expect(bad == nil)
        #expect(missing.map(\.path) == ["collection_name", "user_id_field"])
    }
}
