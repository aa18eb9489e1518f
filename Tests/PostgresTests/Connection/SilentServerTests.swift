import Errors
import Foundation
import Postgres
import Testing

/// A server that lets everybody in and then says nothing: a stalled proxy, a machine that hangs.
private final class SilentServer: Sendable {
    let directory: String
    private let listener: Int32

    init() throws {
        directory = "/tmp/tidegate-silent-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = Array((directory + "/.s.PGSQL.5432").utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        #expect(status == 0 && listen(listener, 8) == 0)
        Thread.detachNewThread { [listener] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return }
                var startup = [UInt8](repeating: 0, count: 4096)
                _ = recv(client, &startup, startup.count, 0)
                let welcome = Self.welcome
                _ = send(client, welcome, welcome.count, Int32(MSG_NOSIGNAL))
            }
        }
    }

    func close() {
        shutdown(listener, Int32(SHUT_RDWR))
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// Everything up to `ReadyForQuery`.
    private static var welcome: [UInt8] {
        func message(_ kind: Character, _ body: [UInt8]) -> [UInt8] {
            let length = UInt32(body.count + 4).bigEndian
            return Array(String(kind).utf8) + withUnsafeBytes(of: length) { Array($0) } + body
        }
        return message("R", [0, 0, 0, 0])
            + message("S", Array("server_version\0".utf8) + Array("15.0\0".utf8))
            + message("S", Array("server_encoding\0".utf8) + Array("UTF8\0".utf8))
            + message("Z", Array("I".utf8))
    }
}

@Suite("A server that falls silent")
struct SilentServerTests {
    @Test("while a session is being opened counts as one that cannot be reached")
    func isUnreachable() async throws {
        let server = try SilentServer()
        defer { server.close() }
        var settings = PostgresSettings(connectionString: "host=\(server.directory) user=x dbname=x")
        settings.connectTimeout = .seconds(2)
        let database = Database(settings: settings)
        let error = await #expect(throws: ServiceError.self) { try await database.check() }
        #expect(error?.code == .maintenanceInProgress)
        #expect(error?.details["reason"] == "the server accepted the connection, but does not answer")
        await database.close()
    }
}
