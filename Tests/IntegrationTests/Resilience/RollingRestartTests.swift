import Foundation
import Synchronization
import TestSupport
import Testing

/// The simplest of load balancers: asks every gateway whether it is ready and offers those that are.
private final class Balancer: Sendable {
    private struct State {
        var ports: [UInt16] = []
        var ready: [UInt16] = []
        var isOver = false
    }

    private let state = Mutex(State())

    func begin() {
        Thread.detachNewThread { [self] in
            while !state.withLock({ $0.isOver }) {
                let ports = state.withLock { $0.ports }
                let ready = ports.filter { (try? PlainHTTP(port: $0).send("GET", "/ready").status) == 200 }
                state.withLock { $0.ready = ready }
                usleep(20_000)
            }
        }
    }

    func add(_ port: UInt16) {
        state.withLock { $0.ports.append(port) }
    }

    func isReady(_ port: UInt16) -> Bool { state.withLock { $0.ready.contains(port) } }
    var anyPort: UInt16? { state.withLock { $0.ready.randomElement() } }
    func end() { state.withLock { $0.isOver = true } }
}

/// A client that inserts on and on, over one connection as long as that is welcome, and tries again only what was
/// refused before it was sent.
private final class Client: Sendable {
    struct Count {
        var inserted = 0
        var lost: [String] = []
        var isOver = false
        var hasEnded = false
    }

    let count = Mutex(Count())

    func begin(_ balancer: Balancer, _ user: APICaller.User) {
        Thread.detachNewThread { [self] in
            var http: (port: UInt16, connection: PlainHTTP)?
            while !count.withLock({ $0.isOver }) {
                guard let port = http?.port ?? balancer.anyPort else { continue }
                let connection = http?.connection ?? PlainHTTP(port: port)
                http = (port, connection)
                do throws(PlainHTTP.Failure) {
                    let answer = try insertOne(connection, "Open", 1, user)
                    count.withLock { count in
                        if answer.status == 201 {
                            count.inserted += 1
                        } else {
                            count.lost.append("\(answer.status) \(answer.body)")
                        }
                    }
                    if answer.closes { http = nil }
                } catch {
                    http = nil
                    if case .refused = error { continue }
                    count.withLock { $0.lost.append("\(error)") }
                }
            }
            count.withLock { $0.hasEnded = true }
        }
    }
}

@Suite("Two gateways restarted one after the other")
struct RollingRestartTests {
    @Test("lose no request of clients that send without a pause")
    func losesNothing() async throws {
        let (api, user) = try await SharedServer.user()
        let balancer = Balancer()
        balancer.begin()
        defer { balancer.end() }
        let arguments = ["--drain-delay", "1", "--pool-size", "4"]
        var gateways: [GatewayProcess] = []
        defer { for gateway in gateways { gateway.remove() } }
        for _ in 0..<2 {
            let gateway = try GatewayProcess(database: api.server.database, arguments: arguments)
            gateways.append(gateway)
            balancer.add(try await gateway.started())
        }
        try await eventually { balancer.anyPort != nil }
        let clients = (0..<4).map { _ in Client() }
        for client in clients { client.begin(balancer, user) }
        for old in gateways {
            let new = try GatewayProcess(database: api.server.database, arguments: arguments)
            gateways.append(new)
            let port = try await new.started()
            balancer.add(port)
            try await eventually { balancer.isReady(port) }
            old.send(SIGTERM)
            try await eventually { old.exitCode != nil }
            #expect(old.exitCode == 0, "\(old.output)")
        }
        for client in clients { client.count.withLock { $0.isOver = true } }
        try await eventually { clients.allSatisfy { $0.count.withLock { $0.hasEnded } } }
        let counts = clients.map { $0.count.withLock { $0 } }
        #expect(counts.flatMap(\.lost) == [])
        let inserted = counts.reduce(0) { $0 + $1.inserted }
        #expect(inserted > 0)
        let stored = try Shell.psql(
            api.server.database,
            #"select count(*) from todo."Open" where doc->>'ownerId' = '\#(user.id)'"#
        )
        #expect(Int(stored) == inserted)
    }
}
