import Configuration
import Errors
import HTTPGateway
import Logging
import Postgres
import Scripting
import Services
import SystemPackage

/// Every setting, checked and typed.
struct ServerSettings: Sendable {
    var databaseURL: String?
    var host: String
    var port: Int
    var httpsHost: String
    var httpsPort: Int
    var adminHost: String
    /// nil serves no such door.
    var adminPort: Int?
    var tlsCertificate: String?
    var tlsKey: String?
    var gateway: GatewaySettings
    var poolSize: Int
    /// How long the server goes on taking connections after it was told to stop.
    var drainDelay: Duration
    /// How long requests in flight may then take.
    var drainTimeout: Duration
    var accounts = AccountLimits()
    var queue = QueueLimits()
    var connections = ConnectionLimits()
    var data = DataLimits()
    var watches = WatchLimits()
    var functions = FunctionLimits()
    var scripts = ScriptLimits()
    var logLevel: Logger.Level
    var logFormat: LogFormat
    var requestLog: RequestLog.Settings
    var mail: MailSettings

    /// Every setting as it was written, to tell what changed; secrets among them, so never printed.
    var texts: [String: String] = [:]

    /// Reads flags, then the environment, then the settings file, then the defaults.
    ///
    /// - Throws: `InvalidSetting` that names the setting, also for a name in the file that no setting has.
    static func load(_ options: ServerOptions) async throws -> ServerSettings {
        let flags = InMemoryProvider(
            values: Dictionary(
                uniqueKeysWithValues: options.given.map {
                    (AbsoluteConfigKey([$0.key]), ConfigValue(.string($0.value), isSecret: false))
                }
            )
        )
        var providers: [any ConfigProvider] = [
            flags, EnvironmentVariablesProvider().prefixKeys(with: ConfigKey(["tidegate"])),
        ]
        if let path = options.settings {
            do {
                providers.append(try await FileProvider<JSONSnapshot>(filePath: FilePath(path)))
            } catch {
                throw ServiceError(.invalidSetting, "the settings file \(path) cannot be read: \(error)")
            }
        }
        return try ServerSettings(SettingValues(reader: ConfigReader(providers: providers)))
    }

    init(_ values: SettingValues) throws(ServiceError) {
        for setting in Setting.all { texts[setting.name] = values.text(setting) }
        databaseURL = values.text(.databaseURL)
        host = values.text(.host) ?? ""
        port = try values.integer(.port, in: 0...65535)
        httpsHost = values.text(.httpsHost) ?? ""
        httpsPort = try values.integer(.httpsPort, in: 0...65535)
        adminHost = values.text(.adminHost) ?? ""
        adminPort = values.text(.adminPort) == "off" ? nil : try values.integer(.adminPort, in: 0...65535)
        tlsCertificate = values.text(.tlsCertificate)
        tlsKey = values.text(.tlsKey)
        if (tlsCertificate == nil) != (tlsKey == nil) {
            throw ServiceError(.invalidSetting, "tls-certificate and tls-key go together")
        }
        poolSize = try values.integer(.poolSize, in: 1...1000)
        drainDelay = .seconds(try values.integer(.drainDelay, in: 0...600))
        drainTimeout = .seconds(try values.integer(.drainTimeout, in: 1...3600))
        mail = try MailSettings(values)
        let level = values.text(.logLevel) ?? ""
        guard let logLevel = Logger.Level(rawValue: level) else {
            throw ServiceError(.invalidSetting, "log-level: there is no level '\(level)'")
        }
        self.logLevel = logLevel
        let format = values.text(.logFormat) ?? ""
        guard let logFormat = LogFormat(rawValue: format) else {
            throw ServiceError(.invalidSetting, "log-format must be text or json, not '\(format)'")
        }
        self.logFormat = logFormat
        requestLog = RequestLog.Settings(
            sampledShare: try values.number(.logSample, in: 0...1),
            includesWrites: try values.flag(.logWrites),
            retentionDays: try values.integer(.logRetention, in: 1...3650)
        )
        guard
            let insertStatus = GatewaySettings.InsertStatus(
                rawValue: try values.integer(.insertStatus, in: 200...201)
            )
        else { throw ServiceError(.invalidSetting, "insert-status must be 201 or 200") }
        gateway = GatewaySettings(
            bodyTimeout: .seconds(try values.integer(.bodyTimeout, in: 1...3600)),
            requestTimeout: .seconds(try values.integer(.requestTimeout, in: 1...3600)),
            insertStatus: insertStatus,
            publicURL: values.text(.publicURL),
            trustedProxies: try TrustedProxies.parse(values.text(.trustedProxies) ?? ""),
            serverTiming: try values.flag(.serverTiming)
        )
        for limit in LimitSetting.all {
            limit.apply(&self, try values.integer(limit.setting, in: limit.range))
        }
        functions.parse = gateway.limits.parse
        // What goes on in a transaction may need a second connection for a moment.
        functions.transactions = min(functions.transactions, max(1, poolSize / 2))
    }
}

/// The form of log lines.
enum LogFormat: String, Sendable {
    case text
    case json
}

/// Looks settings up by name, with their defaults.
struct SettingValues {
    let reader: ConfigReader

    func text(_ setting: Setting) -> String? {
        let key = ConfigKey([setting.name])
        if let text = reader.string(forKey: key, isSecret: setting.isSecret), !text.isEmpty { return text }
        // A number in the settings file.
        if let number = reader.int(forKey: key) { return String(number) }
        if let number = reader.double(forKey: key) { return String(number) }
        if let flag = reader.bool(forKey: key) { return String(flag) }
        return setting.defaultValue
    }

    func integer(_ setting: Setting, in range: ClosedRange<Int>) throws(ServiceError) -> Int {
        let text = text(setting) ?? ""
        guard let number = Int(text), range.contains(number) else {
            throw ServiceError(
                .invalidSetting,
                "\(setting.name) must be a number from \(range.lowerBound) to \(range.upperBound), not '\(text)'"
            )
        }
        return number
    }

    func number(_ setting: Setting, in range: ClosedRange<Double>) throws(ServiceError) -> Double {
        let text = text(setting) ?? ""
        guard let number = Double(text), range.contains(number) else {
            throw ServiceError(
                .invalidSetting,
                "\(setting.name) must be a number from \(range.lowerBound) to \(range.upperBound), not '\(text)'"
            )
        }
        return number
    }

    func flag(_ setting: Setting) throws(ServiceError) -> Bool {
        let text = text(setting) ?? ""
        guard let flag = Bool(text) else {
            throw ServiceError(.invalidSetting, "\(setting.name) must be true or false, not '\(text)'")
        }
        return flag
    }
}
