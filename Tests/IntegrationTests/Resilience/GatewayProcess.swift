import Foundation
import TestSupport
import Testing

/// One `tidegate serve`, to be sent signals and watched as it ends.
final class GatewayProcess: Sendable {
    let directory: URL
    private let log: URL
    private let process: WatchedProcess

    /// Starts the process with a settings file of its own, if one is given.
    init(database: String, settings: String? = nil, arguments: [String] = []) throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent(
            "tidegate-\(UUID().uuidString)"
        )
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        log = directory.appendingPathComponent("server.log")
        var arguments =
            ["serve", "--port", "0", "--https-port", "0", "--admin-port", "off", "--database-url", database]
            + arguments
        if let settings {
            let file = directory.appendingPathComponent("settings.json")
            try Data(settings.utf8).write(to: file)
            arguments += ["--settings", file.path]
        }
        process = try WatchedProcess(RunningServer.binary, arguments, output: log, errors: log)
    }

    /// The exit code, or 128 and the signal; nil while it runs.
    var exitCode: Int32? { process.exitCode }

    /// What it printed and logged.
    var output: String { (try? String(contentsOf: log, encoding: .utf8)) ?? "" }

    /// The port behind a label of what it prints when it listens.
    func port(_ label: String = "HTTP ") -> UInt16? {
        output.split(separator: "\n").first { $0.hasPrefix(label) }
            .flatMap { $0.split(separator: ":").last }.flatMap { UInt16($0) }
    }

    /// Waits until it listens.
    func started() async throws -> UInt16 {
        try await eventually { port() != nil || exitCode != nil }
        guard let port = port() else { throw Ended(log: output) }
        return port
    }

    /// It ended instead of starting.
    struct Ended: Error {
        let log: String
    }

    func send(_ signal: Int32) { process.send(signal) }

    func writeSettings(_ text: String) throws {
        try Data(text.utf8).write(to: directory.appendingPathComponent("settings.json"))
    }

    /// Ends it, whatever it does, and removes its files.
    func remove() {
        send(SIGKILL)
        try? FileManager.default.removeItem(at: directory)
    }
}

/// Certificates for one day.
enum TestCertificate {
    static func make(_ name: String, _ certificate: String, _ key: String) throws {
        let result = try Shell.run(
            URL(fileURLWithPath: "/usr/bin/openssl"),
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                "-days", "1",
                "-subj", "/CN=\(name)", "-out", certificate, "-keyout", key,
            ]
        )
        #expect(result.status == 0, "\(result.errors)")
    }
}
