import Foundation
import TestSupport

/// One server for all suites of this target: they use different collections or documents.
enum SharedServer {
    private static let task = Task {
        try await RunningServer.start(
            app: TestApp.files,
            name: "integration",
            arguments: ["--body-timeout", "5"]
        )
    }

    static func caller() async throws -> APICaller {
        APICaller(server: try await task.value, app: TestApp.clientAppID)
    }

    /// A server API key of the app, as a header.
    static func apiKey(_ caller: APICaller) throws -> [String: String] {
        let key = try Shell.psql(
            caller.server.database,
            "select key from tidegate.create_api_key('\(caller.app)', 'key-\(UUID().uuidString.prefix(8))')"
        )
        return ["apiKey": key]
    }

    /// A new user, and the server to call as that user.
    static func user() async throws -> (APICaller, APICaller.User) {
        let caller = try await caller()
        return (caller, try await caller.newUser())
    }
}
