import ArgumentParser
import Scripting

/// `tidegate function-worker`: started by the gateway, of no use by hand.
struct FunctionWorkerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "function-worker",
        abstract: "Runs the functions of one app; started by the gateway.",
        shouldDisplay: false
    )

    func run() {
        FunctionWorker.serve()
    }
}
