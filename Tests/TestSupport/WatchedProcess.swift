public import Foundation
import Synchronization

/// A program that runs beside the tests: its output goes to files, its end is noticed.
public final class WatchedProcess: Sendable {
    private let id: Int32
    private let status = Status()

    private final class Status: Sendable {
        let value = Mutex<Int32?>(nil)
    }

    /// Starts it.
    ///
    /// - Parameters:
    ///   - program: Its file.
    ///   - arguments: What it is told.
    ///   - output: The file of its standard output.
    ///   - errors: The file of its standard error; the same file as `output` for both together.
    /// - Throws: Foundation's error when a file cannot be made or the program does not start.
    public init(_ program: URL, _ arguments: [String], output: URL, errors: URL) throws {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        let handle = try Self.make(output)
        process.standardOutput = handle
        process.standardError = errors == output ? handle : try Self.make(errors)
        process.standardInput = FileHandle.nullDevice
        let status = status
        process.terminationHandler = { ended in
            let code =
                ended.terminationReason == .exit ? ended.terminationStatus : 128 + ended.terminationStatus
            status.value.withLock { $0 = code }
        }
        try process.run()
        id = process.processIdentifier
    }

    private static func make(_ file: URL) throws -> FileHandle {
        _ = FileManager.default.createFile(atPath: file.path, contents: nil)
        return try FileHandle(forWritingTo: file)
    }

    /// The exit code, or 128 and the signal; nil while it runs.
    public var exitCode: Int32? { status.value.withLock { $0 } }

    /// Sends a signal, if it runs.
    public func send(_ signal: Int32) {
        if exitCode == nil { kill(id, signal) }
    }
}
