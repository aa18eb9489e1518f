internal import BSON

/// A context, and the run that is on in it: one after the other, as long as each leaves it as it was.
final class ScriptRealm {
    let engine: ScriptEngine
    let bundle: WorkerBundle
    /// Whether it is meant for more than one run: then it takes note of how it is at first.
    let isKept: Bool
    private(set) var run: ScriptRun?
    private var context: ScriptContext?
    /// How many runs it has served.
    private(set) var runs = 0

    init(
        engine: ScriptEngine,
        bundle: WorkerBundle,
        limits: ScriptLimits,
        isKept: Bool
    ) throws(ScriptContext.Broken) {
        self.engine = engine
        self.bundle = bundle
        self.isKept = isKept
        context = try ScriptContext(engine: engine, natives: RuntimeNatives(self).table, limits: limits)
    }

    /// Runs one call to its end.
    func perform(_ run: ScriptRun) throws(WorkerLink.Ended) -> ScriptRun.End {
        guard let context else { return ScriptRun.End(result: .failure(.crash), isSound: false) }
        self.run = run
        runs += 1
        defer { self.run = nil }
        engine.limit(until: run.record.deadline)
        return try run.perform(in: context)
    }

    /// Whether it is as it was before the run, which has left nothing that goes on.
    func isClean() -> Bool { context?.endCall() ?? false }

    /// What the runtime asks of the run and the app by name, as ``ScriptJSONWriter`` writes it.
    func fact(_ name: String) throws(NativeFault) -> [UInt8] {
        guard let run, let ofCall = CallFact(rawValue: name) else {
            return ScriptJSONWriter.write(bundle.fact(name))
        }
        return try run.fact(ofCall)
    }
}

/// Whether contexts are worth keeping: those of an app whose functions change the language's objects are not.
struct RealmCare {
    /// Contexts in a row that their first run spoiled.
    private var spoilt = 0
    /// Runs for which contexts are not kept.
    private var careless = 0

    /// Whether the next context is to be kept.
    mutating func keepsNext() -> Bool {
        guard careless > 0 else { return true }
        careless -= 1
        return false
    }

    /// What became of a kept context after so many runs.
    mutating func learn(isClean: Bool, runs: Int) {
        spoilt = isClean || runs > 1 ? 0 : spoilt + 1
        if spoilt >= 4 {
            spoilt = 0
            careless = 100
        }
    }
}
