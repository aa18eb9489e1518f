public import BSON

/// A fault in a provider's file, for the report of an import.
public struct ProviderFault: Sendable, Hashable {
    /// `error` keeps the app from being served; `warning` names what is ignored or not served yet.
    public enum Severity: Sendable, Hashable {
        case error
        case warning
    }

    /// Whether the app can be served nevertheless.
    public let severity: Severity
    /// Where in the file: `custom-token.config.audience`.
    public let path: String
    /// What is wrong, as a predicate of the place.
    public let message: String

    /// Made of its parts.
    public init(_ severity: Severity, path: String, _ message: String) {
        self.severity = severity
        self.path = path
        self.message = message
    }
}

/// Reads the entries of `auth/providers.json`, or one file of the older `auth_providers/`.
///
/// Shape: `{ "name", "type", "disabled", "config", "secret_config", "metadata_fields", … }` becomes a
/// ``ProviderConfiguration``. Faults are collected, not thrown. Source: `reference/app-config.md` §4.1.
public struct ProviderConfigurationParser {
    var faults: [ProviderFault] = []

    /// Reads one entry.
    ///
    /// - Parameters:
    ///   - name: The key in the map, or the file's name.
    ///   - entry: The object.
    /// - Returns: The configuration, nil when it cannot be used, and every fault found.
    public static func parse(
        name: String,
        _ entry: BSONDocument
    ) -> (configuration: ProviderConfiguration?, faults: [ProviderFault]) {
        var parser = ProviderConfigurationParser()
        let configuration = parser.provider(name, entry)
        return (configuration, parser.faults)
    }

    /// Names of the secrets that a provider refers to, so that an importer can ask for them.
    public static func secretNames(of configuration: ProviderConfiguration) -> [String] {
        switch configuration.settings {
        case .customToken(let settings):
            if case .secrets(let names) = settings.keys { names } else { [] }
        case .oauth(let settings): settings.clientSecretName.map { [$0] } ?? []
        case .none, .emailPassword, .customFunction: []
        }
    }

    private mutating func provider(_ name: String, _ entry: BSONDocument) -> ProviderConfiguration? {
        let typeName = entry["type"]?.string ?? name
        guard let kind = ProviderConfiguration.Kind(rawValue: typeName) else {
            faults.append(
                ProviderFault(
                    .error,
                    path: "\(name).type",
                    "unknown authentication provider '\(typeName)'"
                )
            )
            return nil
        }
        let disabled = flag(entry, "disabled", at: name)
        let config = section(entry, "config", at: name)
        let secrets = section(entry, "secret_config", at: name)
        let settings = settings(kind, entry, config, secrets, disabled: disabled, at: name)
        let metadata = metadataFields(entry["metadata_fields"], at: "\(name).metadata_fields")
        guard !faults.contains(where: { $0.severity == .error }) else { return nil }
        if !disabled { warnIfUnserved(kind, settings, at: name) }
        return ProviderConfiguration(
            kind: kind,
            disabled: disabled,
            settings: settings,
            metadataFields: metadata
        )
    }

    private mutating func settings(
        _ kind: ProviderConfiguration.Kind,
        _ entry: BSONDocument,
        _ config: BSONDocument,
        _ secrets: BSONDocument,
        disabled: Bool,
        at name: String
    ) -> ProviderConfiguration.Settings {
        switch kind {
        case .anonymous, .apiKey: return .none
        case .emailPassword:
            return .emailPassword(
                EmailPasswordSettings(
                    autoConfirm: flag(config, "autoConfirm", at: "\(name).config"),
                    runConfirmationFunction: flag(config, "runConfirmationFunction", at: "\(name).config"),
                    confirmationFunctionName: text(config, "confirmationFunctionName"),
                    emailConfirmationURL: text(config, "emailConfirmationUrl"),
                    confirmEmailSubject: text(config, "confirmEmailSubject"),
                    runResetFunction: flag(config, "runResetFunction", at: "\(name).config"),
                    resetFunctionName: text(config, "resetFunctionName"),
                    resetPasswordURL: text(config, "resetPasswordUrl"),
                    resetPasswordSubject: text(config, "resetPasswordSubject")
                )
            )
        case .customToken: return customToken(config, secrets, at: name)
        case .customFunction:
            guard let function = text(config, "authFunctionName") else {
                faults.append(
                    ProviderFault(
                        .error,
                        path: "\(name).config.authFunctionName",
                        "must name the authentication function"
                    )
                )
                return .none
            }
            return .customFunction(name: function)
        case .google, .facebook, .apple:
            return .oauth(oauth(kind, entry, config, secrets, disabled: disabled, at: name))
        }
    }

    private mutating func customToken(
        _ config: BSONDocument,
        _ secrets: BSONDocument,
        at name: String
    ) -> ProviderConfiguration.Settings {
        let audience: [String]
        switch config["audience"] {
        case nil, .null?: audience = []
        case .string(let list)?:
            audience = list.split(separator: ",").map { trimmed($0) }.filter { !$0.isEmpty }
        case let value?:
            if let list = texts(value) {
                audience = list.filter { !$0.isEmpty }
            } else {
                faults.append(
                    ProviderFault(
                        .error,
                        path: "\(name).config.audience",
                        "must be a string or an array of strings"
                    )
                )
                audience = []
            }
        }
        let anyAudience = flag(config, "requireAnyAudience", at: "\(name).config")
        let usesURI = flag(config, "useJWKURI", at: "\(name).config")
        let algorithmName = text(config, "signingAlgorithm") ?? (usesURI ? "RS256" : "HS256")
        guard let algorithm = CustomTokenSettings.Algorithm(rawValue: algorithmName) else {
            faults.append(
                ProviderFault(
                    .error,
                    path: "\(name).config.signingAlgorithm",
                    "must be HS256 or RS256, is '\(algorithmName)'"
                )
            )
            return .none
        }
        if usesURI {
            guard algorithm == .rs256 else {
                faults.append(
                    ProviderFault(
                        .error,
                        path: "\(name).config.signingAlgorithm",
                        "must be RS256 when useJWKURI is true"
                    )
                )
                return .none
            }
            guard let address = text(config, "jwkURI"), KeySetAddress.isAllowed(address) else {
                faults.append(
                    ProviderFault(
                        .error,
                        path: "\(name).config.jwkURI",
                        "must be an https address (http only on loopback)"
                    )
                )
                return .none
            }
            return .customToken(
                CustomTokenSettings(
                    algorithm: .rs256,
                    keys: .jwkURI(address),
                    audience: audience,
                    requireAnyAudience: anyAudience
                )
            )
        }
        // An export names the secrets in `secret_config`; older ones held a single name.
        let keys = secrets["signingKeys"] ?? config["signingKeys"] ?? .array([])
        guard let names = texts(keys) ?? keys.string.map({ [$0] }), (1...3).contains(names.count) else {
            faults.append(
                ProviderFault(
                    .error,
                    path: "\(name).secret_config.signingKeys",
                    "must name one to three secrets"
                )
            )
            return .none
        }
        return .customToken(
            CustomTokenSettings(
                algorithm: algorithm,
                keys: .secrets(names),
                audience: audience,
                requireAnyAudience: anyAudience
            )
        )
    }

    private mutating func metadataFields(_ value: BSONValue?, at path: String) -> [MetadataField] {
        guard let value, !value.isNull else { return [] }
        guard let entries = value.array else {
            faults.append(ProviderFault(.error, path: path, "must be an array"))
            return []
        }
        var fields: [MetadataField] = []
        for (index, entry) in entries.enumerated() {
            guard let entry = entry.document, let name = text(entry, "name") else {
                faults.append(ProviderFault(.error, path: "\(path)[\(index)].name", "must be a string"))
                continue
            }
            fields.append(
                MetadataField(
                    required: flag(entry, "required", at: "\(path)[\(index)]"),
                    name: name,
                    fieldName: text(entry, "field_name")
                )
            )
        }
        return fields
    }

    private mutating func section(_ entry: BSONDocument, _ key: String, at path: String) -> BSONDocument {
        guard let value = entry[key], !value.isNull else { return BSONDocument() }
        guard let document = value.document else {
            faults.append(ProviderFault(.error, path: "\(path).\(key)", "must be an object"))
            return BSONDocument()
        }
        return document
    }

    mutating func flag(_ entry: BSONDocument, _ key: String, at path: String) -> Bool {
        guard let value = entry[key], !value.isNull else { return false }
        guard let flag = value.bool else {
            faults.append(ProviderFault(.error, path: "\(path).\(key)", "must be true or false"))
            return false
        }
        return flag
    }

    /// A text that is there and not empty.
    func text(_ entry: BSONDocument, _ key: String) -> String? {
        guard let text = entry[key]?.string, !text.isEmpty else { return nil }
        return text
    }

    func texts(_ value: BSONValue?) -> [String]? {
        guard let elements = value?.array else { return nil }
        let texts = elements.compactMap(\.string)
        return texts.count == elements.count ? texts : nil
    }

    private func trimmed(_ text: Substring) -> String {
        var text = text
        while text.first == " " { text = text.dropFirst() }
        while text.last == " " { text = text.dropLast() }
        return String(text)
    }
}
