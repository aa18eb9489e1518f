import Accounts
import ArgumentParser
import Errors
import Glibc
import Logging
import Observability
import Services

/// `tidegate serve`: run the doors on an existing PostgreSQL until told to stop.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve every app of a PostgreSQL database.",
        discussion: """
            Settings come from flags, then from the environment (TIDEGATE_PORT and so on), then from the file
            of --settings. The database must be up to date: `tidegate migrate` brings it there.
            """
    )

    @OptionGroup var options: ServerOptions

    func run() async throws {
        let settings = try await ServerSettings.load(options)
        guard let databaseURL = settings.databaseURL else {
            throw ServiceError(
                .invalidSetting,
                "database-url is not set: --database-url or TIDEGATE_DATABASE_URL"
            )
        }
        let logger = makeLogger(settings)
        var certificates: TLSCertificates?
        if let certificate = settings.tlsCertificate, let key = settings.tlsKey {
            certificates = try TLSCertificates(certificateFile: certificate, keyFile: key)
        }
        let composition = try await Composition.makeWhenReachable(
            settings: settings,
            databaseURL: databaseURL,
            logger: logger
        )
        if composition.mail == nil, composition.apps.apps.contains(where: \.accounts.confirmsByMail) {
            logger.warning("mails to users wait in tidegate.outbox: smtp-host is not set")
        }
        let process = ServerProcess(
            composition: composition,
            settings: settings,
            certificates: certificates,
            logger: logger,
            reloadSettings: { [options] in try await ServerSettings.load(options) }
        )
        do {
            try await process.run { ports in
                if let port = ports.http { print("HTTP   http://\(settings.host):\(port)") }
                if let port = ports.https { print("HTTPS  https://\(settings.httpsHost):\(port)") }
                if let port = ports.admin { print("ADMIN  http://\(settings.adminHost):\(port)/status") }
                fflush(nil)
            }
        } catch {
            await composition.close()
            throw error
        }
        await composition.close()
    }
}

/// Logs to standard error in the form and at the level of the settings; what is logged on behalf of a request
/// carries its id.
func makeLogger(_ settings: ServerSettings) -> Logger {
    let provider = Logger.MetadataProvider {
        RequestTrace.current.map { ["request_id": .string($0.requestID)] } ?? [:]
    }
    let threshold = LogThreshold(settings.logLevel)
    return Logger(label: "tidegate") { label in
        switch settings.logFormat {
        case .text:
            AdjustableLog(
                StreamLogHandler.standardError(label: label, metadataProvider: provider),
                threshold: threshold
            )
        case .json:
            AdjustableLog(JSONLogHandler(label: label, metadataProvider: provider), threshold: threshold)
        }
    }
}
