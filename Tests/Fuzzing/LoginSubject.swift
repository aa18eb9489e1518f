import Accounts
import BSON
import Errors

/// Bodies of logins and registrations, and the settings of providers.
struct LoginSubject: FuzzSubject {
    let name = "login"

    func run(_ input: [UInt8]) throws -> Bool {
        guard let body = try attempt({ () throws(ServiceError) in try ExtendedJSON.readDocument(input) })
        else { return false }
        var understood = false
        for provider in ProviderConfiguration.Kind.allCases.map(\.rawValue) + ["smurf"] {
            let login = try attempt { () throws(ServiceError) in
                try Credentials.parse(provider: provider, body)
            }
            guard let login else { continue }
            understood = understood || provider != "anon-user" && provider != "custom-function"
            guard login.kind.rawValue == provider else { throw Finding("a login of another provider") }
            switch login {
            case .emailPassword(let username, let password): try register(username, password)
            case .apiKey(let key): _ = APIKeyProvider.digest(key)
            case .customFunction(let payload) where payload["options"] != nil:
                throw Finding("a function is shown the options")
            default: break
            }
        }
        if let device = DeviceInformation(loginBody: body)?.deviceID, ObjectID(hex: device) == nil {
            throw Finding("a device's id is none")
        }
        for (name, entry) in body.fields.map({ ($0.key, $0.value) }) {
            guard let entry = entry.document else { continue }
            let (configuration, faults) = ProviderConfigurationParser.parse(name: name, entry)
            if configuration != nil, faults.contains(where: { $0.severity == .error }) {
                throw Finding("a provider with faults is used")
            }
            understood = understood || configuration != nil
        }
        return understood
    }

    /// What is taken as an email can stand in the head of a mail.
    private func register(_ email: String, _ password: String) throws {
        let isTaken =
            try attempt { () throws(ServiceError) in
                try EmailPasswordProvider.checkRegistration(email: email, password: password)
            } != nil
        if isTaken, email.unicodeScalars.contains(where: { $0.value <= 32 || $0.value == 127 }) {
            throw Finding("an email with control characters is taken")
        }
        if isTaken, !EmailPasswordProvider.isPlausible(username: email, password: password) {
            throw Finding("what can be registered cannot log in")
        }
    }
}
