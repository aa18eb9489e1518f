import BSON
import Scripting
import Testing

/// `reference/functions.md` §§2 and 7, row by row.
@Suite("Tables of functions.md: §2 source form, §7 modules")
struct SourceTableTests {
    private static let five = #"{"$numberInt":"5"}"#

    @Test(
        "§2",
        arguments: [
            TableRow("exports = function (a, b) {…}", "exports = function (a, b) { return a + b };", five),
            TableRow(
                "exports = async function name(…args) {…}",
                "exports = async function sum(...args) { return args[0] + args[1] };",
                five
            ),
            TableRow("exports = (x) => …", "exports = (a, b) => a + b;", five),
            TableRow("exports = async (x) => …", "exports = async (a, b) => a + b;", five),
            TableRow(
                "exports = someName; after a declaration",
                "function someName(a, b) { return a + b }\nexports = someName;",
                five
            ),
            TableRow(
                "module.exports = …",
                "module.exports = (a, b) => a + b;",
                "!TypeError: module.exports is not supported: assign the function to `exports`"
            ),
            TableRow(
                "export default …",
                "export default (a, b) => a + b;",
                "!SyntaxError: export is not supported: use require, and assign the function to `exports`"
            ),
            TableRow(
                "import …",
                "import x from 'y';\nexports = (a, b) => a + b;",
                "!SyntaxError: import is not supported: use require, and assign the function to `exports`"
            ),
            TableRow(
                #"require("./other.js")"#,
                #"exports = () => require("./other.js");"#,
                #"!require("./other.js") is not supported: call context.functions.execute"#
            ),
            TableRow(
                #"require("name") at top of file"#,
                "const path = require('path');\nexports = (a, b) => path.basename('/x/5') === '5' ? a + b : 0;",
                five
            ),
            TableRow(
                "local functions, also after exports",
                "exports = (a, b) => add(a, b);\nfunction add(a, b) { return a + b }",
                five
            ),
            TableRow(
                "a returned cursor is drained",
                "exports = () => context.services.get('mongodb-atlas').db('d').collection('c').find();",
                #"[{"a":{"$numberInt":"1"}}]"#
            ),
        ]
    )
    func sources(row: TableRow) async {
        #expect(await ScriptFixture.text(row.source, 2, 3, host: DataHost([["a": 1]])) == row.answer)
    }

    @Test(
        "§7 area",
        arguments: [
            TableRow("syntax: RegExp flags y, u", "[/a/y.test('ba'), /^.$/u.test('𝄞')]", "[false,true]"),
            TableRow(
                "objects: BigInt, Proxy, Reflect, WeakSet",
                "[2n ** 40n, new Proxy({}, { get: () => 1 }).x, Reflect.ownKeys({ a: 1 }), new WeakSet().has({})]",
                #"[{"$numberLong":"1099511627776"},{"$numberInt":"1"},["a"],false]"#
            ),
            TableRow(
                "methods: Array static, Number static, Math, RegExp prototype",
                "[Array.from('ab'), Number.isInteger(5), Math.max(1, 2), /a/gi.flags]",
                #"[["a","b"],true,{"$numberInt":"2"},"gi"]"#
            ),
            TableRow(
                "supported: classes, generators, destructuring, spread, template literals, **, ??",
                """
                (() => { class A { static #x = 2; static x() { return A.#x } } function* g() { yield 1; yield* [2] }
                  const { a, ...rest } = { a: 1, b: 2, c: 3 }; return [A.x(), [...g()], rest, `${a}${2 ** 3}`, null ?? 4] })()
                """,
                #"[{"$numberInt":"2"},[{"$numberInt":"1"},{"$numberInt":"2"}],{"b":{"$numberInt":"2"},"c":{"$numberInt":"3"}},"18",{"$numberInt":"4"}]"#
            ),
            TableRow(
                "supported: for await, Map, Set, Symbol, typed arrays, WeakMap",
                """
                (async () => { const out = []; for await (const x of [Promise.resolve(1), 2]) out.push(x);
                  const s = Symbol('s'); const w = new WeakMap([[out, 1]]);
                  return [out, new Map([[1, 2]]).get(1), new Set([1, 1]).size, { [s]: 3 }[s], new Uint8Array(2).length, w.get(out)] })()
                """,
                #"[[{"$numberInt":"1"},{"$numberInt":"2"}],{"$numberInt":"2"},{"$numberInt":"1"},{"$numberInt":"3"},{"$numberInt":"2"},{"$numberInt":"1"}]"#
            ),
        ]
    )
    func areas(row: TableRow) async {
        #expect(await ScriptFixture.text("exports = () => (\(row.source));") == row.answer)
    }

    @Test("§7 modules: a small set of shims, and a clear error for the rest")
    func modules() async {
        let source = """
            exports = (names) => names.map((name) => {
              try { return typeof require(name) === 'undefined' ? 'nothing' : 'there' } catch (e) { return e.message }
            });
            """
        let shims = [
            "assert", "buffer", "crypto", "events", "path", "querystring", "url", "util", "zlib",
            "string_decoder", "timers",
        ]
        let rest = [
            "net", "os", "punycode", "stream", "tls", "tty", "dgram", "dns", "fs", "http", "https", "http2",
            "process", "child_process", "cluster", "domain", "readline", "v8", "vm",
        ]
        let answer = await ScriptFixture.text(source, .array((shims + rest).map { .string($0) }))
        let expected =
            shims.map { _ in #""there""# } + rest.map { #""module \"\#($0)\" is not available""# }
        #expect(answer == "[\(expected.joined(separator: ","))]")
    }
}
