/// One setting of the server: its name on the command line (`--name`), in the environment
/// (`TIDEGATE_NAME`) and in the settings file (`"name"`), in that order of precedence.
struct Setting: Sendable {
    let name: String
    /// What stands when nobody says otherwise; nil is "not set".
    let defaultValue: String?
    let help: String
    /// Never printed.
    var isSecret = false

    /// `database-url` is `TIDEGATE_DATABASE_URL` in the environment.
    var environmentName: String {
        "TIDEGATE_" + name.uppercased().replacing("-", with: "_")
    }

    /// Every setting there is.
    ///
    /// A test compares this list with the flags and the README.
    static let all: [Setting] =
        [
            databaseURL, host, port, httpsHost, httpsPort, adminHost, adminPort, tlsCertificate, tlsKey,
            publicURL, insertStatus, bodyTimeout, requestTimeout, trustedProxies, serverTiming, poolSize,
            drainDelay, drainTimeout, logLevel, logFormat,
            logSample, logWrites, logRetention,
            mailFrom, smtpHost, smtpPort, smtpTLS, smtpCA, smtpUser, smtpPassword,
        ] + LimitSetting.all.map(\.setting)

    static let databaseURL = Setting(
        name: "database-url",
        defaultValue: nil,
        help: "PostgreSQL to serve from: postgresql://user:password@host/database.",
        isSecret: true
    )
    static let host = Setting(name: "host", defaultValue: "127.0.0.1", help: "Address of plain HTTP.")
    static let port = Setting(
        name: "port",
        defaultValue: "8080",
        help: "Port of plain HTTP; 0 takes any free one."
    )
    static let httpsHost = Setting(name: "https-host", defaultValue: "0.0.0.0", help: "Address of HTTPS.")
    static let httpsPort = Setting(
        name: "https-port",
        defaultValue: "8443",
        help: "Port of HTTPS, served when there is a certificate; 0 takes any free one."
    )
    static let adminHost = Setting(
        name: "admin-host",
        defaultValue: "127.0.0.1",
        help: "Address of health, metrics and status; keep it from the public."
    )
    static let adminPort = Setting(
        name: "admin-port",
        defaultValue: "9090",
        help: "Port of health, metrics and status; 0 takes any free one, off serves none."
    )
    static let tlsCertificate = Setting(
        name: "tls-certificate",
        defaultValue: nil,
        help: "PEM file with the certificate chain; read again on SIGHUP."
    )
    static let tlsKey = Setting(
        name: "tls-key",
        defaultValue: nil,
        help: "PEM file with the private key; read again on SIGHUP."
    )
    static let publicURL = Setting(
        name: "public-url",
        defaultValue: nil,
        help: "Origin that clients are told to use; by default the one that they called."
    )
    static let insertStatus = Setting(
        name: "insert-status",
        defaultValue: "201",
        help: "HTTP status of a successful insert: 201 or 200."
    )
    static let bodyTimeout = Setting(
        name: "body-timeout",
        defaultValue: "30",
        help: "Seconds that a request's body may take to arrive."
    )
    static let requestTimeout = Setting(
        name: "request-timeout",
        defaultValue: "300",
        help: "Seconds that a request may run."
    )
    static let trustedProxies = Setting(
        name: "trusted-proxies",
        defaultValue: "",
        help: "Addresses and ranges (10.0.0.0/8), separated by commas, whose X-Forwarded headers count."
    )
    static let serverTiming = Setting(
        name: "server-timing",
        defaultValue: "false",
        help: "Whether answers tell in Server-Timing where their time went: true or false; true in dev."
    )
    static let poolSize = Setting(
        name: "pool-size",
        defaultValue: "16",
        help: "Connections to PostgreSQL, at the most."
    )
    static let drainDelay = Setting(
        name: "drain-delay",
        defaultValue: "5",
        help:
            "Seconds that it goes on serving after SIGTERM, not ready, so that load balancers notice; 0 in dev."
    )
    static let drainTimeout = Setting(
        name: "drain-timeout",
        defaultValue: "30",
        help: "Seconds that requests in flight may take after that."
    )
    static let logLevel = Setting(
        name: "log-level",
        defaultValue: "info",
        help: "Least weight of what is logged: trace, debug, info, notice, warning, error or critical."
    )
    static let logFormat = Setting(
        name: "log-format",
        defaultValue: "text",
        help: "Form of the log on standard error: text, or json with one object a line."
    )
    static let logSample = Setting(
        name: "log-sample",
        defaultValue: "0.01",
        help: "Share of successful reads that get a row in tidegate.logs: 0 to 1."
    )
    static let logWrites = Setting(
        name: "log-writes",
        defaultValue: "true",
        help: "Whether successful writes and logins get a row in tidegate.logs: true or false."
    )
    static let logRetention = Setting(
        name: "log-retention",
        defaultValue: "10",
        help: "Days that rows of tidegate.logs are kept."
    )
    static let mailFrom = Setting(
        name: "mail-from",
        defaultValue: nil,
        help: "Sender of mails: noreply@example.com, or Example <noreply@example.com>."
    )
    static let smtpHost = Setting(
        name: "smtp-host",
        defaultValue: nil,
        help: "Mail server that mails are handed in to; without one they wait in tidegate.outbox."
    )
    static let smtpPort = Setting(name: "smtp-port", defaultValue: "587", help: "Its port.")
    static let smtpTLS = Setting(
        name: "smtp-tls",
        defaultValue: "starttls",
        help: "How the connection to it is protected: starttls, tls (from the first byte) or off."
    )
    static let smtpCA = Setting(
        name: "smtp-ca",
        defaultValue: nil,
        help: "PEM file of the authorities that vouch for its certificate; by default the system's."
    )
    static let smtpUser = Setting(
        name: "smtp-user",
        defaultValue: nil,
        help: "Login at the mail server; without one there is none."
    )
    static let smtpPassword = Setting(
        name: "smtp-password",
        defaultValue: nil,
        help: "Password at the mail server; better given by the environment.",
        isSecret: true
    )
}
