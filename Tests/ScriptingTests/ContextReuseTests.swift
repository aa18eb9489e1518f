import BSON
import Scripting
import Testing

/// A context serves the next call when the one before left it as it was, and is thrown away otherwise: two calls
/// never see each other's globals, and pollution in one does not reach the next.
@Suite("A context that serves one call after another", .serialized)
struct ContextReuseTests {
    private static let pool = ScriptFixture.pool(ScriptLimits(workers: 1, idle: .seconds(20)))

    /// Runs a call, then another that looks for its traces, in the same worker.
    private static func trace(
        of attack: String,
        seenBy probe: String
    ) async -> (attack: ScriptOutcome, probe: ScriptOutcome) {
        let bundle = ScriptFixture.bundle(["attack": attack, "probe": probe, "other": "exports = () => 1"])
        let host = RecordingHost()
        let first = await pool.run(ScriptFixture.call(.named("attack")), of: bundle, host: host)
        let second = await pool.run(ScriptFixture.call(.named("probe")), of: bundle, host: host)
        return (first, second)
    }

    @Test(
        "is kept after a call that changed nothing",
        arguments: [
            "exports = () => 1",
            "exports = async (a) => { await null; return [1, 2].map((x) => x * 2) }",
            "exports = () => { throw new Error('of its own') }",
            "exports = () => { console.log('a', { b: 1 }); return context.values.get('limit') }",
            "exports = () => ({ id: BSON.ObjectId(), n: BSON.Long(1), at: new Date(0) })",
            "exports = () => context.functions.execute('other')",
            "exports = () => { 'abc'.match(/(b)(c)/); return RegExp.$1 }",
            "exports = () => { class A { #x = 1; get x() { return this.#x } } return new A().x }",
            "exports = async () => { await new Promise((done) => setTimeout(done, 1)); return 1 }",
            "exports = () => { for (left = 0; left < 3; left++); return left }",
            "exports = () => Math.max(...new Map([[1, 2]]).values(), JSON.parse('3'))",
            "exports = () => require('util').inspect({ a: 1 })",
            "exports = () => { console.mine = 1; context.mine = 2; BSON.ObjectId.mine = 3; return 4 }",
            "console = { log: () => 1 }; exports = () => console.log('x')",
        ]
    )
    func kept(source: String) async {
        // A first call may ask for what the context did not expect; the second finds the worker prepared.
        let bundle = ScriptFixture.bundle(["test": source, "other": "exports = () => 1"])
        var runs: [Int] = []
        for _ in 0..<3 {
            let host = RecordingHost()
            let outcome = await Self.pool.run(ScriptFixture.call(.named("test")), of: bundle, host: host)
            runs.append(outcome.contextRuns)
        }
        #expect(runs.last.map { $0 > 1 } == true, "\(source): \(runs)")
    }

    /// What a call does to the language's objects, and what the next one would see of it.
    static let attacks: [(attack: String, probe: String, pristine: String)] = [
        ("Object.prototype.polluted = 1", "({}).polluted", "undefined"),
        ("Array.prototype.map = () => 'mine'", "[1].map((x) => x)[0]", "1"),
        ("Array.prototype[0] = 'mine'", "[][0]", "undefined"),
        (
            "Object.defineProperty(Array.prototype, 'map', { value: [].map, enumerable: true })",
            "Object.getOwnPropertyDescriptor(Array.prototype, 'map').enumerable", "false"
        ),
        (
            "Object.defineProperty(Array.prototype, 'map', { writable: false })",
            "Object.getOwnPropertyDescriptor(Array.prototype, 'map').writable", "true"
        ),
        (
            "const old = [].map; Object.defineProperty(Array.prototype, 'map', { get: () => old })",
            "typeof Object.getOwnPropertyDescriptor(Array.prototype, 'map').get", "undefined"
        ),
        (
            "const old = [].map; delete Array.prototype.map; Object.defineProperty(Array.prototype, 'map', "
                + "{ value: old, writable: true, configurable: true })",
            "Object.getOwnPropertyNames(Array.prototype).indexOf('map') < 30", "true"
        ),
        ("delete String.prototype.trim", "typeof ''.trim", "function"),
        ("Function.prototype.call = null", "typeof (() => 1).call", "function"),
        ("Number.prototype.mine = 1", "(1).mine", "undefined"),
        ("Boolean.prototype.mine = 1", "true.mine", "undefined"),
        ("BigInt.prototype.mine = 1", "1n.mine", "undefined"),
        ("Symbol.prototype.mine = 1", "Symbol.iterator.mine", "undefined"),
        ("Object.mine = 1", "Object.mine", "undefined"),
        (
            "Promise.prototype.then = Promise.prototype.catch",
            "Promise.prototype.then === Promise.prototype.catch", "false"
        ),
        ("Promise.all = () => 1", "Promise.all.name", "all"),
        ("RegExp.prototype.exec = () => null", "/a/.test('a')", "true"),
        ("Error.stackTraceLimit = 3", "Error.stackTraceLimit > 3", "true"),
        ("Error.prototype.name = 'Mine'", "new Error('x').name", "Error"),
        (
            "try { null.x } catch (e) { e.constructor.prototype.mine = 1 }",
            "(() => { try { null.x } catch (e) { return e.mine } })()", "undefined"
        ),
        ("[].values().__proto__.next = () => ({ done: true })", "[...[1]].length", "1"),
        ("[].values().__proto__.__proto__.mine = 1", "[].values().mine", "undefined"),
        ("''[Symbol.iterator]().__proto__.mine = 1", "''[Symbol.iterator]().mine", "undefined"),
        ("''.matchAll(/a/g).__proto__.mine = 1", "''.matchAll(/a/g).mine", "undefined"),
        ("(function* () {}).__proto__.mine = 1", "(function* () {}).mine", "undefined"),
        ("(function* () {}).__proto__.prototype.mine = 1", "(function* () {})().mine", "undefined"),
        ("(async () => 1).__proto__.mine = 1", "(async () => 1).mine", "undefined"),
        (
            "(async function* () {}).__proto__.prototype.__proto__.mine = 1",
            "(async function* () {})().mine", "undefined"
        ),
        ("[].values().map((x) => x).__proto__.mine = 1", "[].values().map((x) => x).mine", "undefined"),
        ("Iterator.from({ next() {} }).__proto__.mine = 1", "Iterator.from({ next() {} }).mine", "undefined"),
        ("Object.setPrototypeOf(Array.prototype, { mine: 1 })", "[].mine", "undefined"),
        ("Object.preventExtensions(Array.prototype)", "Object.isExtensible(Array.prototype)", "true"),
        ("Object.freeze(Object)", "Object.isFrozen(Object)", "false"),
        ("Object.defineProperty(globalThis, 'mine', { value: 1 })", "typeof mine", "undefined"),
        ("globalThis.setTimeout = () => 1", "setTimeout.name", "setTimeout"),
        ("delete globalThis.console", "typeof console", "object"),
        ("globalThis.Math = { max: () => 'mine' }", "Math.max(1)", "1"),
        ("Math.max = () => 'mine'", "Math.max(1)", "1"),
        ("globalThis['Ma' + 'th'].max = () => 'mine'", "globalThis['Ma' + 'th'].max(1)", "1"),
        ("globalThis['J' + 'SON'].stringify = () => 'mine'", "globalThis['J' + 'SON'].stringify(1)", "1"),
        ("Map.prototype.get = () => 'mine'", "new Map([[1, 2]]).get(1)", "2"),
        ("new Set().values().__proto__.mine = 1", "new Set().values().mine", "undefined"),
        ("Date.now = () => 'mine'", "typeof Date.now()", "number"),
        (
            "BSON.ObjectId().constructor; Object.getPrototypeOf(BSON.Binary.fromHex('00').buffer).mine = 1",
            "BSON.Binary.fromHex('00').buffer.mine", "undefined"
        ),
        ("Uint8Array.prototype.__proto__.mine = 1", "new Float32Array(1).mine", "undefined"),
        ("Intl.mine = 1", "Intl.mine", "undefined"),
        (
            "new Intl.Segmenter().segment('a').__proto__.mine = 1",
            "new Intl.Segmenter().segment('a').mine", "undefined"
        ),
        ("Reflect.ownKeys = () => []", "Reflect.ownKeys({ a: 1 }).length", "1"),
        (
            "Object.getOwnPropertyDescriptor = () => ({})",
            "Object.getOwnPropertyDescriptor({ a: 1 }, 'a').value", "1"
        ),
        (
            "Object.prototype.value = 1; Object.prototype.get = () => 1; delete Object.prototype.valueOf;"
                + " Array.prototype.map = 1", "typeof [].map", "function"
        ),
        (
            "Object.defineProperty(Object.prototype, 'writable', { configurable: true, get: () => true });"
                + " Object.defineProperty(Array.prototype, 'map', { __proto__: null, get: () => 1 })",
            "typeof [].map", "function"
        ),
        (
            "globalThis.held = []; new FinalizationRegistry(() => 1).register({}, 1)", "typeof held",
            "undefined"
        ),
        ("setTimeout(() => { Object.prototype.mine = 1 }, 60000)", "({}).mine", "undefined"),
    ]

    @Test("is thrown away after a call that changed the language's objects", arguments: attacks.indices)
    func dropped(index: Int) async {
        let (attack, probe, pristine) = Self.attacks[index]
        let (first, second) = await Self.trace(
            of: "exports = () => { \(attack); return 1 }",
            seenBy: "exports = () => String(\(probe))"
        )
        #expect(ScriptFixture.text(first) == #"{"$numberInt":"1"}"#, "\(attack)")
        #expect(ScriptFixture.text(second) == "\"\(pristine)\"", "\(attack)")
        #expect(second.contextRuns == 1, "\(attack)")
    }

    /// What a call leaves where no property shows it, or where nothing can stay.
    static let remains: [(attack: String, probe: String, pristine: String)] = [
        ("leaked = 1", "typeof leaked", "undefined"),
        (
            "(0, eval)('var leaked = 1; function alsoLeaked() {}')", "typeof leaked + typeof alsoLeaked",
            "undefinedundefined"
        ),
        ("this.leaked = 1", "typeof leaked", "undefined"),
        ("'secret'.match(/s(e)c/)", "RegExp.$1 + RegExp.lastMatch + RegExp.input + RegExp['$`']", ""),
        ("RegExp.input = 'secret'", "RegExp.input", ""),
        ("RegExp.multiline = true", "RegExp.multiline + '' + RegExp['$*']", "falsefalse"),
        ("Array.prototype.map.mine = 1", "Array.prototype.map.mine", "undefined"),
        (
            "Object.getOwnPropertyDescriptor(RegExp.prototype, 'flags').get.mine = 1",
            "Object.getOwnPropertyDescriptor(RegExp.prototype, 'flags').get.mine", "undefined"
        ),
        (
            "setTimeout.mine = 1; require.mine = 2", "setTimeout.mine + '' + require.mine",
            "undefinedundefined"
        ),
        (
            "console.mine = 1; console.log.mine = 1", "console.mine + '' + console.log.mine",
            "undefinedundefined"
        ),
        (
            "context.mine = 1; context.values.mine = 2; context.functions.mine = 3",
            "[context.mine, context.values.mine, context.functions.mine].join('')", ""
        ),
        (
            "context.values.get('limit'); context.user.mine = 1; context.app.mine = 2",
            "[context.user.mine, context.app.mine].join('')", ""
        ),
        (
            "BSON.mine = 1; BSON.ObjectId.prototype.mine = 1; BSON.Long.ZERO.mine = 1",
            "[BSON.mine, BSON.ObjectId().mine, BSON.Long.ZERO.mine].join('')", ""
        ),
        ("EJSON.mine = 1; EJSON.parse.mine = 1", "[EJSON.mine, EJSON.parse.mine].join('')", ""),
        (
            "utils.mine = 1; utils.crypto.mine = 1; utils.jwt.mine = 1",
            "[utils.mine, utils.crypto.mine, utils.jwt.mine].join('')", ""
        ),
        (
            "require('util').mine = 1; require('events').prototype.mine = 1",
            "[require('util').mine, new (require('events'))().mine].join('')", ""
        ),
        (
            "globalThis.console = { log: 1 }; globalThis.context = 1", "typeof console.log + typeof context",
            "functionobject"
        ),
        (
            "arguments.callee.caller && (arguments.callee.caller.mine = 1)",
            "(function f() { return f.caller && f.caller.mine })()", "undefined"
        ),
        (
            "let f = arguments.callee; for (let i = 0; i < 9 && f; i++) { try { f.mine = 1; f.prototype.mine = 1; "
                + "f = f.caller } catch { break } }",
            "(function g() { let f = g.caller; const out = []; for (let i = 0; i < 9 && f; i++) { try { "
                + "out.push(f.mine, f.prototype && f.prototype.mine); f = f.caller } catch { break } } "
                + "return out.join('') })()", ""
        ),
        ("const t = (s) => s; globalThis.seen = t`a`", "typeof seen", "undefined"),
        ("Symbol.for('mine').description", "Symbol.keyFor(Symbol.iterator)", "undefined"),
    ]

    @Test("shows a call nothing of the one before, whatever becomes of it", arguments: remains.indices)
    func nothingSeen(index: Int) async {
        let (attack, probe, pristine) = Self.remains[index]
        let (first, second) = await Self.trace(
            of: "exports = function () { \(attack); return 1 }",
            seenBy: "exports = function () { return String(\(probe)) }"
        )
        #expect(ScriptFixture.text(first) == #"{"$numberInt":"1"}"#, "\(attack)")
        #expect(ScriptFixture.text(second) == "\"\(pristine)\"", "\(attack)")
    }

    @Test("shows nothing through a module that cannot be imported")
    func imports() async {
        let attack = "exports = () => import('data:x').catch((e) => { e.mine = 1; return 1 })"
        let probe = "exports = () => import('data:x').catch((e) => String(e.mine))"
        let (first, second) = await Self.trace(of: attack, seenBy: probe)
        #expect(ScriptFixture.text(first) == #"{"$numberInt":"1"}"#)
        #expect(ScriptFixture.text(second) == #""undefined""#)
    }

    @Test("runs packages anew for each call")
    func packages() async {
        let bundle = ScriptFixture.bundle(
            ["test": "exports = () => { const c = require('counter'); c.n += 1; return c.n }"],
            modules: ["counter/index.js": "let n = 0; module.exports = { n }"]
        )
        for _ in 0..<4 {
            let host = RecordingHost()
            let outcome = await Self.pool.run(ScriptFixture.call(.named("test")), of: bundle, host: host)
            #expect(ScriptFixture.text(outcome) == #"{"$numberInt":"1"}"#)
        }
    }

    @Test("runs the new source after a change")
    func changed() async {
        for number in 1...3 {
            let bundle = ScriptFixture.bundle(["test": "exports = () => \(number)"])
            for _ in 0..<2 {
                let host = RecordingHost()
                let outcome = await Self.pool.run(ScriptFixture.call(.named("test")), of: bundle, host: host)
                #expect(ScriptFixture.text(outcome) == #"{"$numberInt":"\#(number)"}"#)
            }
        }
    }
}
