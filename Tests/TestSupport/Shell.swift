public import Foundation
import Threading

/// Runs a program to its end and returns what it printed.
public enum Shell {
    /// What a program left behind.
    public struct Result: Sendable {
        /// The exit status.
        public let status: Int32
        /// Standard output.
        public let output: String
        /// Standard error.
        public let errors: String
    }

    /// Waits for a program to end.
    ///
    /// - Parameters:
    ///   - executable: The program's file.
    ///   - arguments: What follows its name; no shell reads them.
    ///   - input: What the program reads from standard input.
    /// - Returns: What it printed, also when it failed.
    /// - Throws: When it cannot be started, or printed something other than UTF-8.
    @discardableResult
    public static func run(_ executable: URL, _ arguments: [String], input: Data? = nil) throws -> Result {
        let folder = FileManager.default.temporaryDirectory
        let outputFile = folder.appendingPathComponent("out-\(UUID().uuidString)")
        let errorFile = folder.appendingPathComponent("err-\(UUID().uuidString)")
        let inputFile = folder.appendingPathComponent("in-\(UUID().uuidString)")
        defer {
            for file in [outputFile, errorFile, inputFile] { try? FileManager.default.removeItem(at: file) }
        }
        try (input ?? Data()).write(to: inputFile)
        // Foundation's Process learns of an end by a socket, which a program started just then by another task may
        // hold open: it would wait for that one, too.
        let (process, failure) = ProgramStart.spawn(
            [executable.path] + arguments,
            environment: ProcessInfo.processInfo.environment.map { "\($0)=\($1)" }
        ) { files in
            posix_spawn_file_actions_addopen(&files, 0, inputFile.path, O_RDONLY, 0)
            posix_spawn_file_actions_addopen(&files, 1, outputFile.path, O_WRONLY | O_CREAT, 0o600)
            posix_spawn_file_actions_addopen(&files, 2, errorFile.path, O_WRONLY | O_CREAT, 0o600)
        }
        guard failure == 0 else {
            throw Failure(message: "\(executable.path): \(String(cString: strerror(failure)))")
        }
        var ended: Int32 = 0
        while waitpid(process, &ended, 0) < 0, errno == EINTR {}
        return Result(
            // As in a shell: one that a signal ended.
            status: ended & 0x7f == 0 ? ended >> 8 & 0xff : 128 + (ended & 0x7f),
            output: try String(contentsOf: outputFile, encoding: .utf8),
            errors: try String(contentsOf: errorFile, encoding: .utf8)
        )
    }

    /// As ``run(_:_:input:)``, for programs that take their time: the waiting is done on a thread of its own, and
    /// other tests go on.
    public static func finish(
        _ executable: URL,
        _ arguments: [String],
        input: Data? = nil
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { waiting in
            Thread.detachNewThread {
                waiting.resume(with: Swift.Result { try run(executable, arguments, input: input) })
            }
        }
    }

    /// Runs SQL as an administrator would, in psql; rows come one a line, columns with `|` between.
    @discardableResult
    public static func psql(_ database: String, _ statement: String) throws -> String {
        let result = try run(
            URL(fileURLWithPath: "/usr/bin/psql"),
            ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", database, "-c", statement]
        )
        guard result.status == 0 else { throw Failure(message: result.errors) }
        return result.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Runs a script in one session of psql, as from a file; ends with the first statement that fails.
    ///
    /// - Parameters:
    ///   - database: A connection string.
    ///   - text: Statements and psql's own commands.
    ///   - variables: Values for `:name` in the script.
    /// - Returns: What was printed, rows one a line, columns with `|` between.
    /// - Throws: ``Failure`` with the statement's line and the server's message.
    @discardableResult
    public static func psql(_ database: String, script text: String, variables: [String: String] = [:]) throws
        -> String
    {
        let result = try run(
            URL(fileURLWithPath: "/usr/bin/psql"),
            ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", database]
                + variables.sorted { $0.key < $1.key }.flatMap { ["-v", "\($0.key)=\($0.value)"] } + [
                    "-f", "-",
                ],
            input: Data(text.utf8)
        )
        guard result.status == 0 else { throw Failure(message: result.errors) }
        return result.output
    }

    /// What psql said on standard error.
    public struct Failure: Error {
        /// The text, as printed.
        public let message: String
    }
}
