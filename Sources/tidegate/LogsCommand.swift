import ArgumentParser
import Errors
import Glibc
import Services

/// `tidegate logs`: what the request log says, in lines.
struct LogsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logs",
        abstract: "Print the request log: failures, writes, and a share of the reads.",
        discussion: """
            Reads tidegate.logs, oldest first. The id behind co_id is what an answer carries in
            X-Appservices-Request-Id, and an error in its link. In psql, tidegate.errors_by_code(),
            tidegate.recent_denials(), tidegate.slow_requests() and others ask for more.
            """
    )

    @Option(name: .long, help: "App id or name; all apps by default.") var app: String?
    @Flag(name: .long, help: "Failures alone.") var errorsOnly = false
    @Option(name: .long, help: "A user's id.") var user: String?
    @Option(name: .long, help: "One request, by its id.") var coID: String?
    @Option(name: .long, help: "How far back, such as '15 minutes'.") var since = "1 hour"
    @Option(name: .long, help: "The most lines.") var limit = 100
    @Flag(name: .long, help: "Go on with what comes, until interrupted.") var follow = false
    @OptionGroup var connection: DatabaseOptions

    func run() async throws {
        try await connection.withDatabase(connections: 1) { database in
            if let coID {
                let found = try await LoggedRequest.find(coID, in: database)
                if found.isEmpty { throw ServiceError(.invalidParameter, "there is no row of \(coID)") }
                show(found)
                return
            }
            var selection = LoggedRequest.Selection()
            selection.app = app
            selection.errorsOnly = errorsOnly
            selection.userID = user
            selection.since = since
            selection.limit = limit
            // A slow request is written when it ends, under the time when it came; so the last minutes are
            // looked through each time.
            var recent = selection
            recent.since = "10 minutes"
            recent.limit = 10_000
            var seen = follow ? Set(try await LoggedRequest.list(recent, in: database).map(\.id)) : []
            let first = try await LoggedRequest.list(selection, in: database)
            show(first)
            seen.formUnion(first.map(\.id))
            while follow {
                try await Task.sleep(for: .milliseconds(500))
                let rows = try await LoggedRequest.list(recent, in: database)
                show(rows.filter { !seen.contains($0.id) })
                seen = Set(rows.map(\.id))
            }
        }
    }

    private func show(_ requests: [LoggedRequest]) {
        for request in requests { print(request.line) }
        fflush(nil)
    }
}
