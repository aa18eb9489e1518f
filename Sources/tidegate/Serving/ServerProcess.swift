import Errors
import HTTPGateway
import Hummingbird
import HummingbirdCore
import HummingbirdHTTP2
import Logging
import NIOCore
import NIOHTTP1
import ServiceLifecycle
import SyncBridge

/// Runs the doors of one composition until told to stop: plain HTTP, and HTTPS when there is a certificate.
struct ServerProcess: Sendable {
    let composition: Composition
    let settings: ServerSettings
    let certificates: TLSCertificates?
    let logger: Logger
    /// Reads the settings again, from where ``settings`` came.
    let reloadSettings: @Sendable () async throws -> ServerSettings

    /// The header `Server` of every answer.
    private static let name = "tidegate"

    /// Where the doors listen, once they do.
    struct Ports: Sendable {
        var http: Int?
        var https: Int?
        var admin: Int?
    }

    /// Serves until a signal ends it.
    ///
    /// - Parameter onReady: Called once, when every door listens.
    /// - Throws: What kept a door from opening, or ended one.
    func run(onReady: @escaping @Sendable (Ports) async -> Void) async throws {
        let doors = OpenDoors(
            wantsHTTPS: certificates != nil,
            wantsAdmin: settings.adminPort != nil,
            onReady: onReady
        )
        let gateway = composition.gateway
        let responder = CurrentResponder(gateway.responder())
        let current = CurrentSettings(settings, load: reloadSettings)
        let http1 = http1(current)
        // Its requests go past the framework, which would take the connection for an idle one.
        var plain = http1
        plain.idleTimeout = nil
        let readiness = composition.readiness
        let guarding = ConnectionPolicy(settings, gateway.turnstiles, logger)
        let loops = DoorLoops(gateway.turnstiles)
        // Services stop in reverse order: this door last, so that it tells of the others' end.
        var services: [any Service] = admin(http1) { await doors.opened(admin: $0) }
        services += composition.followers
        let framework = framework(responder)
        services.append(
            HTTPDoor(
                child: DirectChannel(
                    HTTP1Channel(responder: framework, configuration: plain),
                    responder: responder,
                    serverName: Self.name,
                    readiness: readiness
                ),
                host: settings.host,
                port: settings.port,
                setting: .port,
                isPlain: true,
                policy: guarding,
                loops: loops,
                logger: logger,
                onOpen: { await doors.opened(http: $0) }
            )
        )
        if let certificates {
            services.append(
                HTTPDoor(
                    child: try HTTP2UpgradeChannel(
                        tlsConfiguration: certificates.configuration(),
                        configuration: .init(
                            idleTimeout: .seconds(settings.connections.idleTimeout),
                            streamConfiguration: http1
                        ),
                        responder: framework
                    ),
                    host: settings.httpsHost,
                    port: settings.httpsPort,
                    setting: .httpsPort,
                    isPlain: false,
                    policy: guarding,
                    loops: loops,
                    logger: logger,
                    onOpen: { await doors.opened(https: $0) }
                )
            )
        }
        services.append(
            Reloader(certificates: certificates, settings: current, logger: logger) { settings in
                responder.replace(gateway.with(settings.gateway).responder())
            }
        )
        services.append(EndOfWatches(watches: composition.watches))
        services.append(
            Draining(readiness: composition.readiness, delay: settings.drainDelay, logger: logger)
        )
        var configuration = ServiceGroupConfiguration(services: services, logger: logger)
        configuration.maximumGracefulShutdownDuration = settings.drainDelay + settings.drainTimeout
        let group = ServiceGroup(configuration: configuration)
        await StopSignals(group: group, logger: logger).watch()
        try await group.run()
    }

    /// What the framework's own server has done with each request that comes through it.
    private func framework<Responder: HTTPResponder>(_ responder: Responder) -> HTTPChannelHandler.Responder
    where Responder.Context == GatewayContext {
        { [logger] request, writer, channel in
            var response: Response
            do {
                let context = GatewayContext(source: .init(channel: channel, logger: logger))
                response = try await responder.respond(to: request, context: context)
            } catch let error as HTTPParserError {
                throw error
            } catch {
                logger.error("a request was not answered: \(error)")
                response = Response(status: .internalServerError)
            }
            response.headers[.date] = HTTPDate.text
            response.headers[.server] = Self.name
            try await writer.write(response: response.head, body: response.body)
        }
    }

    /// The operator's door, unless it is turned off.
    private func admin(_ http1: HTTP1Channel.Configuration, onOpen: @escaping @Sendable (Int) async -> Void)
        -> [any Service]
    {
        guard let port = settings.adminPort else { return [] }
        let gateway = AdminGateway(telemetry: composition.telemetry, readiness: composition.readiness)
        return [
            Door(
                server: Application(
                    responder: gateway.responder(),
                    server: .http1(configuration: http1),
                    configuration: ApplicationConfiguration(
                        address: .hostname(settings.adminHost, port: port),
                        serverName: Self.name
                    ),
                    onServerRunning: { await onOpen($0.localAddress?.port ?? 0) },
                    logger: logger
                ),
                address: "\(settings.adminHost):\(port)",
                setting: Setting.adminPort.name
            )
        ]
    }

    /// A connection of HTTP/1.1, or a stream of HTTP/2.
    private func http1(_ current: CurrentSettings) -> HTTP1Channel.Configuration {
        let readiness = composition.readiness
        let sync = composition.syncDoor
        let writing = TimeAmount.seconds(Int64(settings.connections.writeTimeout))
        return HTTP1Channel.Configuration(
            additionalChannelHandlers: [
                DrainHandler(readiness: readiness),
                SlowBodyHandler(timeout: TimeAmount(current.value.gateway.bodyTimeout)),
                SlowReaderHandler(timeout: writing),
                SyncUpgradeHandler(door: sync, release: Self.release),
            ],
            idleTimeout: .seconds(Int64(settings.connections.idleTimeout)),
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: settings.gateway.limits.headerBytes,
                maxHeaderListSize: settings.gateway.limits.headerBytes,
                maxHeaderFieldCount: settings.gateway.limits.headerFields
            )
        )
    }

    /// Takes out what watches over requests and answers, and nothing else: the connection carries none any more.
    @Sendable private static func release(_ pipeline: ChannelPipeline.SynchronousOperations) {
        func remove<Handler: RemovableChannelHandler>(_ type: Handler.Type) {
            guard let handler = try? pipeline.handler(type: type) else { return }
            pipeline.removeHandler(handler, promise: nil)
        }
        remove(ConnectionGuard.self)
        remove(TurnstileHandler.self)
        remove(DirectHandler.self)
        remove(DrainHandler.self)
        remove(SlowBodyHandler.self)
        remove(SlowReaderHandler.self)
    }
}

/// Knows which doors listen, and says so once when all do.
private actor OpenDoors {
    private var ports = ServerProcess.Ports()
    private let wantsHTTPS: Bool
    private let wantsAdmin: Bool
    private let onReady: @Sendable (ServerProcess.Ports) async -> Void

    init(
        wantsHTTPS: Bool,
        wantsAdmin: Bool,
        onReady: @escaping @Sendable (ServerProcess.Ports) async -> Void
    ) {
        self.wantsHTTPS = wantsHTTPS
        self.wantsAdmin = wantsAdmin
        self.onReady = onReady
    }

    func opened(http port: Int) async {
        ports.http = port
        await announce()
    }

    func opened(https port: Int) async {
        ports.https = port
        await announce()
    }

    func opened(admin port: Int) async {
        ports.admin = port
        await announce()
    }

    private func announce() async {
        guard ports.http != nil, ports.https != nil || !wantsHTTPS, ports.admin != nil || !wantsAdmin else {
            return
        }
        await onReady(ports)
    }
}
