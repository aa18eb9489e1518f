import Foundation
import SampleSupport
import TidegateClient

/// The main app as a command line: it logs in, and does what its extension left on disk.
@main
enum MainApp {
    static func main() async { await SampleApp.main(run) }

    private static func run(_ sample: SampleApp) async throws {
        switch sample.arguments[0] {
        case "login":
            SampleApp.say("user \(try await sample.app.login(credentials: .anonymous).id)")
        case "logout": try await sample.user().logOut()
        case "refresh": try await sample.refresh(sample.number(1))
        case "drain": try await drain(sample)
        case "run": try await runOn(sample)
        case "refused":
            let queue = try DiskQueue(container: sample.container)
            for operation in try await queue.refused(for: .user(sample.user())) {
                SampleApp.say("\(operation.code ?? "-") \(operation.reason)")
            }
        case "export":
            let notes = try sample.user().mongoClient(sample.target.service)
                .database(named: sample.target.database).collection(withName: sample.target.collection)
            let count = try await LocalStore(container: sample.container)
                .export(notes, filter: ["text": .string(try sample.argument(1))], as: "notes")
            SampleApp.say("exported \(count)")
        default: throw TidegateError(.invalidArgument, "no such command: \(sample.arguments[0])")
        }
    }

    /// `drain`: until nothing waits.
    private static func drain(_ sample: SampleApp) async throws {
        let queue = try DiskQueue(container: sample.container)
        let report = try await queue.drainToEnd(as: .user(sample.user()))
        SampleApp.say("done \(report.done) refused \(report.refused) end \(report.end)")
    }

    /// `run`: until it is ended; it looks for more when nothing waits.
    private static func runOn(_ sample: SampleApp) async throws {
        let queue = try DiskQueue(container: sample.container)
        SampleApp.say("running")
        while true {
            _ = try await queue.drainToEnd(as: .user(sample.user()))
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
