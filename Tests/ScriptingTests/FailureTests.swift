import BSON
import Scripting
import Testing

/// What a run that fails says: `reference/functions.md` §9.
@Suite("A failure of a function")
struct FailureTests {
    @Test(
        "has the text that client libraries know",
        arguments: [
            ("exports = () => unknown", "ReferenceError: 'unknown' is not defined"),
            (
                "exports = () => context.services.get('none').db('x')",
                "TypeError: Cannot access member 'db' of undefined"
            ),
            ("exports = () => null.x", "TypeError: Cannot access member 'x' of null"),
            ("exports = () => { throw new Error('boom') }", "boom"),
            ("exports = async () => { await null; throw new RangeError('far') }", "RangeError: far"),
            ("exports = () => { class Mine extends Error {}; throw new Mine('m') }", "Mine: m"),
            ("exports = () => { const e = new Error('m'); e.name = 'Own'; throw e }", "Own: m"),
            ("exports = () => { throw { a: 1 } }", #"{"a":{"$numberInt":"1"}}"#),
            ("exports = () => { throw 'text' }", #""text""#),
            ("exports = () => { throw undefined }", #"{"$undefined":true}"#),
            ("exports = () => Promise.reject(new Error('no'))", "no"),
            (
                "exports = () => { const a = {}; a.a = a; return a }",
                "TypeError: a value is nested too deeply, or holds itself"
            ),
            ("exports = () => require('fs')", #"module "fs" is not available"#),
            (
                "exports = () => require('./other')",
                #"require("./other") is not supported: call context.functions.execute"#
            ),
            ("exports = () => context.functions.execute('nobody')", "function not found: 'nobody'"),
            (
                "exports = () => new Promise(() => {})",
                "the function's promise never settles: nothing is left that it could wait for"
            ),
            (
                "exports = () => { throw new Proxy({}, { get() { throw 1 } }) }",
                "the function threw a value that cannot be shown"
            ),
            ("exports = () => new Proxy({ a: 1 }, { ownKeys() { throw new Error('keys') } })", "keys"),
            (
                "exports = () => { setTimeout(() => { throw new Error('later') }, 1); return new Promise(() => {}) }",
                "later"
            ),
            ("exports = () => new Date(NaN)", "RangeError: an invalid date cannot be stored"),
        ]
    )
    func texts(source: String, message: String) async {
        let outcome = await ScriptFixture.run(source)
        guard case .failure(let failure) = outcome.result else {
            Issue.record("\(outcome.result)")
            return
        }
        #expect(failure.message == message)
        #expect(failure.reason == .execution)
    }

    @Test("tells where, in lines and columns of the source")
    func stack() async {
        let bundle = ScriptFixture.bundle([
            "main": "exports = async () => {\n  return context.functions.execute('lib/inner');\n}",
            "lib/inner": "exports = () => { first() }\nfunction first() {\n    throw new Error('here');\n}",
        ])
        let outcome = await ScriptFixture.shared.run(
            ScriptFixture.call(.named("main")),
            of: bundle,
            host: RecordingHost()
        )
        guard case .failure(let failure) = outcome.result else {
            Issue.record("\(outcome.result)")
            return
        }
        let frames = failure.stack?.split(separator: "\n").map(String.init) ?? []
        #expect(frames.first == "functions/lib/inner.js:3:20")
        #expect(frames.dropFirst().first == "functions/lib/inner.js:1:24")
        #expect(frames.dropFirst(2).first?.hasPrefix("functions/main.js:2:") == true)
        #expect(!frames.contains { $0.contains("tidegate") })
    }

    @Test("keeps the codes of a host call's error, and shows them to the script")
    func hostErrors() async {
        let error = HostError(
            "E11000 duplicate key",
            name: "MongoError",
            code: 11000,
            errorCode: "MongoDBError"
        )
        let host = RecordingHost { _ in .failure(error) }
        let call = "context.services.get('mongodb-atlas').db('d').collection('c').insertOne({})"
        let outcome = await ScriptFixture.run("exports = async () => {\n  await \(call);\n}", host: host)
        guard case .failure(let failure) = outcome.result else {
            Issue.record("\(outcome.result)")
            return
        }
        #expect(failure.message == "E11000 duplicate key")
        #expect(failure.hostError == error)
        #expect(failure.stack?.hasPrefix("functions/test.js:2:") == true)
        let caught = """
            exports = async () => {
              try { await \(call) } catch (e) { return [e instanceof Error, e.name, e.message, e.code, e.errorCode] }
            }
            """
        #expect(
            await ScriptFixture.text(caught, host: host)
                == #"[true,"MongoError","E11000 duplicate key",{"$numberInt":"11000"},"MongoDBError"]"#
        )
    }

    @Test("is of syntax when the source does not parse, and names the place")
    func syntax() async {
        let outcome = await ScriptFixture.run("exports = () => {\n  let a = ;\n}")
        #expect(
            outcome.result
                == .failure(
                    ScriptFailure(
                        .syntax,
                        "SyntaxError: Unexpected token ';'",
                        stack: "functions/test.js:2:11"
                    )
                )
        )
    }

    @Test(
        "is found without running when a source is checked",
        arguments: [
            ("exports = () => 1", nil, 0, 0),
            ("exports = () => {\n  let a = ;\n}", "SyntaxError: Unexpected token ';'", 2, 11),
            ("exports = () => {\r\n  let a = 1 }\r\n}", "SyntaxError: Parser error", 3, 1),
            (
                "exports = () => { const größe = 1; größe größer }",
                "SyntaxError: Unexpected identifier 'größer'", 1, 42
            ),
            (
                "exports = () => { return 'a' 'bc'; }",
                "SyntaxError: Unexpected string literal 'bc'. Expected a ';' following a return statement.",
                1, 30
            ),
            ("exports = () => { a = 1 b = 2 }", "SyntaxError: Unexpected identifier 'b'", 1, 25),
            (
                "exports = () => [1, 2) + '" + String(repeating: "x", count: 5000) + "'",
                "SyntaxError: Unexpected token ')'. Expected either a closing ']' or a ',' following an array element.",
                1, 22
            ),
            ("exports = () => {\n  return 2;\n", "SyntaxError: Unexpected end of script", 3, 1),
            ("exports = () => 'abc\n", "SyntaxError: Unexpected EOF", 1, 21),
            (
                "exports = () => { let a; let a; }", "SyntaxError: Cannot declare a let variable twice: 'a'.",
                1, 30
            ),
            ("exports = (a, b => 1", "SyntaxError: Unexpected end of script", 1, 21),
            (
                "exports = () => { if (a { } }",
                "SyntaxError: Unexpected token '{'. Expected ')' to end an 'if' condition.", 1, 25
            ),
            (
                "\nimport x from 'y'",
                "SyntaxError: import is not supported: use require, and assign the function to `exports`", 2,
                8
            ),
            (
                "export default () => 1",
                "SyntaxError: export is not supported: use require, and assign the function to `exports`", 1,
                1
            ),
            ("throw new Error('never run')", nil, 0, 0),
        ] as [(String, String?, Int, Int)]
    )
    func check(source: String, message: String?, line: Int, column: Int) async {
        let fault = await ScriptFixture.shared.check(source, file: "functions/f.js")
        #expect(fault?.message == message)
        if message != nil {
            #expect(fault?.line == line)
            #expect(fault?.column == column)
            #expect(fault?.file == "functions/f.js")
        }
    }
}
