import Glibc
import NIOCore
import NIOPosix
import Synchronization
import TestSupport
import Testing

@testable import HTTPGateway
@testable import tidegate

@Suite("Connections are kept until they say something")
struct ReceptionTests {
    /// Whom a reception hands on.
    private final class Arrivals: Sendable {
        let all = Mutex<[Reception.Arrival]>([])

        func next() async throws -> Reception.Arrival {
            try await eventually { !self.all.withLock { $0.isEmpty } }
            return all.withLock { $0.removeFirst() }
        }

        /// What one has said, of which nothing was taken.
        static func text(_ arrival: Reception.Arrival) -> String {
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = recv(arrival.socket, &bytes, bytes.count, Int32(MSG_DONTWAIT))
            return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        }
    }

    private func withReception(
        isPlain: Bool = true,
        most: Int = 0,
        patience: TimeAmount = .seconds(600),
        _ body: (String, Arrivals) async throws -> Void,
        after: (Arrivals) async throws -> Void = { _ in }
    ) async throws {
        let listening = try ListeningSocket(host: "127.0.0.1", port: 0)
        #expect(listening.port > 0)
        let arrivals = Arrivals()
        let reception = Reception(
            listening,
            isPlain: isPlain,
            connections: ConnectionCount(most: most),
            patience: patience
        ) { more in arrivals.all.withLock { $0 += more } }
        reception.start()
        do {
            try await body("http://127.0.0.1:\(listening.port)", arrivals)
        } catch {
            await reception.stop()
            throw error
        }
        await reception.stop()
        try await after(arrivals)
    }

    @Test("who speaks is handed on with all that was said, and who calls an endpoint is known")
    func speaks() async throws {
        try await withReception { address, arrivals in
            let silent = try RawConnection(address)
            for (path, callsFunction) in [
                ("/app/shop-abcde/endpoint/hello?a=1", true),
                ("/app/shop-abcde/endpoint/data/v1/action/findOne", false),
                ("/api/client/v2.0/app/shop-abcde/functions/call", false), ("/health", false),
                ("/app//endpoint/hello", false), ("/app/shop-abcde/endpointed", false),
            ] {
                let connection = try RawConnection(address)
                let said = "GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n"
                connection.send(said)
                let arrival = try await arrivals.next()
                #expect(Arrivals.text(arrival) == said)
                #expect(arrival.callsFunction == callsFunction, "\(path)")
                Glibc.close(arrival.socket)
            }
            silent.send("G")
            let arrival = try await arrivals.next()
            #expect(Arrivals.text(arrival) == "G")
            #expect(!arrival.callsFunction)
            Glibc.close(arrival.socket)
        }
        // What is encrypted says nothing of what it calls.
        try await withReception(isPlain: false) { address, arrivals in
            let connection = try RawConnection(address)
            connection.send("GET /app/shop-abcde/endpoint/hello HTTP/1.1\r\n")
            let arrival = try await arrivals.next()
            #expect(!arrival.callsFunction)
            Glibc.close(arrival.socket)
        }
    }

    @Test("who says nothing is closed when the time is up, and who leaves is let go")
    func silence() async throws {
        try await withReception(most: 1, patience: .milliseconds(50)) { address, arrivals in
            // Each is let in only when the one before is gone.
            for _ in 0..<3 {
                let connection = try RawConnection(address)
                #expect(connection.receiveAll() == "")
            }
            #expect(arrivals.all.withLock { $0.isEmpty })
        }
        try await withReception(most: 1) { address, arrivals in
            let leaving = try RawConnection(address)
            leaving.finishSending()
            #expect(leaving.receiveAll() == "")
            let next = try RawConnection(address)
            next.send("x")
            let arrival = try await arrivals.next()
            #expect(Arrivals.text(arrival) == "x")
            Glibc.close(arrival.socket)
        }
    }

    @Test("who is one too many is told so, and stopping closes the others")
    func bounds() async throws {
        var left: RawConnection?
        try await withReception(most: 1) { address, arrivals in
            left = try RawConnection(address)
            // Taken in once another one is turned away.
            let refused = try RawConnection(address).receiveAll()
            #expect(refused?.hasPrefix("HTTP/1.1 503 ") == true)
            #expect(refused?.contains("Retry-After: 1\r\n") == true)
            #expect(arrivals.all.withLock { $0.isEmpty })
        }
        #expect(left?.receiveAll() == "")
    }

    @Test("who has spoken before it stops is handed on, however late that was")
    func lastWords() async throws {
        var connections: [RawConnection] = []
        try await withReception { address, _ in
            connections = try (0..<100).map { _ in try RawConnection(address) }
            for (number, connection) in connections.enumerated() where number % 2 == 0 {
                connection.send("x")
            }
        } after: { arrivals in
            let handed = arrivals.all.withLock { $0 }
            #expect(handed.count == 50)
            for arrival in handed { Glibc.close(arrival.socket) }
        }
        for connection in connections { _ = connection.receiveAll() }
    }

    @Test("silent connections are known apart though their descriptors are given again")
    func descriptors() {
        var silent = SilentConnections()
        silent.add(5, deadline: 10)
        silent.add(6, deadline: 11)
        silent.remove(5)
        silent.add(5, deadline: 20)
        #expect(silent.firstDeadline == 11)
        #expect(silent.takeLate(10) == [])
        #expect(silent.takeLate(15) == [6])
        #expect(silent.firstDeadline == 20)
        #expect(silent.takeLate(30) == [5])
        #expect(silent.firstDeadline == nil)
        silent.add(7, deadline: 40)
        #expect(silent.sockets == [7])
    }

    @Test("an address that is not free, or not known, is refused")
    func addresses() throws {
        let taken = try ListeningSocket(host: "127.0.0.1", port: 0)
        #expect(throws: IOError.self) { try ListeningSocket(host: "127.0.0.1", port: taken.port) }
        #expect(throws: (any Error).self) { try ListeningSocket(host: "no such host", port: 0) }
        Glibc.close(taken.descriptor)
        let six = try ListeningSocket(host: "::1", port: 0)
        #expect(six.port > 0)
        Glibc.close(six.descriptor)
    }
}
