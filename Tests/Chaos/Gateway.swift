import Foundation
import Glibc
import Synchronization

/// One `tidegate serve`, on a port that it keeps over restarts.
final class Gateway: Sendable {
    let name: String
    let port: UInt16
    private let binary: URL
    private let log: URL
    private let arguments: [String]
    private let process = Mutex<Int32>(0)

    init(name: String, binary: URL, directory: String, arguments: [String]) {
        self.name = name
        self.binary = binary
        port = Self.freePort()
        log = URL(fileURLWithPath: directory + "/\(name).log")
        self.arguments = ["serve", "--port", String(port), "--admin-port", "0"] + arguments
        _ = FileManager.default.createFile(atPath: log.path, contents: nil)
    }

    var id: Int32 { process.withLock { $0 } }

    /// Starts the process; it may not be ready yet, and goes on trying while PostgreSQL is away.
    ///
    /// To be called from the main thread: the kernel ends the child with the thread that made it, so that
    /// none is left over when this program is killed.
    func start() throws {
        let child = Process()
        child.executableURL = URL(fileURLWithPath: "/usr/bin/setpriv")
        child.arguments = ["--pdeathsig=KILL", "--", binary.path] + arguments
        let output = try FileHandle(forWritingTo: log)
        try output.seekToEnd()
        child.standardOutput = output
        child.standardError = output
        child.standardInput = FileHandle.nullDevice
        try child.run()
        process.withLock { $0 = child.processIdentifier }
    }

    func signal(_ signal: Int32) {
        kill(id, signal)
    }

    /// Ends it without a word.
    func crash() {
        let old = id
        kill(old, SIGKILL)
        while kill(old, 0) == 0 { usleep(5000) }
    }

    var isAlive: Bool { id > 0 && kill(id, 0) == 0 }

    /// Resident memory in megabytes.
    var memory: Int {
        let text = (try? String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
        return (line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) / 1024
    }

    /// Open files and sockets.
    var descriptors: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(id)/fd").count) ?? 0
    }

    /// The end of its log.
    var logTail: String {
        let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").suffix(25).joined(separator: "\n")
    }

    private static func freePort() -> UInt16 {
        let made = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(made) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = bind(made, $0, size)
                _ = getsockname(made, $0, &size)
            }
        }
        return UInt16(bigEndian: address.sin_port)
    }
}
