import Foundation
import Synchronization
import TestSupport
import Testing
import TidegateClient

/// A folder that the sample's programs share, and a gateway for them that can be stopped and started.
final class KitStage: Sendable {
    let container: URL
    let database: String
    private let gateway = Mutex<GatewayProcess?>(nil)
    private let port = Mutex<UInt16>(0)
    private let programs = Mutex<[SampleProgram]>([])

    init() async throws {
        database = try await SharedServer.caller().server.database
        container = FileManager.default.temporaryDirectory.appendingPathComponent("kit-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: container, withIntermediateDirectories: true)
        try await startGateway()
    }

    var url: String { "http://127.0.0.1:\(port.withLock { $0 })" }

    /// The app as a process of its own would have it.
    func app() throws -> App {
        guard let url = URL(string: url) else { throw URLError(.badURL) }
        return try App(
            id: TestApp.clientAppID,
            configuration: AppConfiguration(baseURL: url, sharedContainer: container)
        )
    }

    func startGateway() async throws {
        // A busy machine may have given the port away: then the process ends, and is started again.
        let old = port.withLock { $0 }
        while true {
            let new = try GatewayProcess(
                database: database,
                arguments: ["--port", String(old), "--drain-delay", "0", "--pool-size", "6"]
            )
            try await eventually { new.port() != nil || new.exitCode != nil }
            guard let listening = new.port() else {
                new.remove()
                try await Task.sleep(for: .milliseconds(100))
                continue
            }
            port.withLock { $0 = listening }
            gateway.withLock { $0 = new }
            return
        }
    }

    /// Ends the gateway, by a signal or without a word.
    func stopGateway(_ signal: Int32) async throws {
        guard let old = gateway.withLock({ $0.take() }) else { return }
        old.send(signal)
        try await eventually { old.exitCode != nil }
        old.remove()
    }

    /// Starts one of the sample's programs, behind another door if one is given.
    func start(_ program: String, _ arguments: [String], at door: String? = nil) throws -> SampleProgram {
        let started = try SampleProgram(
            program,
            [door ?? url, TestApp.clientAppID, container.path] + arguments,
            folder: container
        )
        programs.withLock { $0.append(started) }
        return started
    }

    /// Runs one of the sample's programs to its end.
    @discardableResult
    func run(_ program: String, _ arguments: String..., at door: String? = nil) async throws -> String {
        let started = try start(program, arguments, at: door)
        try await eventually { started.exitCode != nil }
        #expect(started.exitCode == 0, "\(program) \(arguments): \(started.errors)")
        return started.output
    }

    func remove() async throws {
        for program in programs.withLock({ $0 }) where program.exitCode == nil { program.crash() }
        try await stopGateway(SIGKILL)
        try? FileManager.default.removeItem(at: container)
    }
}

/// One of the sample's programs.
final class SampleProgram: Sendable {
    private let files: URL
    private let process: WatchedProcess

    init(_ name: String, _ arguments: [String], folder: URL) throws {
        files = folder.appendingPathComponent("program-\(UUID().uuidString)")
        process = try WatchedProcess(
            Self.binary(name),
            arguments,
            output: URL(fileURLWithPath: files.path + ".out"),
            errors: URL(fileURLWithPath: files.path + ".err")
        )
    }

    static func binary(_ name: String) -> URL {
        RunningServer.binary.deletingLastPathComponent().appendingPathComponent(name)
    }

    var exitCode: Int32? { process.exitCode }
    var output: String { (try? String(contentsOfFile: files.path + ".out", encoding: .utf8)) ?? "" }
    var errors: String { (try? String(contentsOfFile: files.path + ".err", encoding: .utf8)) ?? "" }

    /// What a recording program said was safe: the numbers, with the microseconds that each took.
    var recorded: [(number: Int, microseconds: Int)] {
        output.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: " ").compactMap { Int($0) }
            return parts.count == 2 ? (parts[0], parts[1]) : nil
        }
    }

    /// Ends it without a word.
    func crash() { process.send(SIGKILL) }
}

/// How much of a Show a run does: little among the tests, as much as asked for by hand.
enum KitAmount {
    static func of(_ name: String, _ usual: Int) -> Int {
        ProcessInfo.processInfo.environment["TIDEGATE_KIT_" + name].flatMap { Int($0) } ?? usual
    }
}
