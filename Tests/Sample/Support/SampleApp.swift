public import Foundation
public import TidegateClient

#if canImport(Glibc)
import Glibc
#endif

/// What the sample's two programs have in common: where they connect, and what they share.
public struct SampleApp: Sendable {
    /// The app, with its sessions in the container.
    public let app: App
    /// The queue in the container.
    public let container: URL
    /// What follows the three places on the command line.
    public let arguments: [String]
    /// Where the sample's operations go.
    public let target: RecordedOperation.Target

    /// Of a command line: `URL APP CONTAINER COMMAND …`.
    ///
    /// - Throws: ``TidegateError`` of the kind `invalidArgument`.
    public init(_ commandLine: [String] = CommandLine.arguments) throws {
        guard commandLine.count > 4, let url = URL(string: commandLine[1]) else {
            throw TidegateError(.invalidArgument, "usage: URL APP CONTAINER COMMAND …")
        }
        container = URL(fileURLWithPath: commandLine[3])
        app = try App(
            id: commandLine[2],
            configuration: AppConfiguration(baseURL: url, sharedContainer: container, timeout: 20)
        )
        arguments = Array(commandLine.dropFirst(4))
        target = RecordedOperation.Target("todo", "Open")
    }

    /// What a program does with its command line; a failure is told on standard error and by the exit code 1.
    public static func main(_ run: (SampleApp) async throws -> Void) async {
        do {
            try await run(SampleApp())
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(1)
        }
    }

    /// The user of the app, whichever of the two programs logged in.
    public func user() throws -> User {
        guard let user = app.currentUser else { throw TidegateError(.loggedOut, "nobody is logged in") }
        return user
    }

    /// An argument behind the command.
    public func argument(_ index: Int) throws -> String {
        guard arguments.count > index else {
            throw TidegateError(.invalidArgument, "argument \(index) of \(arguments[0]) is missing")
        }
        return arguments[index]
    }

    /// A number behind the command.
    public func number(_ index: Int) throws -> Int {
        guard let number = Int(try argument(index)) else {
            throw TidegateError(.invalidArgument, "argument \(index) of \(arguments[0]) is not a number")
        }
        return number
    }

    /// Prints a line at once, for whoever reads the other end.
    public static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    /// Refreshes the session so many times, and says how it went.
    public func refresh(_ count: Int) async throws {
        let user = try user()
        for _ in 0..<count { try await user.refreshCustomData() }
        Self.say("refreshed \(count)")
    }
}
