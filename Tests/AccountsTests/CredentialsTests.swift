import BSON
import Errors
import Testing

@testable import Accounts

@Suite("Credentials")
struct CredentialsTests {
    static func name(_ choice: RequestCredentials.Choice) -> String {
        switch choice {
        case .bearer(let token): "bearer \(token)"
        case .login(.apiKey(let key)): "key \(key)"
        case .login(.emailPassword(let username, let password)): "password \(username) \(password)"
        case .login(.customToken(let token)): "token \(token)"
        case .login(.anonymous): "anonymous"
        case .login(.idToken(let kind, let token)): "\(kind.rawValue) \(token)"
        case .login(.customFunction): "function"
        }
    }

    @Test("it tries a bearer token first, then key, email with password, foreign token")
    func order() throws {
        var all = RequestCredentials(bearer: "b", apiKey: "k", email: "e", password: "p", jwt: "j")
        #expect(Self.name(try all.choice()) == "bearer b")
        all.bearer = nil
        #expect(Self.name(try all.choice()) == "key k")
        all.apiKey = ""
        #expect(Self.name(try all.choice()) == "password e p")
        all.password = nil
        #expect(Self.name(try all.choice()) == "token j")
    }

    @Test("it keeps an empty bearer token, so that nothing else is tried")
    func emptyBearer() throws {
        #expect(Self.name(try RequestCredentials(bearer: "", apiKey: "k").choice()) == "bearer ")
    }

    @Test(
        "it says what is missing",
        arguments: [
            (RequestCredentials(), ErrorCode.invalidParameter, "no authentication methods were specified"),
            (
                RequestCredentials(apiKey: "", email: "", password: "", jwt: ""), .invalidParameter,
                "no authentication methods were specified"
            ),
            (
                RequestCredentials(email: "e"), .missingParameter,
                "must specify some form of authentication (either email+password, api-key, or jwt) in the request header or body"
            ),
            (
                RequestCredentials(email: "", password: "p"), .missingParameter,
                "must specify some form of authentication (either email+password, api-key, or jwt) in the request header or body"
            ),
        ]
    )
    func missing(_ credentials: RequestCredentials, _ code: ErrorCode, _ text: String) {
        let error = #expect(throws: ServiceError.self) { try credentials.choice() }
        #expect(error?.code == code)
        #expect(error?.message == text)
    }

    @Test("it reads a login body beside options and provider")
    func body() throws {
        let login = try Credentials.parse(
            provider: "local-userpass",
            [
                "username": "a@b.c", "password": "secret", "provider": "local-userpass",
                "options": ["device": [:]],
            ]
        )
        guard case .emailPassword("a@b.c", "secret") = login else { return #expect(Bool(false)) }
    }

    static let operators: [BSONValue] = [
        .null, "", 1, true, ["$ne": ""], ["$gt": ""], ["a"],
        .objectID(ObjectID(seconds: 0x5f00_0000, unique: 1)),
    ]

    @Test("it refuses anything but text where text belongs, by name", arguments: operators)
    func refusesOperators(_ value: BSONValue) {
        for (provider, member) in [
            ("local-userpass", "username"), ("api-key", "key"), ("custom-token", "token"),
        ] {
            let error = #expect(throws: ServiceError.self) {
                try Credentials.parse(provider: provider, [member: value, "password": "x"])
            }
            #expect(error?.code == .invalidParameter)
            #expect(error?.message == "'\(member)' is a required string")
        }
    }

    @Test(
        "it refuses providers that are unknown or not served",
        arguments: ["", "nope"]
    )
    func unknown(_ provider: String) {
        let error = #expect(throws: ServiceError.self) { try Credentials.parse(provider: provider, [:]) }
        #expect(error?.code == .authProviderNotFound)
        #expect(error?.message.contains("'\(provider)'") == true)
    }

    @Test("it reads the device of a login, its id as an object id or as text")
    func device() throws {
        let device = try #require(
            DeviceInformation(loginBody: [
                "options": [
                    "device": [
                        "platform": "linux", "deviceId": ["$oid": "no wrapper"], "sdkVersion": 2,
                    ]
                ]
            ])
        )
        #expect(device.deviceID == nil)
        #expect(device.facts == ["platform": "linux"])
        let known = try #require(
            DeviceInformation(loginBody: [
                "options": ["device": ["deviceId": .objectID(ObjectID(seconds: 0x5f00_0000, unique: 1))]]
            ])
        )
        #expect(known.deviceID == "5f0000000000000000000001")
        #expect(DeviceInformation(loginBody: ["options": [:]]) == nil)
    }
}

@Suite("Registration")
struct EmailPasswordProviderTests {
    @Test(
        "it refuses what is no email",
        arguments: [
            "", "a", "a@", "@b", "a@b@c", "a b@c", "a@b\u{0}", "a@b\n",
            String(repeating: "a", count: 320) + "@b",
        ]
    )
    func badEmail(_ email: String) {
        let error = #expect(throws: ServiceError.self) {
            try EmailPasswordProvider.checkRegistration(email: email, password: "secret")
        }
        #expect(error?.message == "email invalid")
        #expect(error?.code == .badRequest)
    }

    @Test(
        "it wants 6 to 128 characters of a password",
        arguments: [
            ("12345", false), ("123456", true), (String(repeating: "é", count: 128), true),
            (String(repeating: "x", count: 129), false),
        ]
    )
    func passwordLength(_ password: String, _ accepted: Bool) {
        if accepted {
            #expect(throws: Never.self) {
                try EmailPasswordProvider.checkRegistration(email: "a@b", password: password)
            }
        } else {
            let error = #expect(throws: ServiceError.self) {
                try EmailPasswordProvider.checkRegistration(email: "a@b", password: password)
            }
            #expect(error?.message == "password must be between 6 and 128 characters")
        }
    }
}

@Suite("API keys")
struct APIKeyProviderTests {
    @Test("it makes keys of 64 letters and digits that do not repeat")
    func keys() {
        var random = SystemRandomNumberGenerator()
        let keys = (0..<100).map { _ in APIKeyProvider.makeKey(random: &random) }
        #expect(Set(keys).count == 100)
        #expect(
            keys.allSatisfy {
                $0.utf8.count == 64 && $0.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
            }
        )
    }

    @Test("it looks keys up by their SHA-256, and nothing absurdly long")
    func digest() {
        let hex = APIKeyProvider.digest("abc")?.map { String($0, radix: 16) }.prefix(4).joined()
        #expect(hex == "ba7816bf")
        #expect(APIKeyProvider.digest("") == nil)
        #expect(APIKeyProvider.digest(String(repeating: "k", count: 257)) == nil)
    }

    @Test(
        "it names keys with ASCII letters, digits, underscores and hyphens",
        arguments: [("a-Z_9", true), ("", false), ("a b", false), ("é", false), ("a.b", false)]
    )
    func names(_ name: String, _ accepted: Bool) {
        #expect(APIKeyProvider.isName(name) == accepted)
    }

    @Test("a custom function gets what was sent, without what clients add")
    func payload() throws {
        let body: BSONDocument = [
            "n": 1, "provider": "custom-function", "options": ["device": ["platform": "x"]],
        ]
        guard case .customFunction(let payload) = try Credentials.parse(provider: "custom-function", body)
        else {
            Issue.record("other credentials")
            return
        }
        #expect(payload == ["n": 1])
        let own = try Credentials.parse(provider: "custom-function", ["provider": "mine"])
        guard case .customFunction(["provider": "mine"]) = own else {
            Issue.record("a member of the payload is missing")
            return
        }
    }
}
