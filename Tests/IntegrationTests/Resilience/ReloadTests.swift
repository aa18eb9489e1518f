import Foundation
import TestSupport
import Testing

@Suite("SIGHUP and starting")
struct ReloadTests {
    @Test("changes the log level and limits, says what needs a restart, and bears a bad file")
    func settings() async throws {
        let api = try await SharedServer.caller()
        let gateway = try GatewayProcess(
            database: api.server.database,
            settings: #"{"log-level": "warning", "pool-size": 4}"#,
            arguments: ["--drain-delay", "0"]
        )
        defer { gateway.remove() }
        let http = PlainHTTP(port: try await gateway.started())
        let body = String(repeating: " ", count: 2000)
        let path = "/app/\(api.app)/endpoint/data/v1/action/find"
        #expect(try http.send("POST", path, [], body).status != 413)
        #expect(!gateway.output.contains("request finished"))

        try gateway.writeSettings(
            #"{"log-level": "debug", "pool-size": 5, "max-body-bytes": 1024, "max-waiting-logins": 9}"#
        )
        gateway.send(SIGHUP)
        try await eventually {
            gateway.output.contains("need_restart=pool-size, max-waiting-logins")
                || gateway.output.contains("need_restart=max-waiting-logins, pool-size")
        }
        #expect(
            gateway.output.contains("changed=max-body-bytes, log-level")
                || gateway.output.contains("changed=log-level, max-body-bytes")
        )
        #expect(try PlainHTTP(port: try await gateway.started()).send("POST", path, [], body).status == 413)
        try await eventually { gateway.output.contains("request finished") }

        for bad in [#"{"log-level": "loud"}"#, "{", #"{"max-body-bytes": -1}"#] {
            let before = gateway.output.components(separatedBy: "the old ones stay").count
            try gateway.writeSettings(bad)
            gateway.send(SIGHUP)
            try await eventually {
                gateway.output.components(separatedBy: "the old ones stay").count == before + 1
            }
            #expect(
                try PlainHTTP(port: try await gateway.started()).send("POST", path, [], body).status == 413
            )
        }
        #expect(gateway.exitCode == nil)
    }

    @Test("takes a new certificate for new connections, and keeps the old one when the new is broken")
    func certificates() async throws {
        let api = try await SharedServer.caller()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let certificate = folder.appendingPathComponent("cert.pem").path
        let key = folder.appendingPathComponent("key.pem").path
        try TestCertificate.make("first.example", certificate, key)
        let gateway = try GatewayProcess(
            database: api.server.database,
            arguments: ["--drain-delay", "0", "--tls-certificate", certificate, "--tls-key", key]
        )
        defer { gateway.remove() }
        _ = try await gateway.started()
        let port = try #require(gateway.port("HTTPS "))
        #expect(try subject(port).contains("first.example"))
        try TestCertificate.make("second.example", certificate, key)
        gateway.send(SIGHUP)
        try await eventually { try subject(port).contains("second.example") }
        try Data("nonsense".utf8).write(to: URL(fileURLWithPath: certificate))
        gateway.send(SIGHUP)
        try await eventually { gateway.output.contains("certificates not read again") }
        #expect(try subject(port).contains("second.example"))
    }

    @Test("waits for a database that is not there yet")
    func waitsForDatabase() async throws {
        let api = try await SharedServer.caller()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pg-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let gateway = try GatewayProcess(
            database: "host='\(folder.path)' user=postgres dbname=tidegate",
            arguments: ["--drain-delay", "0"]
        )
        defer { gateway.remove() }
        try await eventually { gateway.output.contains("waiting for the database") }
        let socket = try #require(api.server.database.split(separator: "'").dropFirst().first)
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/.s.PGSQL.5432",
            withDestinationPath: socket + "/.s.PGSQL.5432"
        )
        #expect(try PlainHTTP(port: try await gateway.started()).send("GET", "/health").status == 200)
    }

    /// Whom the server says it is.
    private func subject(_ port: UInt16) throws -> String {
        try Shell.run(
            URL(fileURLWithPath: "/usr/bin/openssl"),
            ["s_client", "-connect", "127.0.0.1:\(port)", "-servername", "localhost"]
        ).output
    }
}
