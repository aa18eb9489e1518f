internal import BSON
internal import CJavaScript
internal import CScriptRuntime
import Glibc
import Threading

/// The process that runs an app's functions, one call at a time: `tidegate function-worker`.
public enum FunctionWorker {
    /// Serves the gateway at the other end of descriptor 3 until it is gone; never returns.
    public static func serve() -> Never {
        // The gateway's death is the worker's; the thread that watches the socket is the second way.
        cscript_die_with_parent()
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(UInt32(RLIMIT_CORE.rawValue)), &none)
        setrlimit(__rlimit_resource_t(UInt32(RLIMIT_FSIZE.rawValue)), &none)
        // The engine takes its stack's bounds from the thread.
        DedicatedThread.start(name: "script", stackBytes: 8 << 20) {
            let server = WorkerServer()
            do {
                try server.serve()
            } catch {
                _exit(0)
            }
        }
        while true { pause() }
    }
}

/// The worker's main thread: takes messages, runs functions.
final class WorkerServer {
    private let link = WorkerLink()
    private let engine = ScriptEngine()
    private var limits = ScriptLimits()
    private var watch: WorkerWatch?
    private let bundle = WorkerBundle()
    /// As good as new: made, or found to be so, while nobody waits for it.
    private var prepared: ScriptRealm?
    private var care = RealmCare()
    private var knownMemory: (bytes: Int, at: ContinuousClock.Instant)?

    func serve() throws(WorkerLink.Ended) {
        while true {
            if watch != nil, prepared == nil, !link.hasInput { prepared = try? makeRealm() }
            guard let request = try link.next(within: nil) else { continue }
            switch request {
            case .limits(let limits):
                self.limits = limits
                watch = WorkerWatch(link: link, limits: limits)
            case .bundle(let document):
                bundle.replace(document)
                engine.forget("app:")
                // It holds the functions of the bundle before.
                prepared = nil
            case .module(let path, let content): bundle.addModule(path, content)
            case .run(let request): try run(request)
            case .check(let id, let source, let file):
                try link.send(.checked(run: id, SyntaxCheck(engine: engine).fault(of: source, file: file)))
            case .reply, .fact: break  // Of a run that is over.
            }
        }
    }

    private func makeRealm() throws(ScriptContext.Broken) -> ScriptRealm {
        try ScriptRealm(engine: engine, bundle: bundle, limits: limits, isKept: care.keepsNext())
    }

    private func run(_ request: WorkerRequest.RunRequest) throws(WorkerLink.Ended) {
        let begin = ContinuousClock.now
        let record = RunRecord(
            id: request.id,
            deadline: begin + .milliseconds(request.milliseconds),
            limits: limits,
            keepsFirst: request.keepsFirstLines
        )
        let realm: ScriptRealm
        do throws(ScriptContext.Broken) {
            if let prepared { realm = prepared } else { realm = try makeRealm() }
        } catch {
            let failure = ScriptFailure(.crash, "the function runtime does not load: \(error.message)")
            let outcome = WorkerOutcome(ending: .failed(failure), messages: [], memoryTime: 0)
            try link.send(.done(run: request.id, outcome, mayGoOn: false))
            _exit(0)
        }
        prepared = nil
        watch?.watch(record)
        let end = try realm.perform(ScriptRun(request, record: record, link: link, limits: limits))
        watch?.watch(nil)
        let memory = ResidentMemory.bytes(after: .now - begin, &knownMemory)
        let outcome = WorkerOutcome(
            ending: end.ending,
            messages: record.lines,
            memoryTime: record.sample(bytes: memory),
            contextRuns: realm.runs
        )
        let mayGoOn = end.isSound && memory <= limits.keptMemoryBytes
        try link.send(.done(run: request.id, outcome, mayGoOn: mayGoOn))
        if !mayGoOn { _exit(0) }
        // The caller has its answer: this costs nobody's time but the next one's.
        guard realm.isKept else { return }
        let isClean = end.isQuiet && realm.isClean()
        care.learn(isClean: isClean, runs: realm.runs)
        if isClean { prepared = realm }
    }
}
