import Observability
import Scripting

/// The processes that run functions: this program, started again as `tidegate function-worker`.
enum FunctionWorkers {
    /// Whatever has become of the file since, it is the same program.
    private static let command = ["/proc/self/exe", argument]
    /// What makes a worker of this program; of no use by hand.
    static let argument = "function-worker"

    /// A pool without workers yet; the first call starts one.
    static func pool(_ limits: ScriptLimits, observer: Observer = Observer { _ in }) -> ScriptPool {
        ScriptPool(command: command, limits: limits, observer: observer)
    }
}
