import BSON
import Testing

@testable import Scripting

/// What a function's source proves: that it cannot change the language's own objects.
///
/// A wrong proof would let one call's pollution reach the next, so everything doubtful must fail.
@Suite("The proof that a source leaves the language's objects alone")
struct SourceProofTests {
    private static let globals: Set<String> = [
        "Object", "Function", "Array", "Number", "parseFloat", "parseInt", "Infinity", "NaN", "undefined",
        "Boolean",
        "String", "Symbol", "Date", "Promise", "RegExp", "Error", "AggregateError", "EvalError", "RangeError",
        "ReferenceError", "SyntaxError", "TypeError", "URIError", "JSON", "Math", "Intl", "ArrayBuffer",
        "Uint8Array",
        "DataView", "Map", "BigInt", "Set", "Iterator", "WeakMap", "WeakSet", "WeakRef", "Proxy", "Reflect",
        "FinalizationRegistry", "decodeURI", "decodeURIComponent", "encodeURI", "encodeURIComponent",
        "escape",
        "unescape", "eval", "isFinite", "isNaN", "globalThis", "setTimeout", "setInterval", "setImmediate",
        "clearTimeout", "clearInterval", "clearImmediate", "require", "console", "context", "BSON", "EJSON",
        "utils",
        "Buffer", "process", "URL", "URLSearchParams", "constructor", "__proto__", "hasOwnProperty",
        "isPrototypeOf",
        "propertyIsEnumerable", "toLocaleString", "toString", "valueOf", "__defineGetter__",
    ]

    private static func holds(_ source: String) -> Bool { SourceProof.holds(for: source, globals: globals) }

    @Test(
        "holds for plain functions",
        arguments: [
            "exports = () => 1",
            "exports = () => ({ ok: true, n: [1, 2, 3].map((x) => x * 2).reduce((a, b) => a + b, 0) });",
            #"""
            exports = async (id) => {
              const tasks = context.services.get("mongodb-atlas").db("bench").collection('tasks');
              const found = await tasks.findOne({ _id: id, n: { $gt: 1 / 2 } }); // one / two
              if (!found) { throw new Error(`no task ${id}: ${[1, `${2}`][0]}`); }
              /* all of it */
              return { ...found, at: new Date(), words: found.text.split(/[/"']+/g), first: found["text"] };
            };
            """#,
            "exports = (a) => { let n = 0; for (const x of a) { n += x; } a.total = n; return JSON.stringify(a) }",
            "exports = ({ query }, response) => { response.setStatusCode(201); return Math.max(...query.n) }",
            "exports = () => { left = 1; return left }",
            "function f(n) { return n < 2 ? n : f(n - 1) + f(n - 2) }\nexports = f",
            #"exports = () => 'it\'s'.length"#,
        ]
    )
    func holdsFor(source: String) {
        #expect(Self.holds(source), "\(source)")
    }

    @Test("fails for what is known to change them", arguments: ContextReuseTests.attacks.indices)
    func failsForAttacks(index: Int) {
        let attack = ContextReuseTests.attacks[index].attack
        #expect(!Self.holds("exports = () => { \(attack); return 1 }"), "\(attack)")
    }

    @Test(
        "fails for every way to a name that is not seen",
        arguments: [
            "exports = (k) => { [][k].mine = 1 }", "exports = (k, v) => { ({})[k][v] = 1 }",
            "exports = () => { []['constr' + 'uctor'].mine = 1 }",
            "exports = () => { []['constructor'].mine = 1 }",
            #"exports = () => { []['\x63onstructor'].mine = 1 }"#,
            #"exports = () => { []['\constructor'].mine = 1 }"#,
            #"exports = () => { []['\u{63}onstructor'].mine = 1 }"#,
            "exports = () => { []['con\\\nstructor'].mine = 1 }",
            "exports = () => { [][`constructor`].mine = 1 }",
            "exports = () => { []?.['constructor'].mine = 1 }",
            #"exports = () => { [].\u0063onstructor.mine = 1 }"#, "exports = () => { []/**/[k].mine = 1 }",
            "exports = (k) => { const { [k]: c } = []; c.mine = 1 }",
            "exports = () => { const { constructor } = [] }",
            "exports = (k) => { let a; ({ a, [k]: a } = []); a.mine = 1 }",
            "exports = () => { const { 'constructor': c } = []; c.mine = 1 }",
            "exports = () => { const f = Array\n'('; f.mine = 1 }", "exports = () => { const f = Date\n'(' }",
            "exports = () => { Array.isArray = 1 }", "exports = () => { [Array.isArray] = [1] }",
            "exports = () => { Math.max.mine = 1 }", "exports = () => [1].map(Array)",
            "exports = () => { Date = 1 }",
            "exports = () => { setTimeout = 1 }", "exports = () => { delete Date }",
            "exports = () => { Date++ }",
            "exports = function () { this.Array.mine = 1 }", "exports = function () { arguments.length = 1 }",
            "exports = () => { for (Date of [1]); }", "exports = () => valueOf().Array",
            "exports = () => new Date.x()", "exports = () => eval('1')", "exports = () => import('x')",
            "exports = () => { class A extends Array {} }", "exports = () => ({ f() { super.x = 1 } })",
            "exports = () => { with (context) { x = 1 } }",
            "exports = () => Object.assign(Array, { mine: 1 })",
            "exports = () => require('util')", "exports = () => context.functions.execute.constructor",
            "exports = () => { x.__defineGetter__('a', f) }", "exports = (o, let) => let[o].mine",
            "exports = (o, of, yield) => of[o] + yield[o]", "exports = (await, k) => await[k].mine",
        ]
    )
    func failsForNames(source: String) {
        #expect(!Self.holds(source), "\(source)")
    }

    @Test(
        "fails for what the engine may read in another way",
        arguments: [
            "exports = 1; <!-- `\nArray.mine = 1 // `", "exports = 1\n--> `\nArray.mine = 1 // `",
            "exports = 1 // \u{2028} Array.mine = 1", "exports = 1 // \u{2029} Array.mine = 1",
            "exports = 1 /* ` \u{2028} --> ` */", "exports = (a) => { a\n/'/.exec(); Array.mine = 1; '/' }",
            "exports = (a) => { break\n/'/.exec(); Array.mine = 1; '/' }",
            "exports = (a) => { if (a) /'/; Array.mine = 1; '/' }",
            "exports = (a) => { {} /'/; Array.mine = 1; '/' }",
            "exports = (a) => { let b\n/'/; Array.mine = 1; '/' }",
            "exports = (yield) => yield /'/g; Array.mine = 1; '/'",
            "exports = (a) => a++ /'/g; Array.mine = 1; '/'",
            "}).call(); Array.mine = 1; (function () { exports = 1", ") } (", "exports = `", "exports = '",
            "exports = `${",
            "exports = `${1`}`", "exports = /a", "exports = ('\n')", "exports = [(])", "exports = 1 /*",
            "exports = #a",
            "exports = @a", "exports = é", "exports = \"a\0b\"", "/a/", "exports = (a) => a[",
            "exports = a ]: 1",
        ]
    )
    func failsForDoubt(source: String) {
        #expect(!Self.holds(source), "\(source)")
    }

    @Test("A function that is proven keeps its context, and one that is not leaves nothing to it")
    func together() async {
        let pool = ScriptFixture.pool(ScriptLimits(workers: 1, idle: .seconds(20)))
        let bundle = ScriptFixture.bundle([
            "plain": "exports = (a) => { left = a; return typeof gone }",
            "nested": "exports = () => context.functions.execute('attack')",
            "attack": "exports = () => { Object.prototype.gone = 1; return 'attacked' }",
            "probe": "exports = () => String(({}).gone) + typeof left",
            "take": "exports = (a) => JSON.stringify(a)",
        ])
        func run(_ name: String, _ arguments: [BSONValue] = []) async -> ScriptOutcome {
            await pool.run(ScriptFixture.call(.named(name), arguments), of: bundle, host: RecordingHost())
        }
        for _ in 0..<150 {
            #expect(ScriptFixture.text(await run("plain", [1])) == #""undefined""#)
        }
        #expect(ScriptFixture.text(await run("probe")) == #""undefinedundefined""#)
        #expect(ScriptFixture.text(await run("nested")) == #""attacked""#)
        #expect(ScriptFixture.text(await run("probe")) == #""undefinedundefined""#)
        // A name that reading a value must not follow.
        let id = ObjectID(seconds: 1, unique: 2)
        _ = await run("take", [["__proto__": ["gone": .objectID(id)]]])
        #expect(ScriptFixture.text(await run("probe")) == #""undefinedundefined""#)
        await pool.shutdown()
    }
}
