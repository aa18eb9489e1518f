import TestSupport

/// A server whose limits are small enough to be reached by hand.
enum LimitedServer {
    private static let task = Task {
        try await RunningServer.start(
            app: TestApp.files,
            name: "limited",
            arguments: [
                "--max-body-bytes", "20000", "--max-url-bytes", "256", "--max-header-bytes", "4000",
                "--max-header-fields", "20", "--max-depth", "6", "--max-values", "200",
                "--max-array-length", "50", "--max-key-bytes", "40", "--max-conditions", "5",
                "--max-list-members", "4", "--max-stages", "3", "--max-update-paths", "3",
                "--max-pattern-bytes", "8", "--max-sort-keys", "2", "--max-projected-fields", "3",
                "--max-inserted-documents", "3", "--failed-logins-per-minute-per-address", "10",
            ]
        )
    }

    static func user() async throws -> (APICaller, APICaller.User) {
        let caller = APICaller(server: try await task.value, app: TestApp.clientAppID)
        return (caller, try await caller.newUser())
    }
}
