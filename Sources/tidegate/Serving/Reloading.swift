import Errors
import HTTPGateway
import Logging
import ServiceLifecycle
import Synchronization
import UnixSignals

/// The settings in force: read again on SIGHUP, and put in force as far as that can be done in a running server.
final class CurrentSettings: Sendable {
    private let current: Mutex<ServerSettings>
    private let load: @Sendable () async throws -> ServerSettings

    /// - Parameters:
    ///   - settings: What the server was started with.
    ///   - load: Reads them again from where they came.
    init(_ settings: ServerSettings, load: @escaping @Sendable () async throws -> ServerSettings) {
        current = Mutex(settings)
        self.load = load
    }

    var value: ServerSettings { current.withLock { $0 } }

    /// What became of reading again: names of settings whose values are others now.
    struct Change {
        let inForce: [String]
        let afterRestart: [String]
    }

    /// Reads the settings again; those that cannot be read, or have a fault, change nothing.
    func reload() async throws -> Change {
        let new = try await load()
        let old = value
        let changed = Setting.all.map(\.name).filter { old.texts[$0] != new.texts[$0] }
        var merged = old
        merged.gateway = new.gateway
        // The sockets' decoders keep what they were made with.
        merged.gateway.limits.headerBytes = old.gateway.limits.headerBytes
        merged.gateway.limits.headerFields = old.gateway.limits.headerFields
        merged.logLevel = new.logLevel
        for name in changed where Setting.changeable.contains(name) { merged.texts[name] = new.texts[name] }
        current.withLock { $0 = merged }
        return Change(
            inForce: changed.filter { Setting.changeable.contains($0) },
            afterRestart: changed.filter { !Setting.changeable.contains($0) }
        )
    }
}

extension Setting {
    /// What a running server can change: how it answers, not what it was built on.
    static let changeable: Set<String> =
        Set(
            [
                logLevel, bodyTimeout, requestTimeout, insertStatus, publicURL, trustedProxies, serverTiming,
            ].map(\.name)
        ).union(LimitSetting.changeable)
}

/// Reads certificates and settings again on SIGHUP, for as long as the server runs.
struct Reloader: Service {
    let certificates: TLSCertificates?
    let settings: CurrentSettings
    let logger: Logger
    /// Puts settings in force.
    let apply: @Sendable (ServerSettings) -> Void

    func run() async throws {
        let hangups = await UnixSignalsSequence(trapping: .sighup)
        for await _ in hangups.cancelOnGracefulShutdown() {
            reloadCertificates()
            await reloadSettings()
        }
    }

    private func reloadCertificates() {
        guard let certificates else { return }
        do {
            try certificates.reload()
            logger.notice("certificates read again")
        } catch {
            logger.error(
                "certificates not read again; the old ones stay",
                metadata: ["reason": .string(error.message)]
            )
        }
    }

    private func reloadSettings() async {
        do {
            let change = try await settings.reload()
            var log = logger
            log.logLevel = settings.value.logLevel
            apply(settings.value)
            logger.notice(
                "settings read again",
                metadata: [
                    "changed": .string(change.inForce.joined(separator: ", ")),
                    "need_restart": .string(change.afterRestart.joined(separator: ", ")),
                ]
            )
        } catch {
            let reason = (error as? ServiceError)?.message ?? "\(error)"
            logger.error("settings not read again; the old ones stay", metadata: ["reason": .string(reason)])
        }
    }
}
