public import Foundation
import Synchronization

/// The real binary, `tidegate dev`, on free ports with a data directory of its own.
///
/// Started once per test process and stopped at its exit.
public final class RunningServer: Sendable {
    /// Where plain HTTP is spoken: `http://127.0.0.1:port`.
    public let http: String
    /// Where TLS is spoken: `https://localhost:port`.
    public let https: String
    /// A libpq connection string for the private PostgreSQL, as its superuser.
    public let database: String
    /// Where health, metrics and status are; empty when they are turned off.
    public let admin: String
    /// Where the server's files are, its log among them.
    public let directory: URL
    private let process: Int32

    private init(
        http: String,
        https: String,
        database: String,
        admin: String,
        directory: URL,
        process: Int32
    ) {
        self.http = http
        self.https = https
        self.database = database
        self.admin = admin
        self.directory = directory
        self.process = process
    }

    /// The connection string of another login.
    public func database(as role: String) -> String {
        database.replacing("user=postgres", with: "user=\(role)")
    }

    private static let running = Mutex<[Int32]>([])
    private static let stopAtExit: Void = {
        atexit { RunningServer.stopAll() }
    }()

    /// Starts a server that serves an app's files, and waits until it answers.
    ///
    /// - Parameters:
    ///   - app: Paths and contents of an app's directory.
    ///   - name: For the directory's name.
    ///   - arguments: Further flags.
    /// - Returns: The server; it runs until the test process exits.
    /// - Throws: ``ServerDidNotStart`` after a minute, or when the process ends before.
    public static func start(app: [String: String], name: String, arguments: [String] = []) async throws
        -> RunningServer
    {
        let directory = try ScratchFolder.make(name)
        let appDirectory = directory.appendingPathComponent("app")
        for (path, text) in app {
            let file = appDirectory.appendingPathComponent(path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(text.utf8).write(to: file)
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory.path)
        let data = directory.appendingPathComponent("data")
        return try await start(
            data: data,
            directory: directory,
            arguments: [
                "dev", "--data-dir", data.path, "--app", appDirectory.path, "--port", "0",
                "--https-port", "0", "--admin-port", "0",
            ] + arguments
        )
    }

    /// Starts a second gateway, `tidegate serve`, on the database of a server that runs.
    ///
    /// - Parameters:
    ///   - other: The server that runs.
    ///   - name: For the directory's name.
    ///   - role: The login that the gateway uses; by default the superuser.
    ///   - arguments: Further flags.
    /// - Returns: The gateway; it runs until stopped, or until the test process exits.
    /// - Throws: ``ServerDidNotStart`` after five minutes, or when the process ends before.
    public static func start(
        besides other: RunningServer,
        name: String,
        as role: String = "postgres",
        arguments: [String] = []
    ) async throws -> RunningServer {
        try await start(database: other.database(as: role), name: name, arguments: arguments)
    }

    /// Starts a gateway, `tidegate serve`, on a database that is there and migrated.
    ///
    /// - Parameters:
    ///   - database: A libpq connection string.
    ///   - name: For the directory's name.
    ///   - arguments: Further flags.
    /// - Returns: The gateway; it runs until stopped, or until the test process exits.
    /// - Throws: ``ServerDidNotStart`` after five minutes, or when the process ends before.
    public static func start(
        database: String,
        name: String,
        arguments: [String] = []
    ) async throws -> RunningServer {
        let directory = try ScratchFolder.make(name)
        let log = directory.appendingPathComponent("server.log")
        let child = try launch(
            ["serve", "--port", "0", "--admin-port", "0", "--drain-delay", "0", "--database-url", database]
                + arguments,
            log: log
        )
        for _ in 0..<6000 {
            let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
            // It says where the operators' port is after it said where its own is.
            if let http = Self.address("HTTP", in: text), let admin = Self.address("ADMIN", in: text) {
                return RunningServer(
                    http: http,
                    https: "",
                    database: database,
                    admin: admin,
                    directory: directory,
                    process: child.processIdentifier
                )
            }
            guard child.isRunning else { break }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw ServerDidNotStart(log: (try? String(contentsOf: log, encoding: .utf8)) ?? "")
    }

    /// The origin on one of the lines that a gateway prints when it is ready: a name, spaces, a URL.
    private static func address(_ name: String, in log: String) -> String? {
        let line = log.split(separator: "\n").first { $0.hasPrefix(name + " ") }
        guard let url = line?.split(separator: " ").last.flatMap({ URLComponents(string: String($0)) }),
            let scheme = url.scheme, let host = url.host, let port = url.port
        else { return nil }
        return "\(scheme)://\(host):\(port)"
    }

    /// Password hashes cost an eighth: in a debug build the standard ones would be most of what a whole run does.
    private static func launch(_ arguments: [String], log: URL) throws -> Process {
        _ = FileManager.default.createFile(atPath: log.path, contents: nil)
        let handle = try FileHandle(forWritingTo: log)
        let process = Process()
        process.executableURL = binary
        process.arguments = arguments + ["--password-cost", "14"]
        process.standardOutput = handle
        process.standardError = handle
        process.standardInput = FileHandle.nullDevice
        try process.run()
        // Handlers run from the last to the first: the servers end before their folders go.
        _ = stopAtExit
        running.withLock { $0.append(process.processIdentifier) }
        return process
    }

    /// Starts `tidegate` with these arguments and waits for the file that says where it listens.
    private static func start(data: URL, directory: URL, arguments: [String]) async throws -> RunningServer {
        let log = directory.appendingPathComponent("server.log")
        let process = try launch(arguments, log: log)
        let announcement = data.appendingPathComponent("server.json")
        for _ in 0..<6000 {
            if let text = try? Data(contentsOf: announcement),
                let known = try? JSONDecoder().decode(Announcement.self, from: text),
                known.pid == process.processIdentifier
            {
                return RunningServer(
                    http: known.http,
                    https: known.https,
                    database: known.database,
                    admin: known.admin ?? "",
                    directory: directory,
                    process: process.processIdentifier
                )
            }
            guard process.isRunning else { break }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw ServerDidNotStart(log: (try? String(contentsOf: log, encoding: .utf8)) ?? "")
    }

    private struct Announcement: Decodable {
        let pid: Int32
        let http: String
        let https: String
        let database: String
        let admin: String?
    }

    /// What the server printed instead of starting.
    public struct ServerDidNotStart: Error {
        /// Standard output and standard error.
        public let log: String
    }

    /// Beside the test bundle, or where `TIDEGATE_BIN` says.
    public static var binary: URL {
        if let path = ProcessInfo.processInfo.environment["TIDEGATE_BIN"] {
            return URL(fileURLWithPath: path)
        }
        let arguments = CommandLine.arguments
        let bundle = arguments.firstIndex(of: "--test-bundle-path").map { arguments[$0 + 1] } ?? arguments[0]
        let beside = URL(fileURLWithPath: bundle).deletingLastPathComponent().appendingPathComponent(
            "tidegate"
        )
        if FileManager.default.isExecutableFile(atPath: beside.path) { return beside }
        return packageRoot.appendingPathComponent(".build/debug/tidegate")
    }

    /// The folder of `Package.swift`.
    public static let packageRoot = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Ends the server and waits until it is gone.
    public func stop() {
        Self.stop([process])
        Self.running.withLock { $0.removeAll { $0 == process } }
        try? FileManager.default.removeItem(at: directory)
    }

    private static func stopAll() {
        stop(running.withLock { $0 })
    }

    private static func stop(_ processes: [Int32]) {
        for process in processes { kill(process, SIGTERM) }
        for process in processes {
            for _ in 0..<200 where kill(process, 0) == 0 {
                waitpid(process, nil, WNOHANG)
                usleep(50_000)
            }
        }
    }
}
