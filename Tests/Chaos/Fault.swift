import Foundation
import Glibc
import SQL
import TestSupport

/// What goes wrong in a round.
enum Fault: String, CaseIterable {
    case killGateway = "kill -9 a gateway and start it again"
    case killBackend = "kill -9 one of PostgreSQL's backends"
    case terminateBackends = "pg_terminate_backend of half of the sessions"
    case crashDatabase = "kill -9 all of PostgreSQL and start it again"
    case loseMaster = "kill -9 the postmaster alone and start it again"
    case restartDatabase = "restart PostgreSQL in fast mode"
    case fillConnections = "take every connection that PostgreSQL has left"
    case cutConnections = "cut connections in the middle of messages"
    case stallConnections = "hold all bytes back for a while"
    case deafConnections = "accept connections and never answer them"
    case freezeGateway = "SIGSTOP a gateway for a while"
    case freezeDatabase = "SIGSTOP PostgreSQL for a while"

    /// Does it; everything is whole again when it returns, but for what the gateways have to mend themselves.
    func strike(_ stage: Stage, _ random: inout SeededRandom) throws {
        let pause = UInt32(200_000 + random.below(600_000))
        switch self {
        case .killGateway:
            let victim = stage.gateways[random.below(stage.gateways.count)]
            victim.crash()
            usleep(pause)
            try victim.start()
        case .killBackend:
            let backends = try stage.database.backends()
            if !backends.isEmpty { kill(backends[random.below(backends.count)], SIGKILL) }
        case .terminateBackends:
            _ = try stage.database.query(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE application_name LIKE 'tidegate%' AND pid <> pg_backend_pid() AND random() < 0.5
                """
            )
        case .crashDatabase: try stage.database.crashAndRecover()
        case .loseMaster: try stage.database.loseMasterAndRecover()
        case .restartDatabase: try stage.database.restartFast()
        case .fillConnections: try fillConnections(stage, pause)
        case .cutConnections:
            for _ in 0..<4 {
                stage.proxy.cutAll { _ in random.oneIn(3) ? 0 : random.below(400) }
                usleep(pause / 2)
            }
        case .stallConnections:
            stage.proxy.become(.stalling)
            usleep(pause * 3)
            if random.oneIn(2) { stage.proxy.cutAll { _ in 0 } }
            stage.proxy.become(.passing)
        case .deafConnections:
            stage.proxy.become(.deaf)
            stage.proxy.cutAll { _ in 0 }
            usleep(pause * 2)
            stage.proxy.become(.passing)
        case .freezeGateway:
            let victim = stage.gateways[random.below(stage.gateways.count)]
            victim.signal(SIGSTOP)
            usleep(pause * 2)
            victim.signal(SIGCONT)
        case .freezeDatabase:
            stage.database.freeze()
            usleep(pause * 2)
            stage.database.thaw()
        }
    }

    /// Takes all places, makes the gateways need new ones, and gives the places back.
    private func fillConnections(_ stage: Stage, _ pause: UInt32) throws {
        let hoard = SessionHoard(socketDirectory: stage.database.socketDirectory)
        let victims = try stage.database.backends()
        hoard.takeAll()
        for victim in victims { kill(victim, SIGTERM) }
        usleep(50_000)
        hoard.takeAll()
        usleep(pause)
        hoard.release()
    }
}

/// Sessions that somebody else holds: they use up what PostgreSQL has.
private final class SessionHoard {
    private let path: String
    private var sockets: [Int32] = []

    init(socketDirectory: String) {
        path = socketDirectory + "/.s.PGSQL.5432"
    }

    /// Opens sessions until PostgreSQL refuses one.
    func takeAll() {
        while sockets.count < 1000, let session = open() { sockets.append(session) }
    }

    func release() {
        for socket in sockets { close(socket) }
        sockets = []
    }

    /// A start-up message of protocol 3.0; `R` is the answer that lets in, `E` the one that refuses.
    private func open() -> Int32? {
        guard let socket = UnixSocket.connect(path) else { return nil }
        let text = "user\0postgres\0database\0postgres\0\0"
        var message: [UInt8] = []
        for number in [UInt32(text.utf8.count + 8), 196_608] {
            withUnsafeBytes(of: number.bigEndian) { message.append(contentsOf: $0) }
        }
        message += Array(text.utf8)
        var answer: UInt8 = 0
        guard send(socket, message, message.count, Int32(MSG_NOSIGNAL)) == message.count,
            recv(socket, &answer, 1, 0) == 1, answer == UInt8(ascii: "R")
        else {
            close(socket)
            return nil
        }
        return socket
    }
}
