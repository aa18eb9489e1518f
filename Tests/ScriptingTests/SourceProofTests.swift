import BSON
import Testing

@testable import Scripting

/// What a function's source proves: that it cannot change the language's own objects.
///
/// A wrong proof would let one call's pollution reach the next, so everything doubtful must fail.
@Suite("The proof that a source leaves the language's objects alone")
struct SourceProofTests {
    static let globals: Set<String> = [
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
            // Names that are computed, where only numbers, texts and truths are made of what they name.
            """
            exports = (lines) => {
              const totals = {}, seen = {};
              for (const line of lines) totals[line.kind] = (totals[line.kind] ?? 0) + line.price * line.quantity;
              for (const line of lines) { totals[line.sku] = (totals[line.sku] || 0) + 1; totals[line.id] += 1; }
              for (let i = 0, n = lines.length; i < n; i++) { seen[lines[i].sku] = lines[i]; lines[i + 1] = i; }
              let j = lines.length; var at = 0;
              while (at < j) { if (!seen[lines[at].id]) seen[lines[at].id] = true; lines[at++].n = 1; at += 1; }
              if (seen[lines.key]) delete seen[lines.key];
              return { last: lines[lines.length - 1], top: seen[j.k] ? 1 : seen[j.k] === 2, n: totals[j.n]++ };
            };
            """,
            "exports = (o, k, v) => { o.a.b[k] = v; ++o[k]; o[k]--; return o[k] > 1 && o[k] && 2 }",
            """
            // Größe, 「注釈」
            exports = (a) => { /* naïve */
              for (const x of [1, 2]) a.push(x instanceof Date || x instanceof Array ? new Array(3) : Math.PI);
              return Object.assign({}, a, { max: Number.MAX_SAFE_INTEGER, n: BigInt(1), r: new RegExp("a", "g") });
            };
            """,
            "exports = (g) => { for (var i = 0; i < 9; i += 2) { g[i][i + 1].push(i); g(i); `${i}` } }",
            "exports = (g) => { for (let i = 0; i < 9; ++i) g[i] = i % 2 == 0 ? g[i] : -i; return g[g.n * 2](1) }",
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
            // What is read by a computed name gets on.
            "exports = (o, k) => o[k]", "exports = (o, k) => { const x = o[k]; x.mine = 1 }",
            "exports = (o, k) => { o[k].push(1) }", "exports = (o, k) => { o[k](1) }",
            "exports = (o, k) => { new o[k] + 1 }", "exports = (o, k) => { new o.a[k] + 1 }",
            "exports = (o, k, f) => { f(o[k]) + 1 }", "exports = (o, k, f) => { f(o[k] ?? 0) + 1 }",
            "exports = (o, k, f) => { f[0](o[k] ?? 0) + 1 }", "exports = (o, k, f) => { f `${o[k]}` }",
            "exports = (o, k, f) => { x = (o[k] ?? f) + 1 }",
            "exports = (o, k) => { x = (o[k] ?? 0).mine = 1 }",
            "exports = (o, k) => { x = o[k] || 0 }", "exports = (o, k) => { x = o[k] ?? 0 }",
            "exports = (o, k) => { (o[k] ||= []).push(1) }", "exports = (o, k) => { (o[k] ??= []).push(1) }",
            "exports = (o, k) => { return o[k]\n++o.n }", "exports = (o, k) => (1, o[k])",
            "exports = (o, k) => { [x] = [o[k]] }", "exports = (o, k) => { x = { y: o[k] } }",
            "exports = (o, k) => { for (x of o[k]) x.mine = 1 }", "exports = (o, k) => { x = o[k]; }",
            "exports = (o, k) => { x = k ? o[k] : 1 }", "exports = (o, k) => { throw o[k] }",
            "exports = (o, k) => { switch (o[k]) { } }", "exports = (o, k) => { o.f(...o[k]) }",
            "exports = (o, k) => { x = !k || o[k] }", "exports = (o, k) => { o()[k] += 1 }",
            "exports = (o, k) => { o[k][k] = 1 }", "exports = (o, k) => { o[k]?.[0] }",
            "exports = (o, k) => { o?.[k] + 1 }", "exports = () => { left = 1; delete left }",
            "exports = (o, k) => { let x\n[k] = o; }", "exports = (o, k) => { if (k) [k] = o }",
            // A name that is no number, in one place at least.
            "exports = (o, i) => { for (; i < 9; i++) o[i].mine = 1 }",
            "exports = (o) => { for (let i = 0; i < 9; i++) o[i].mine = 1; for (const i in o) o[i].mine = 1 }",
            "exports = (o) => { for (var i = 0 in o) o[i].mine = 1 }",
            "exports = (o) => { let i = 0; i = o; o[i].mine = 1 }",
            "exports = (o) => { let i = 0; i += o; o[i].mine = 1 }",
            "exports = (o) => { let i = 0; i += 1 + o; o[i].mine = 1 }",
            "exports = (o) => { let i = 0; [i] = o; o[i].mine = 1 }",
            "exports = (o) => { let i = 0; let x\n[i] = o; o[i].mine = 1 }",
            "exports = (o) => { let i = 0; [(i)] = o; o[i].mine = 1 }",
            "exports = (o) => { let i = 0; (i) = o; o[i].mine = 1 }",
            "exports = (o) => { let i = 0; ({ i } = o); o[i].mine = 1 }",
            "exports = (o) => { let i = 0; ({ a: i } = o); o[i].mine = 1 }",
            "exports = (o) => { let i = 0; [...i] = o; o[i].mine = 1 }",
            "exports = (o) => { let i = 0; [i = 1] = o; o[i].mine = 1 }",
            "exports = (o) => { let i = 0; i ??= o; i ||= o; o[i].mine = 1 }",
            "exports = (o) => { let i = 0; o.map((i) => o[i].mine = 1) }",
            "exports = (o) => { let i = 0; o.map(i => o[i].mine = 1) }",
            "exports = (o) => { let i = 0; o.map((o, i) => o[i].mine = 1) }",
            "exports = (o) => { let i = 0; function f(i) { o[i].mine = 1 } }",
            "exports = (o) => { let i = 0; try { o() } catch (i) { o[i].mine = 1 } }",
            "exports = (o) => { let i = 0; for (i of o) o[i].mine = 1 }",
            "exports = (o, x, i = 0) => { o[i].mine = 1 }",
            "exports = (o) => { let i = 0, j; o[i + j].mine = 1 }",
            "exports = (o) => { let i = 0 + o; o[i].mine = 1 }",
            "exports = (o) => { let i = 0; o[i + ''].x = 1 }",
            "exports = (o) => { let i = 0; o[o + i].mine = 1 }", "exports = (o, a) => { o[a.b].mine = 1 }",
            "exports = (o) => { o[yield - 1].mine = 1 }", "exports = (o, a) => { o[(a, a - 1)].mine = 1 }",
            "exports = (o) => { [o] = o instanceof Date.x }", "exports = (o) => { o instanceof Array[0] }",
            "exports = (o) => { o instanceof Array\nArray.mine = 1 }", "exports = () => { Math.PI.x = Math }",
            "exports = (o, k, of) => { o\nof [k].mine = 1 }",
            "exports = (o, k, of) => { {} of [k].mine = 1 }",
            "exports = (o, k, of) => { const x = of [k]; x.mine = 1 }", "exports = () => { new Array.x() }",
            "exports = () => { Object.assign.mine = Object }", "exports = (f) => { f(RegExp).mine = 1 }",
            "exports = (o) => { Object.getPrototypeOf(o).mine = 1 }", "exports = () => { BigInt.mine = 1 }",
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
