import BSON
import Foundation
import Scripting
import TestSupport
import Testing

/// `require`: the runtime's modules, and packages: `reference/functions.md` §7.
@Suite("Modules of functions")
struct ModuleTests {
    @Test(
        "of the runtime do what their namesakes do",
        arguments: [
            ("require('assert').strictEqual(1, 1)", #"{"$undefined":true}"#),
            ("require('assert')(0, 'no')", "!AssertionError: no"),
            (
                "(() => { require('assert').deepStrictEqual({a: [1, new Date(0)]}, {a: [1, new Date(0)]}); return 1 })()",
                #"{"$numberInt":"1"}"#
            ),
            (
                "require('assert').throws(() => { throw new TypeError('x') }, /TypeError/)",
                #"{"$undefined":true}"#
            ),
            ("require('buffer').Buffer.from('hé').toString('hex')", #""68c3a9""#),
            ("Buffer.concat([Buffer.from('aGk=', 'base64'), Buffer.alloc(1, '!')]).toString()", #""hi!""#),
            ("Buffer.from([1, 2, 3]).readUInt16BE(1)", #"{"$numberInt":"515"}"#),
            ("Buffer.from('abc').slice(1).equals(Buffer.from('bc'))", "true"),
            ("JSON.stringify(Buffer.from('a'))", #""{\"type\":\"Buffer\",\"data\":[97]}""#),
            ("Buffer.from('ab', 'utf16le').toString('latin1').length", #"{"$numberInt":"4"}"#),
            (
                "require('crypto').createHash('sha256').update('a').update('b').digest('hex')",
                #""fb8e20fc2e4c3f248c60c39bd652f3c1347298bb977b8b4d5903b85055620603""#
            ),
            (
                "require('crypto').createHmac('sha256', 'super-secret').update('hello!').digest('base64')",
                #""SUXd6PRMaTXXgBGaGsIHzaDWgTSa6C3D44lRGrvRak0=""#
            ),
            ("require('crypto').randomBytes(8).length", #"{"$numberInt":"8"}"#),
            ("/^[0-9a-f-]{36}$/.test(require('crypto').randomUUID())", "true"),
            ("require('crypto').timingSafeEqual(Buffer.from('a'), Buffer.from('a'))", "true"),
            (
                "(() => { const E = require('events'); const e = new E(); let n = 0; e.once('a', (v) => { n += v }); e.emit('a', 2); e.emit('a', 2); return n })()",
                #"{"$numberInt":"2"}"#
            ),
            ("require('path').join('/a', '../b', './c.txt')", #""/b/c.txt""#),
            ("require('path').relative('/a/b/c', '/a/d')", #""../../d""#),
            (
                "require('path').parse('/a/b.tar.gz')",
                #"{"root":"/","dir":"/a","base":"b.tar.gz","ext":".gz","name":"b.tar"}"#
            ),
            ("require('querystring').stringify({a: [1, 2], b: 'x y'})", #""a=1&a=2&b=x%20y""#),
            ("require('querystring').parse('a=1&b=%20&a=2').a", #"["1","2"]"#),
            (
                "require('string_decoder').StringDecoder ? (() => { const d = new (require('string_decoder').StringDecoder)(); return d.write(Buffer.from([0xe2, 0x82])) + d.write(Buffer.from([0xac])) + d.end() })() : 0",
                #""€""#
            ),
            (
                "new URL('../x?q=1#h', 'http://User:pw@Ex.com:80/a/b/c').href",
                #""http://User:pw@ex.com/a/x?q=1#h""#
            ),
            (
                "(() => { const u = new URL('https://ex.com/?a=1'); u.searchParams.append('b', 'x y'); return [u.search, u.origin] })()",
                #"["?a=1&b=x+y","https://ex.com"]"#
            ),
            ("require('url').parse('http://ex.com:8080/p?q=1', true).query.q", #""1""#),
            (
                "require('url').format({protocol: 'https', host: 'ex.com', pathname: '/p', query: {a: 1}})",
                #""https://ex.com/p?a=1""#
            ),
            ("new URL('nowhere')", "!TypeError: Invalid URL: nowhere"),
            ("require('util').format('%s %d %j', 'a', '2', {a: 1})", #""a 2 {\"a\":1}""#),
            ("require('util').inspect({a: [1, {b: {c: {}}}]})", #""{ a: [ 1, { b: [Object] } ] }""#),
            ("require('util').promisify((a, done) => done(null, a + 1))(1)", #"{"$numberInt":"2"}"#),
            ("require('util').isDeepStrictEqual(new Map([[1, {a: 1}]]), new Map([[1, {a: 1}]]))", "true"),
            (
                "require('zlib').gunzipSync(require('zlib').gzipSync('hello'.repeat(100))).toString().length",
                #"{"$numberInt":"500"}"#
            ),
            (
                "require('zlib').inflateRawSync(require('zlib').deflateRawSync(Buffer.from('x'))).toString()",
                #""x""#
            ),
            (
                "new Promise((done) => require('zlib').gunzip('no', (e) => done(e.message)))",
                #""incorrect header check""#
            ),
            ("require('timers').setTimeout === setTimeout", "true"),
            ("require('node:path').sep", #""/""#),
            ("require('child_process')", #"!module "child_process" is not available"#),
        ]
    )
    func builtIn(expression: String, answer: String) async {
        #expect(await ScriptFixture.text("exports = () => (\(expression))") == answer)
    }

    @Test("of packages are found as node finds them")
    func packages() async {
        let modules = [
            "plain/package.json": #"{"name":"plain","main":"lib/main"}"#,
            "plain/lib/main.js":
                "const inner = require('./inner'); module.exports = { value: inner.value, name: __filename }",
            "plain/lib/inner.js": "exports.value = require('nested').n + require('../data.json').n;",
            "plain/data.json": #"{"n":2}"#,
            "plain/node_modules/nested/package.json": #"{"main":"index.js"}"#,
            "plain/node_modules/nested/index.js": "module.exports.n = 40",
            "nested/package.json": "{}",
            "nested/index.js": "module.exports.n = 1",
            "@scope/new/package.json":
                #"{"exports":{".":{"import":"./no.mjs","require":"./main.cjs"},"./sub/*":"./src/*.js"}}"#,
            "@scope/new/main.cjs": "module.exports = 'cjs'",
            "@scope/new/src/deep.js": "module.exports = 'deep'",
            "@scope/new/hidden.js": "module.exports = 'hidden'",
            "cycle/index.js": "exports.a = 1; exports.b = require('./other').sees; ",
            "cycle/other.js": "exports.sees = require('./index').a",
            "broken/index.js": "\n\nthrow new Error('at load')",
        ]
        let source = """
            const plain = require('plain');
            exports = () => {
              const out = [plain.value, plain.name, require('nested').n, require('@scope/new'), require('@scope/new/sub/deep'),
                require('plain/lib/inner').value, require('cycle').b, require('plain') === plain];
              for (const name of ['@scope/new/hidden', 'absent']) { try { require(name) } catch (e) { out.push(e.message) } }
              return out;
            }
            """
        let bundle = ScriptFixture.bundle(
            ["test": source, "bad": "exports = () => require('broken')"],
            modules: modules
        )
        let outcome = await ScriptFixture.shared.run(
            ScriptFixture.call(.named("test")),
            of: bundle,
            host: RecordingHost()
        )
        #expect(
            ScriptFixture.text(outcome)
                == #"""
                [{"$numberInt":"42"},"/plain/lib/main.js",{"$numberInt":"1"},"cjs","deep",{"$numberInt":"42"},{"$numberInt":"1"},true,"module \"@scope/new/hidden\" is not available","module \"absent\" is not available"]
                """#
        )
        let bad = await ScriptFixture.shared.run(
            ScriptFixture.call(.named("bad")),
            of: bundle,
            host: RecordingHost()
        )
        guard case .failure(let failure) = bad.result else {
            Issue.record("\(bad.result)")
            return
        }
        #expect(failure.stack?.hasPrefix("node_modules/broken/index.js:3:") == true)
    }

    @Test("are all in the program")
    func embedded() throws {
        let folder = RunningServer.packageRoot.appendingPathComponent("Sources/CScriptRuntime")
        let table = try String(contentsOf: folder.appendingPathComponent("CScriptRuntime.c"), encoding: .utf8)
        let files = FileManager.default.enumerator(atPath: folder.appendingPathComponent("js").path)
        let names = (files?.compactMap { $0 as? String } ?? []).filter { $0.hasSuffix(".js") }
        #expect(!names.isEmpty)
        for name in names {
            #expect(table.contains("#embed \"js/\(name)\""), "\(name)")
            #expect(table.contains("{\"\(name.dropLast(3))\", "), "\(name)")
        }
    }
}
