import ArgumentParser

/// The flags of every setting, unparsed: what each means is in ``Setting``.
struct ServerOptions: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp(stringLiteral: Setting.databaseURL.help))
    var databaseURL: String?
    @Option(name: .long, help: help(.host)) var host: String?
    @Option(name: .long, help: help(.port)) var port: String?
    @Option(name: .long, help: help(.httpsHost)) var httpsHost: String?
    @Option(name: .long, help: help(.httpsPort)) var httpsPort: String?
    @Option(name: .long, help: help(.adminHost)) var adminHost: String?
    @Option(name: .long, help: help(.adminPort)) var adminPort: String?
    @Option(name: .long, help: help(.tlsCertificate)) var tlsCertificate: String?
    @Option(name: .long, help: help(.tlsKey)) var tlsKey: String?
    @Option(name: .long, help: help(.publicURL)) var publicURL: String?
    @Option(name: .long, help: help(.insertStatus)) var insertStatus: String?
    @Option(name: .long, help: help(.bodyTimeout)) var bodyTimeout: String?
    @Option(name: .long, help: help(.requestTimeout)) var requestTimeout: String?
    @Option(name: .long, help: help(.trustedProxies)) var trustedProxies: String?
    @Option(name: .long, help: help(.serverTiming)) var serverTiming: String?
    @Option(name: .long, help: help(.poolSize)) var poolSize: String?
    @Option(name: .long, help: help(.drainDelay)) var drainDelay: String?
    @Option(name: .long, help: help(.drainTimeout)) var drainTimeout: String?
    @Option(name: .long, help: help(.logLevel)) var logLevel: String?
    @Option(name: .long, help: help(.logFormat)) var logFormat: String?
    @Option(name: .long, help: help(.logSample)) var logSample: String?
    @Option(name: .long, help: help(.logWrites)) var logWrites: String?
    @Option(name: .long, help: help(.logRetention)) var logRetention: String?
    @Option(name: .long, help: help(.mailFrom)) var mailFrom: String?
    @Option(name: .long, help: help(.smtpHost)) var smtpHost: String?
    @Option(name: .long, help: help(.smtpPort)) var smtpPort: String?
    @Option(name: .customLong("smtp-tls"), help: help(.smtpTLS)) var smtpTLS: String?
    @Option(name: .customLong("smtp-ca"), help: help(.smtpCA)) var smtpCA: String?
    @Option(name: .long, help: help(.smtpUser)) var smtpUser: String?
    @Option(name: .long, help: help(.smtpPassword)) var smtpPassword: String?
    @Option(name: .long, help: "A JSON file with any of these settings, by the names of the flags.")
    var settings: String?
    @OptionGroup(title: "Limits") var limits: LimitOptions

    private static func help(_ setting: Setting) -> ArgumentHelp {
        let known = setting.defaultValue.map { $0.isEmpty ? "" : " (default: \($0))" } ?? ""
        return ArgumentHelp(stringLiteral: setting.help + known)
    }

    /// What was given on the command line, by the settings' names.
    var given: [String: String] {
        let values: [(Setting, String?)] = [
            (.databaseURL, databaseURL), (.host, host), (.port, port), (.httpsHost, httpsHost),
            (.httpsPort, httpsPort), (.adminHost, adminHost), (.adminPort, adminPort),
            (.tlsCertificate, tlsCertificate), (.tlsKey, tlsKey),
            (.publicURL, publicURL), (.insertStatus, insertStatus),
            (.bodyTimeout, bodyTimeout), (.requestTimeout, requestTimeout),
            (.trustedProxies, trustedProxies), (.poolSize, poolSize), (.drainDelay, drainDelay),
            (.drainTimeout, drainTimeout), (.logLevel, logLevel),
            (.serverTiming, serverTiming), (.logFormat, logFormat),
            (.logSample, logSample), (.logWrites, logWrites), (.logRetention, logRetention),
            (.mailFrom, mailFrom), (.smtpHost, smtpHost), (.smtpPort, smtpPort), (.smtpTLS, smtpTLS),
            (.smtpCA, smtpCA), (.smtpUser, smtpUser), (.smtpPassword, smtpPassword),
        ]
        let known = Dictionary(
            uniqueKeysWithValues: values.compactMap { setting, value in value.map { (setting.name, $0) } }
        )
        return known.merging(limits.given) { own, _ in own }
    }
}
