import AppDefinition
import Scripting
import Services

/// An engine for as long as the sources of one app are parsed.
enum EngineForChecks {
    /// The functions of an app that do not parse.
    static func faults(of app: AppConfiguration) async -> [Finding] {
        guard !app.functions.isEmpty else { return [] }
        let scripts = FunctionWorkers.pool(ScriptLimits(workers: 1))
        let faults = await FunctionSources(scripts).faults(of: app)
        await scripts.shutdown()
        return faults
    }
}
