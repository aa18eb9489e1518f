import Foundation
import TestSupport
import Testing

/// A server of its own for what is looked for in its request log and in its standard error.
enum LoggingServer {
    private static let task = Task {
        try await RunningServer.start(
            app: TestApp.files,
            name: "logs",
            arguments: ["--log-sample", "0", "--log-level", "trace"]
        )
    }

    static func caller() async throws -> APICaller {
        APICaller(server: try await task.value, app: TestApp.clientAppID)
    }
}

extension APICaller {
    /// Waits for the row of a request, and answers these columns of it, with `|` between.
    func row(_ columns: String, of answer: Answer) async throws -> String {
        let id = answer.header("X-Appservices-Request-Id") ?? ""
        var rows = ""
        try await eventually {
            rows = try Shell.psql(
                server.database,
                "select concat_ws('|', \(columns)) from tidegate.find_request('\(id)')"
            )
            return !rows.isEmpty
        }
        return rows
    }

    /// Waits until everything that was answered before is written: rows are written in their order.
    func settle() async throws {
        _ = try await row("status", of: try await act("find", "Open", as: ["apiKey": "none"]))
    }
}
