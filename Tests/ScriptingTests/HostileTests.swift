import BSON
import Foundation
import Scripting
import Testing

/// Scripts that mean harm: the caller is told, and others are served.
@Suite("A hostile script")
struct HostileTests {
    private static func outcome(
        _ source: String,
        within: Duration = .seconds(300),
        limits: ScriptLimits = ScriptLimits(workers: 1, memoryBytes: 250 << 20)
    ) async -> (ScriptOutcome, next: String) {
        let pool = ScriptFixture.pool(limits)
        let bundle = ScriptFixture.bundle(["test": source, "next": "exports = () => [typeof leaked, 'fine']"])
        let host = RecordingHost()
        let outcome = await pool.run(
            ScriptFixture.call(.named("test"), within: within),
            of: bundle,
            host: host
        )
        let next = await pool.run(ScriptFixture.call(.named("next")), of: bundle, host: host)
        await pool.shutdown()
        #expect(pool.counts.workers == 0)
        #expect(host.ends == 2)
        return (outcome, ScriptFixture.text(next))
    }

    private static let fine = #"["undefined","fine"]"#

    @Test(
        "that does not end is ended in time",
        arguments: [
            "exports = () => { for (;;); }",
            "exports = async () => { for (;;) await null; }",
            "exports = () => { for (;;) { try { for (;;); } catch (e) {} finally { continue } } }",
            "exports = () => /^(a+)+$/.test('a'.repeat(60) + 'b')",
            "exports = () => new Promise((done) => setTimeout(done, 1e6))",
            "exports = () => new Promise(() => setInterval(() => 0, 1))",
            "for (;;);",
        ]
    )
    func endless(source: String) async {
        let (outcome, next) = await Self.outcome(source, within: .milliseconds(700))
        #expect(
            outcome.result == .failure(ScriptFailure(.time, "execution time limit exceeded")),
            "\(source)"
        )
        #expect(next == Self.fine)
    }

    @Test(
        "that takes all memory is ended",
        arguments: [
            "exports = () => { const a = []; for (;;) a.push(new Array(1000).fill({})) }",
            "exports = () => { const a = []; for (let i = 0;; i++) a.push(JSON.stringify('x'.repeat(1 << 20) + i)) }",
            "exports = () => { const a = []; for (;;) a.push(new Uint8Array(1 << 20).fill(1)) }",
        ]
    )
    func greedy(source: String) async {
        let (outcome, next) = await Self.outcome(source)
        guard case .failure(let failure) = outcome.result else {
            Issue.record("\(outcome.result)")
            return
        }
        // The engine may find out itself, with an exception of its own.
        #expect(failure.reason == .memory || failure.message.contains("memory"), "\(failure)")
        #expect(next == Self.fine)
    }

    @Test("that recurses without end gets an exception")
    func recursion() async {
        let (outcome, next) = await Self.outcome("exports = function f() { return f() + 1 }")
        #expect(ScriptFixture.text(outcome) == "!RangeError: Maximum call stack size exceeded.")
        #expect(next == Self.fine)
    }

    @Test("that returns too much is refused")
    func tooLarge() async {
        let source = "exports = () => 'x'.repeat(19 * 1024 * 1024)"
        let (outcome, next) = await Self.outcome(source)
        #expect(ScriptFixture.text(outcome) == "!the result is larger than 18 MB")
        #expect(next == Self.fine)
    }

    @Test("with thousands of timers and lines of console is served")
    func manyTimers() async {
        let source = """
            exports = () => new Promise((done) => {
              let n = 0;
              for (let i = 0; i < 5000; i++) setTimeout(() => { console.log(i); if (++n === 5000) done(n) }, i % 50);
            })
            """
        let (outcome, next) = await Self.outcome(source)
        #expect(ScriptFixture.text(outcome) == #"{"$numberInt":"5000"}"#)
        #expect(outcome.messages.count == 25)
        #expect(next == Self.fine)
    }

    @Test("leaves nothing behind for the next call: no globals, no changed prototypes")
    func isolation() async {
        let pool = ScriptFixture.pool(ScriptLimits(workers: 1))
        let bundle = ScriptFixture.bundle([
            "bad": """
            exports = () => {
              leaked = 1; globalThis.other = 2;
              Object.prototype.polluted = 1; Array.prototype.map = () => 'mine'; Promise.prototype.then = () => 'mine';
              JSON.stringify = () => 'mine'; console.log = () => 'mine'; context.user.id = 'other';
              setTimeout(() => { leaked = 3 }, 1);
              return 1;
            }
            """,
            "next": """
            exports = async () => [typeof leaked, typeof other, {}.polluted === undefined, [1].map((x) => x + 1),
              JSON.stringify({}), await Promise.resolve(4), context.user.id]
            """,
        ])
        for _ in 0..<3 {
            _ = await pool.run(ScriptFixture.call(.named("bad")), of: bundle, host: RecordingHost())
            let outcome = await pool.run(
                ScriptFixture.call(.named("next")),
                of: bundle,
                host: RecordingHost()
            )
            #expect(
                ScriptFixture.text(outcome)
                    == #"["undefined","undefined",true,[{"$numberInt":"2"}],"{}",{"$numberInt":"4"},"5cbf68583025b12840664682"]"#
            )
        }
        await pool.shutdown()
    }

    @Test(
        "that breaks the language's own parts breaks nothing of the runtime's",
        arguments: [
            "const all = [Object, Array, Promise, Symbol, Error, JSON, Map, WeakMap, Reflect, Date].map((t) => t.prototype ?? t); const keys = all.map(Reflect.ownKeys); for (let i = 0; i < all.length; i++) for (let j = 0; j < keys[i].length; j++) { try { if (keys[i][j] !== 'constructor') all[i][keys[i][j]] = () => { throw 'broken' } } catch {} }",
            "for (const n of Object.getOwnPropertyNames(globalThis)) { try { if (n !== 'context') globalThis[n] = null } catch {} }",
            "Object.defineProperty(Object.prototype, 'value', { get() { throw 1 }, set() { throw 2 } }); Object.defineProperty(Object.prototype, 'then', { get() { return undefined } });",
            "Object.prototype.toJSON = () => 'mine'; Array.prototype.toJSON = () => 'mine'; String.prototype.toJSON = () => 'mine';",
        ]
    )
    func broken(body: String) async {
        let host = DataHost([["a": 1]])
        let source = """
            exports = async () => {
              const c = context.services.get('mongodb-atlas').db('d').collection('c');
              \(body)
              return [await c.findOne({a: 1}), 2.5, 'text'];
            }
            """
        #expect(
            await ScriptFixture.text(source, host: host)
                == #"[{"a":{"$numberInt":"1"}},{"$numberDouble":"2.5"},"text"]"#
        )
        #expect(host.log.count == 1)
    }

    @Test("does not reach the runtime's own functions")
    func natives() async {
        let source = """
            exports = () => {
              const global = Function('return this')();
              const names = Object.getOwnPropertyNames(global).filter((n) => /native|tidegate|runtime/i.test(n));
              const reach = [];
              for (const f of [context.http.get, context.services.get, console.log, setTimeout, require, BSON.ObjectId]) {
                try { if (f.caller || f.arguments) reach.push(f.name) } catch {}
              }
              return [global === globalThis, names, reach, typeof process.binding, typeof native, typeof rt];
            }
            """
        #expect(await ScriptFixture.text(source) == #"[true,[],[],"undefined","undefined","undefined"]"#)
    }

    @Test("has no environment, and no files to write to")
    func environment() async {
        #expect(await ScriptFixture.text("exports = () => Object.keys(process.env)") == "[]")
    }

    @Test("whose worker is killed ends with an error, and the next call is served")
    func killed() async throws {
        let pool = ScriptFixture.pool(ScriptLimits(workers: 1))
        let bundle = ScriptFixture.bundle([
            "test":
                "exports = async () => [await context.services.get('mongodb-atlas').db('d').collection('c').findOne()]",
            "next": "exports = () => 1",
        ])
        // The host call is when the worker is known to run.
        let host = RecordingHost { _ in
            for id in pool.processIDs { kill(id, SIGKILL) }
            return .success(.null)
        }
        let outcome = await pool.run(ScriptFixture.call(.named("test")), of: bundle, host: host)
        let crash = ScriptFailure(.crash, "the process that ran the function ended unexpectedly")
        #expect(outcome.result == .failure(crash))
        let next = await pool.run(ScriptFixture.call(.named("next")), of: bundle, host: RecordingHost())
        #expect(ScriptFixture.text(next) == #"{"$numberInt":"1"}"#)
        await pool.shutdown()
        #expect(pool.processIDs.isEmpty)
    }
}
