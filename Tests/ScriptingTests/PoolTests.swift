import BSON
import Foundation
import Scripting
import Synchronization
import Testing

/// Workers, and calls that wait for them.
@Suite("The pool of workers")
struct PoolTests {
    /// A host whose calls wait until they are let go.
    private final class Gate: ScriptHost {
        private let waiting = Mutex<[CheckedContinuation<Void, Never>]>([])
        private let count = Mutex(0)

        var entered: Int { count.withLock { $0 } }

        func answer(_ call: HostCall) async -> Result<BSONValue, HostError> {
            await withCheckedContinuation { one in
                waiting.withLock { $0.append(one) }
                count.withLock { $0 += 1 }
            }
            return .success(.null)
        }

        func open() {
            for one in waiting.withLock({ list in
                defer { list = [] }
                return list
            }) { one.resume() }
        }

        func end() async {}
    }

    private static let waits =
        "exports = async () => { await context.services.get('mongodb-atlas').admin().getDBNames(); return 1 }"

    private static func eventually(_ holds: () -> Bool) async {
        while !holds() { try? await Task.sleep(for: .milliseconds(5)) }
    }

    @Test("reuses a worker, and sends its bundle anew when it has changed")
    func reuse() async {
        let pool = ScriptFixture.pool(ScriptLimits(workers: 4))
        var processes: Set<Int32> = []
        for number in 1...5 {
            let bundle = ScriptFixture.bundle(["test": "exports = () => \(number)"])
            let outcome = await pool.run(
                ScriptFixture.call(.named("test")),
                of: bundle,
                host: RecordingHost()
            )
            #expect(ScriptFixture.text(outcome) == "{\"$numberInt\":\"\(number)\"}")
            processes.formUnion(pool.processIDs)
        }
        #expect(processes.count == 1)
        await pool.shutdown()
        #expect(pool.processIDs == [])
    }

    @Test("grows to its maximum, lets calls wait, and refuses past that")
    func bounds() async {
        let pool = ScriptFixture.pool(ScriptLimits(workers: 2, waiting: 3))
        let bundle = ScriptFixture.bundle(["test": Self.waits])
        let gate = Gate()
        let outcomes = await withTaskGroup(of: ScriptOutcome.self) { group in
            for _ in 0..<2 {
                group.addTask { await pool.run(ScriptFixture.call(.named("test")), of: bundle, host: gate) }
            }
            await Self.eventually { gate.entered == 2 }
            for _ in 0..<3 {
                group.addTask { await pool.run(ScriptFixture.call(.named("test")), of: bundle, host: gate) }
            }
            await Self.eventually { pool.counts.waiting == 3 }
            let refused = await pool.run(ScriptFixture.call(.named("test")), of: bundle, host: gate)
            if case .failure(let failure) = refused.result {
                #expect(failure.reason == .busy)
            } else {
                Issue.record("\(refused.result)")
            }
            #expect(pool.counts.workers == 2)
            let opener = Task {
                while !Task.isCancelled {
                    gate.open()
                    try? await Task.sleep(for: .milliseconds(5))
                }
            }
            defer { opener.cancel() }
            var outcomes: [ScriptOutcome] = []
            for await outcome in group { outcomes.append(outcome) }
            return outcomes
        }
        #expect(outcomes.count == 5)
        #expect(outcomes.allSatisfy { ScriptFixture.text($0) == #"{"$numberInt":"1"}"# })
        await pool.shutdown()
    }

    @Test("never shares a worker between apps; an idle one of another app gives way")
    func apps() async {
        let pool = ScriptFixture.pool(ScriptLimits(workers: 1))
        var processes: [Int32] = []
        for app in ["a", "b", "a"] {
            let bundle = ScriptFixture.bundle(["test": "exports = () => 1"], app: app)
            _ = await pool.run(ScriptFixture.call(.named("test")), of: bundle, host: RecordingHost())
            await Self.eventually { pool.processIDs.count == 1 }
            processes += pool.processIDs
        }
        #expect(Set(processes).count == 3)
        await pool.shutdown()
    }

    @Test("ends workers that are idle for long")
    func idle() async {
        let pool = ScriptFixture.pool(ScriptLimits(workers: 1, idle: .milliseconds(100)))
        let bundle = ScriptFixture.bundle(["test": "exports = () => 1"])
        _ = await pool.run(ScriptFixture.call(.named("test")), of: bundle, host: RecordingHost())
        await Self.eventually { pool.processIDs.isEmpty }
        let outcome = await pool.run(ScriptFixture.call(.named("test")), of: bundle, host: RecordingHost())
        #expect(ScriptFixture.text(outcome) == #"{"$numberInt":"1"}"#)
        await pool.shutdown()
    }

    @Test("serves calls that a host call makes while all workers wait for it, to a bounded depth")
    func nested() async {
        let pool = ScriptFixture.pool(ScriptLimits(workers: 1, extraWorkers: 2))
        let bundle = ScriptFixture.bundle(["outer": Self.waits, "inner": "exports = () => 'inner'"])
        let inner = Mutex("")
        let host = RecordingHost { _ in
            let outcome = await pool.run(
                ScriptFixture.call(.named("inner")),
                of: bundle,
                host: RecordingHost()
            )
            inner.withLock { $0 = ScriptFixture.text(outcome) }
            return .success(.null)
        }
        let outcome = await pool.run(ScriptFixture.call(.named("outer")), of: bundle, host: host)
        #expect(ScriptFixture.text(outcome) == #"{"$numberInt":"1"}"#)
        #expect(inner.withLock { $0 } == #""inner""#)
        await pool.shutdown()
    }

    @Test("refuses a recursion through host calls instead of waiting for itself")
    func recursion() async {
        let pool = ScriptFixture.pool(ScriptLimits(workers: 1, extraWorkers: 2))
        let bundle = ScriptFixture.bundle(["test": Self.waits])
        let failures = Mutex<[String]>([])
        final class Again: ScriptHost {
            let pool: ScriptPool
            let bundle: ScriptBundle
            let note: @Sendable (String) -> Void
            init(pool: ScriptPool, bundle: ScriptBundle, note: @escaping @Sendable (String) -> Void) {
                self.pool = pool
                self.bundle = bundle
                self.note = note
            }
            func answer(_ call: HostCall) async -> Result<BSONValue, HostError> {
                let host = Again(pool: pool, bundle: bundle, note: note)
                let outcome = await pool.run(ScriptFixture.call(.named("test")), of: bundle, host: host)
                if case .failure(let failure) = outcome.result { note(failure.message) }
                return .success(.null)
            }
            func end() async {}
        }
        let host = Again(pool: pool, bundle: bundle) { text in failures.withLock { $0.append(text) } }
        let outcome = await pool.run(ScriptFixture.call(.named("test")), of: bundle, host: host)
        #expect(ScriptFixture.text(outcome) == #"{"$numberInt":"1"}"#)
        #expect(failures.withLock { $0 } == ["too many functions are running; try again later"])
        await pool.shutdown()
    }

    @Test("ends the run of a task that is cancelled, busy or waiting")
    func cancellation() async {
        let pool = ScriptFixture.pool(ScriptLimits(workers: 1))
        let bundle = ScriptFixture.bundle(["test": Self.waits, "busy": "exports = () => { for (;;); }"])
        let gate = Gate()
        let waiting = Task { await pool.run(ScriptFixture.call(.named("test")), of: bundle, host: gate) }
        await Self.eventually { gate.entered == 1 }
        let queued = Task { await pool.run(ScriptFixture.call(.named("test")), of: bundle, host: gate) }
        await Self.eventually { pool.counts.waiting == 1 }
        queued.cancel()
        if case .success(let value) = await queued.value.result { Issue.record("\(value)") }
        waiting.cancel()
        gate.open()
        if case .success(let value) = await waiting.value.result { Issue.record("\(value)") }
        let busy = Task { await pool.run(ScriptFixture.call(.named("busy")), of: bundle, host: gate) }
        await Self.eventually { pool.counts.busy == 1 }
        busy.cancel()
        if case .success(let value) = await busy.value.result { Issue.record("\(value)") }
        await pool.shutdown()
        #expect(pool.processIDs == [])
    }

    @Test("leaves alone who is next on a worker when a task is cancelled just as its run is over")
    func cancelledAtTheEnd() async {
        let pool = ScriptFixture.pool(ScriptLimits(workers: 1))
        let bundle = ScriptFixture.bundle(["test": Self.waits])
        let gate = Gate()
        func begin() -> Task<ScriptOutcome, Never> {
            Task { await pool.run(ScriptFixture.call(.named("test")), of: bundle, host: gate) }
        }
        for round in 0..<50 {
            let first = begin()
            await Self.eventually { gate.entered == 2 * round + 1 }
            let second = begin()
            await Self.eventually { pool.counts.waiting == 1 }
            gate.open()
            // The second begins as soon as the first is read to be over, which the first's task learns later.
            while pool.counts.waiting > 0 {}
            first.cancel()
            _ = await first.value
            await Self.eventually { gate.entered == 2 * round + 2 }
            gate.open()
            #expect(ScriptFixture.text(await second.value) == #"{"$numberInt":"1"}"#)
        }
        await pool.shutdown()
    }

    @Test("reads no further while more is asked than may wait here, and loses none of it")
    func unread() async {
        let pool = ScriptFixture.pool(ScriptLimits(workers: 1))
        // Eight of them are more than may wait; the other two stay with the worker.
        let source = """
            exports = async () => {
              const c = context.services.get('mongodb-atlas').db('d').collection('c');
              const text = 'x'.repeat(1 << 22);
              const calls = [];
              for (let i = 0; i < 10; i++) calls.push(c.findOne({ text }));
              return (await Promise.all(calls)).length;
            }
            """
        let gate = Gate()
        let run = Task { await ScriptFixture.run(source, host: gate, pool: pool) }
        await Self.eventually { gate.entered == 8 }
        try? await Task.sleep(for: .milliseconds(200))
        #expect(gate.entered == 8)
        let opener = Task {
            while !Task.isCancelled {
                gate.open()
                try? await Task.sleep(for: .milliseconds(5))
            }
        }
        #expect(ScriptFixture.text(await run.value) == #"{"$numberInt":"10"}"#)
        opener.cancel()
        await pool.shutdown()
    }

    /// Runs tasks one after the other, and none while it is held.
    private final class HeldExecutor: TaskExecutor {
        private let queue = DispatchQueue(label: "held")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }

        func hold() { queue.suspend() }
        func letGo() { queue.resume() }
    }

    @Test("begins no more calls while nobody comes to hear how so many have ended, and then all others")
    func unheard() async {
        let pool = ScriptFixture.pool(ScriptLimits(workers: 2))
        let bundle = ScriptFixture.bundle(["wait": Self.waits, "test": "exports = () => 1"])
        let (gate, callers) = (Gate(), HeldExecutor())
        let outcomes = await withTaskGroup(of: ScriptOutcome.self) { group in
            for _ in 0..<2 {
                group.addTask { await pool.run(ScriptFixture.call(.named("wait")), of: bundle, host: gate) }
            }
            await Self.eventually { gate.entered == 2 }
            for _ in 0..<80 {
                group.addTask(executorPreference: callers) {
                    await pool.run(ScriptFixture.call(.named("test")), of: bundle, host: RecordingHost())
                }
            }
            await Self.eventually { pool.counts.waiting == 80 }
            callers.hold()
            gate.open()
            await Self.eventually { pool.counts.waiting < 80 }
            try? await Task.sleep(for: .seconds(1))
            #expect(pool.counts.waiting > 50)
            callers.letGo()
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(
            outcomes.map { ScriptFixture.text($0) } == Array(repeating: #"{"$numberInt":"1"}"#, count: 82)
        )
        await Self.eventually { pool.counts.busy == 0 && pool.counts.waiting == 0 }
        await pool.shutdown()
    }

    @Test("gives up the places of those who have gone, and leaves alone what runs for them")
    func gone() async {
        let pool = ScriptFixture.pool(ScriptLimits(workers: 1))
        let bundle = ScriptFixture.bundle([
            "test": Self.waits, "asks": Self.waits, "answer": "exports = () => 2",
        ])
        let gate = Gate()
        let caller = CallerPresence()
        let stays = CallerPresence()
        let running = Task {
            await pool.run(ScriptFixture.call(.named("test"), caller: caller), of: bundle, host: gate)
        }
        await Self.eventually { gate.entered == 1 }
        let host = RecordingHost()
        let queued = (0..<3).map { _ in
            Task {
                await pool.run(ScriptFixture.call(.named("asks"), caller: caller), of: bundle, host: host)
            }
        }
        let patient = Task {
            await pool.run(ScriptFixture.call(.named("answer"), caller: stays), of: bundle, host: host)
        }
        await Self.eventually { pool.counts.waiting == 4 }
        caller.leave()
        for one in queued { #expect(ScriptFixture.reason(await one.value) == .abandoned) }
        #expect(pool.counts.waiting == 1)
        // Nor does one wait that comes when they have gone already.
        let late = await pool.run(ScriptFixture.call(.named("asks"), caller: caller), of: bundle, host: host)
        #expect(ScriptFixture.text(late) == "!the caller has gone before a worker was free")
        gate.open()
        #expect(ScriptFixture.text(await running.value) == #"{"$numberInt":"1"}"#)
        #expect(ScriptFixture.text(await patient.value) == #"{"$numberInt":"2"}"#)
        #expect(host.calls.isEmpty)
        await pool.shutdown()
    }

    @Test(
        "tells all whose time is up while they wait, though no worker is left, and serves others afterwards",
        .timeLimit(.minutes(10))
    )
    func overdue() async {
        let pool = ScriptFixture.pool(ScriptLimits(workers: 1))
        let bundle = ScriptFixture.bundle([
            "busy": "exports = () => { for (;;); }", "answer": "exports = () => 1",
        ])
        let calls = (0..<2000).map { _ in
            Task {
                let call = ScriptFixture.call(.named("busy"), within: .milliseconds(700))
                return await pool.run(call, of: bundle, host: RecordingHost())
            }
        }
        for call in calls { #expect(ScriptFixture.reason(await call.value) == .time) }
        #expect(pool.counts.waiting == 0)
        let outcome = await pool.run(ScriptFixture.call(.named("answer")), of: bundle, host: RecordingHost())
        #expect(ScriptFixture.text(outcome) == #"{"$numberInt":"1"}"#)
        await pool.shutdown()
    }

    @Test("tells when no worker can be started")
    func missingProgram() async {
        let pool = ScriptPool(command: ["/nowhere/tidegate", "function-worker"])
        let bundle = ScriptFixture.bundle(["test": "exports = () => Math.max(1, 2)"])
        let outcome = await pool.run(ScriptFixture.call(.named("test")), of: bundle, host: RecordingHost())
        if case .success(let value) = outcome.result { Issue.record("\(value)") }
        await pool.shutdown()
    }

    @Test("gives workers no descriptor but their socket, and no environment of ours")
    func inheritance() async throws {
        let pool = ScriptFixture.pool(ScriptLimits(workers: 1))
        let bundle = ScriptFixture.bundle(["test": Self.waits])
        let seen = Mutex<(files: [String], environment: String)>(([], ""))
        let host = RecordingHost { _ in
            guard let id = pool.processIDs.first else { return .success(.null) }
            let folder = "/proc/\(id)/fd"
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            let files = names.compactMap { name in
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")).map {
                    (name, $0)
                }
            }
            let kept = files.filter { (Int($0.0) ?? 0) <= 3 }.sorted { $0.0 < $1.0 }.map(\.1)
            let sockets = files.filter { $0.1.hasPrefix("socket:") }.count
            let data = FileManager.default.contents(atPath: "/proc/\(id)/environ") ?? Data()
            let environment = String(decoding: data, as: UTF8.self)
            seen.withLock {
                $0 = (kept.map { $0.hasPrefix("socket:") ? "socket" : $0 } + ["\(sockets)"], environment)
            }
            return .success(.null)
        }
        _ = await pool.run(ScriptFixture.call(.named("test")), of: bundle, host: host)
        await pool.shutdown()
        #expect(seen.withLock { $0.files } == ["/dev/null", "/dev/null", "/dev/null", "socket", "1"])
        let names = seen.withLock { $0.environment }.split(separator: "\0").map { $0.prefix { $0 != "=" } }
        #expect(
            Set(names) == [
                "LC_ALL", "TZ", "SWIFT_BACKTRACE",
                "JSC_forceRAMSize", "JSC_thresholdForFTLOptimizeAfterWarmUp", "JSC_useConcurrentGC",
            ]
        )
    }

    @Test("leaves processors that are short to others, with every thread of a worker")
    func niceness() async throws {
        let pool = ScriptFixture.pool(ScriptLimits(workers: 1))
        let bundle = ScriptFixture.bundle(["test": Self.waits])
        let seen = Mutex<[Int]>([])
        let host = RecordingHost { _ in
            guard let id = pool.processIDs.first else { return .success(.null) }
            let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(id)/task")) ?? []
            let levels = threads.compactMap { thread -> Int? in
                let file = FileManager.default.contents(atPath: "/proc/\(id)/task/\(thread)/stat") ?? Data()
                // Behind the name, which may hold anything, the state comes third and the niceness nineteenth.
                let fields = String(decoding: file, as: UTF8.self).split(separator: ")").last?.split(
                    separator: " "
                )
                return fields.flatMap { $0.count > 16 ? Int($0[16]) : nil }
            }
            seen.withLock { $0 = levels }
            return .success(.null)
        }
        _ = await pool.run(ScriptFixture.call(.named("test")), of: bundle, host: host)
        await pool.shutdown()
        let ours = Int(getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0))
        let levels = seen.withLock { $0 }
        #expect(levels.count > 1)
        #expect(levels.allSatisfy { $0 == min(19, ours + 10) }, "\(levels)")
    }

    @Test("hands a source's big arguments and answers over")
    func bigValues() async {
        let text = String(repeating: "é0123456789", count: 400_000)
        let outcome = await ScriptFixture.run("exports = (t) => t + t.length", .string(text))
        #expect(ScriptFixture.text(outcome) == "\"\(text)\(text.utf16.count)\"")
        let tooBig = String(repeating: "x", count: 19 << 20)
        let refused = await ScriptFixture.run("exports = (t) => 1", .string(tooBig))
        #expect(ScriptFixture.text(refused) == "!the arguments are larger than 18 MB")
    }
}
