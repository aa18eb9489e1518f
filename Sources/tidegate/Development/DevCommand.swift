import ArgumentParser
import Errors
import Foundation
import HTTPGateway
import Logging
import Migrations
import Postgres
import Services

/// `tidegate dev`: a private PostgreSQL, an app, and both doors, in one command.
struct DevCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dev",
        abstract: "Serve an app from a private PostgreSQL, for development.",
        discussion: """
            Without --app it serves a sample: items that belong to their owner. Everything lies in the data
            directory and is there again at the next start. Ctrl-C stops all that was started.
            """
    )

    @Option(name: .long, help: "The directory of an exported app.") var app: String?
    @Option(name: .long, help: "Where PostgreSQL's files, certificates and keys lie.") var dataDir =
        ".tidegate"
    @OptionGroup var options: ServerOptions

    func run() async throws {
        var settings = try await Self.settings(options)
        let directory = URL(fileURLWithPath: dataDir).standardizedFileURL
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        settings.mail.folder = directory.appendingPathComponent("mail").path
        let lock = try DevelopmentLock(directory: directory)
        defer { lock.release() }
        let cluster = try await startCluster(in: directory)
        do {
            try await serve(settings, directory: directory, cluster: cluster, lock: lock)
        } catch {
            await cluster.stop()
            throw error
        }
        await cluster.stop()
    }

    /// For one developer on one machine: nobody else gets in, Ctrl-C waits for no load balancer.
    private static func settings(_ options: ServerOptions) async throws -> ServerSettings {
        var settings = try await ServerSettings.load(options)
        if options.httpsHost == nil { settings.httpsHost = "127.0.0.1" }
        if options.serverTiming == nil { settings.gateway.serverTiming = true }
        if options.drainDelay == nil { settings.drainDelay = .zero }
        if options.logLevel == nil { settings.logLevel = .warning }
        return settings
    }

    /// PostgreSQL must be able to reach its files; under a home that is closed to its account they go elsewhere.
    private func startCluster(in directory: URL) async throws -> PrivateCluster {
        let beside = PrivateCluster(directory: directory.appendingPathComponent("postgres").path)
        guard let refusal = await Self.start(beside) else { return beside }
        guard refusal.message.contains("may not enter") else { throw refusal }
        let name = directory.path.replacingOccurrences(of: "/", with: "-")
        let elsewhere = "/var/lib/tidegate/dev\(name)"
        print("PostgreSQL's account cannot enter \(directory.path): its files are in \(elsewhere)")
        let cluster = PrivateCluster(directory: elsewhere)
        try await cluster.start()
        return cluster
    }

    private static func start(_ cluster: PrivateCluster) async -> ServiceError? {
        do {
            try await cluster.start()
            return nil
        } catch {
            return error
        }
    }

    /// Runs the doors, and watches the app's directory meanwhile.
    private func serving(
        _ process: ServerProcess,
        _ composition: Composition,
        onReady: @escaping @Sendable (ServerProcess.Ports) async -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            if let app {
                group.addTask { await AppWatch(directory: app, composition: composition).run() }
            }
            defer { group.cancelAll() }
            try await process.run(onReady: onReady)
        }
    }

    private func serve(
        _ settings: ServerSettings,
        directory: URL,
        cluster: PrivateCluster,
        lock: DevelopmentLock
    ) async throws {
        let url = cluster.connectionString()
        let logger = makeLogger(settings)
        let setUp = DevelopmentSetUp(databaseURL: url, directory: directory, appDirectory: app)
        let served = try await setUp.run()
        let tls = DevelopmentCertificates(directory: directory.appendingPathComponent("tls"))
        try tls.prepare(now: Date())
        let certificates = try TLSCertificates(
            certificateFile: tls.certificateFile.path,
            keyFile: tls.keyFile.path
        )
        let composition = try await Composition.make(settings: settings, databaseURL: url, logger: logger)
        let sample = app == nil ? try await SampleData(directory: directory).prepare(composition) : nil
        let process = ServerProcess(
            composition: composition,
            settings: settings,
            certificates: certificates,
            logger: logger,
            reloadSettings: { [options] in try await Self.settings(options) }
        )
        let host = settings.host
        let adminHost = settings.adminHost
        do {
            try await serving(process, composition) { ports in
                let addresses = DevelopmentLock.Addresses(
                    pid: getpid(),
                    http: "http://\(host):\(ports.http ?? 0)",
                    https: "https://localhost:\(ports.https ?? 0)",
                    database: url,
                    admin: ports.admin.map { "http://\(adminHost):\($0)" }
                )
                lock.announce(addresses)
                Welcome(
                    addresses: addresses,
                    clientAppID: served,
                    sample: sample,
                    authority: tls.authorityFile.path
                ).show()
            }
        } catch {
            await composition.close()
            throw error
        }
        await composition.close()
    }
}
