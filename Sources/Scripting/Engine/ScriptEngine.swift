internal import CJavaScript

/// The engine of a worker: one virtual machine, which keeps what it compiled from one context to the next.
///
/// Used on the worker's main thread alone.
final class ScriptEngine {
    let group: JSContextGroupRef?
    /// Texts as the engine's own: the same object each time, so that it finds its bytecode again.
    private var sources: [String: JSStringRef] = [:]
    /// Reads the time limit's end; the engine calls back without a place for a Swift object's lifetime.
    private var deadline: ContinuousClock.Instant?
    /// The limit that the engine has.
    private var armed: Duration?

    init() {
        group = JSContextGroupCreate()
    }

    deinit {
        for source in sources.values { JSStringRelease(source) }
        JSContextGroupRelease(group)
    }

    /// Evaluates a text; what it throws is put into `exception`.
    func evaluate(
        _ key: String,
        in context: JSContextRef?,
        file: String,
        exception: inout JSValueRef?,
        text: () -> String
    ) -> JSValueRef? {
        let source = sources[key] ?? EngineText.make(text())
        sources[key] = source
        return EngineText.with(file) { JSEvaluateScript(context, source, nil, $0, 1, &exception) }
    }

    /// Forgets the texts whose key begins so.
    func forget(_ prefix: String) {
        for (key, source) in sources where key.hasPrefix(prefix) {
            JSStringRelease(source)
            sources[key] = nil
        }
    }

    /// Ends what runs longer than until then; the exception cannot be caught.
    func limit(until deadline: ContinuousClock.Instant) {
        self.deadline = deadline
        arm()
    }

    /// How long the engine runs at the most before it looks at the deadline; setting a limit costs it a timer.
    private static let period = Duration.milliseconds(500)

    private func arm() {
        guard let deadline else { return }
        let left = min(Self.period, max(.milliseconds(1), deadline - .now))
        if left == Self.period, armed == Self.period { return }
        armed = left
        JSContextGroupSetExecutionTimeLimit(
            group,
            left / .seconds(1),
            { _, data in
                guard let data else { return true }
                let engine = Unmanaged<ScriptEngine>.fromOpaque(data).takeUnretainedValue()
                guard let deadline = engine.deadline, deadline > .now else { return true }
                // The engine counts anew each time that it is entered, and once a limit was told.
                engine.armed = nil
                engine.arm()
                return false
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
    }
}
