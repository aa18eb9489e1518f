import BSON

extension ProviderConfigurationParser {
    /// What Google, Facebook or Apple is told.
    mutating func oauth(
        _ kind: ProviderConfiguration.Kind,
        _ entry: BSONDocument,
        _ config: BSONDocument,
        _ secrets: BSONDocument,
        disabled: Bool,
        at name: String
    ) -> OAuthSettings {
        let standard = OAuthSettings.standardOrigin(kind)
        // Both are ours: the hosted service knew its providers' keys and told nobody.
        let issuers = texts(config["issuer"]) ?? text(config, "issuer").map { [$0] } ?? standard.issuers
        let keys = text(config, "jwkURI") ?? standard.keys
        if !KeySetAddress.isAllowed(keys) {
            faults.append(
                ProviderFault(
                    .error,
                    path: "\(name).config.jwkURI",
                    "must be an https address (http only on loopback)"
                )
            )
        }
        if !disabled, text(config, "clientId") == nil {
            faults.append(
                ProviderFault(
                    .warning,
                    path: "\(name).config.clientId",
                    "is missing; logins will be refused"
                )
            )
        }
        return OAuthSettings(
            clientID: text(config, "clientId"),
            clientSecretName: text(secrets, "clientSecret"),
            openID: flag(config, "openId", at: "\(name).config"),
            redirectURIs: texts(entry["redirect_uris"]) ?? [],
            domainRestrictions: texts(entry["domain_restrictions"]) ?? [],
            issuers: issuers,
            keySetAddress: keys
        )
    }

    /// Names what of an enabled provider is not served.
    mutating func warnIfUnserved(
        _ kind: ProviderConfiguration.Kind,
        _ settings: ProviderConfiguration.Settings,
        at name: String
    ) {
        switch kind {
        case .emailPassword:
            guard case .emailPassword(let settings) = settings else { return }
            warnIfUnserved(settings, at: name)
        case .anonymous, .apiKey, .customToken, .customFunction, .google, .facebook, .apple: return
        }
    }

    private mutating func warnIfUnserved(_ settings: EmailPasswordSettings, at name: String) {
        let warning: (key: String, text: String)?
        if settings.autoConfirm {
            warning = nil
        } else if settings.runConfirmationFunction {
            warning =
                settings.confirmationFunctionName == nil
                ? ("confirmationFunctionName", "is missing; registration will be refused") : nil
        } else if settings.emailConfirmationURL == nil {
            warning = ("emailConfirmationUrl", "is missing; registration will be refused")
        } else {
            warning = nil
        }
        if let warning {
            faults.append(ProviderFault(.warning, path: "\(name).config.\(warning.key)", warning.text))
        }
    }
}
