import BSON
import Scripting
import Testing

/// A call, from its arguments to its result.
@Suite("A run")
struct RunTests {
    @Test(
        "takes the forms of source that functions have",
        arguments: [
            ("exports = function (a, b) { return a + b }", #"{"$numberInt":"5"}"#),
            ("exports = async function sum(...n) { return n[0] + n[1] }", #"{"$numberInt":"5"}"#),
            ("exports = (a, b) => a + b", #"{"$numberInt":"5"}"#),
            ("exports = async (a, b) => a + b; // sum", #"{"$numberInt":"5"}"#),
            (
                "function f(a, b) { return g(a, b) }\nexports = f;\nfunction g(a, b) { return a + b }",
                #"{"$numberInt":"5"}"#
            ),
            ("exports = (a, b) => Promise.resolve(a + b)", #"{"$numberInt":"5"}"#),
            (
                "module.exports = (a, b) => a + b",
                "!TypeError: module.exports is not supported: assign the function to `exports`"
            ),
            ("const f = 1", "!TypeError: function 'test' must assign a function to `exports`"),
        ]
    )
    func sourceForms(source: String, answer: String) async {
        #expect(await ScriptFixture.text(source, 2, 3) == answer)
    }

    @Test(
        "writes results as canonical Extended JSON",
        arguments: [
            (
                "({pi: 3.14159, today: new Date(1652297239913)})",
                #"{"pi":{"$numberDouble":"3.14159"},"today":{"$date":{"$numberLong":"1652297239913"}}}"#
            ),
            ("900", #"{"$numberInt":"900"}"#),
            ("2147483648", #"{"$numberLong":"2147483648"}"#),
            ("2 ** 53", #"{"$numberDouble":"9007199254740992.0"}"#),
            ("-0", #"{"$numberDouble":"-0.0"}"#),
            ("NaN", #"{"$numberDouble":"NaN"}"#),
            ("undefined", #"{"$undefined":true}"#),
            ("null", "null"),
            ("JSON.stringify({a: 1})", #""{\"a\":1}""#),
            ("[1, 'a', true, null, {}]", #"[{"$numberInt":"1"},"a",true,null,{}]"#),
            ("({a: undefined, f() {}})", #"{"a":{"$undefined":true}}"#),
            ("10n", #"{"$numberLong":"10"}"#),
            ("BSON.ObjectId('5cbf68583025b12840664682')", #"{"$oid":"5cbf68583025b12840664682"}"#),
            ("new BSON.Long(5, 1)", #"{"$numberLong":"4294967301"}"#),
            ("BSON.Decimal128.fromString('1.50')", #"{"$numberDecimal":"1.50"}"#),
            ("BSON.Binary.fromText('hé')", #"{"$binary":{"base64":"aMOp","subType":"00"}}"#),
            (
                "new BSON.UUID('3b241101-e2bb-4255-8caf-4136c566a962')",
                #"{"$binary":{"base64":"OyQRAeK7QlWMr0E2xWapYg==","subType":"04"}}"#
            ),
            ("/ab+c/gi", #"{"$regularExpression":{"pattern":"ab+c","options":"i"}}"#),
            ("[BSON.MinKey, BSON.MaxKey]", #"[{"$minKey":1},{"$maxKey":1}]"#),
            ("BSON.Int32(3)", #"{"$numberInt":"3"}"#),
            ("BSON.Double(3)", #"{"$numberDouble":"3.0"}"#),
            ("new Uint8Array([1, 2])", #"{"$binary":{"base64":"AQI=","subType":"00"}}"#),
            ("'a\\u0000b\\ud83d\\ude00'", "\"a\\u0000b😀\""),
        ]
    )
    func results(expression: String, answer: String) async {
        #expect(await ScriptFixture.text("exports = () => \(expression)") == answer)
    }

    @Test("hands arguments over as what they are")
    func arguments() async throws {
        let value = try ExtendedJSON.document(
            #"""
            {"_id":{"$oid":"5cbf68583025b12840664682"},"at":{"$date":{"$numberLong":"5"}},
             "n":{"$numberLong":"9007199254740993"},"d":{"$numberDecimal":"1.10"},
             "b":{"$binary":{"base64":"AQI=","subType":"00"}},"inner":[{"x":{"$numberInt":"1"}},{"y":{"$oid":"5cbf68583025b12840664683"}}],
             "r":{"$regularExpression":{"pattern":"a","options":"i"}},"t":{"$timestamp":{"t":1,"i":2}},
             "min":{"$minKey":1},"nan":{"$numberDouble":"NaN"},"u":{"$undefined":true},"z":null,"s":"q\"\\\u0001",
             "__proto__":{"$numberInt":"1"}}
            """#
        )
        let source = """
            exports = (v) => {
              const kinds = [v._id instanceof BSON.ObjectId, v.at instanceof Date, v.n instanceof BSON.Long,
                v.d instanceof BSON.Decimal128, v.b instanceof BSON.Binary, v.inner[1].y.toString(), v.r instanceof RegExp,
                v.nan !== v.nan, 'u' in v, v.u === undefined, v.s.length];
              return [v, kinds];
            }
            """
        let outcome = await ScriptFixture.run(source, .document(value))
        let parts = try outcome.result.get().array
        #expect(parts?.first == .document(value))
        #expect(
            parts?.last == [
                true, true, true, true, true, "5cbf68583025b12840664683", true, true, true, true, .int32(4),
            ]
        )
    }

    @Test("shows the context")
    func context() async {
        let source = """
            exports = async () => [context.app.name, context.environment.tag, context.environment.values.url,
              context.values.get('limit'), context.values.get('none') === undefined, context.values.get('toString') === undefined,
              context.user.data.email, context.runningAsSystem(), context.services.get('other') === undefined,
              context.request === undefined, typeof context.http.get]
            """
        #expect(
            await ScriptFixture.text(source)
                == #"["test","testing","https://example.com",{"$numberInt":"7"},true,true,"a@example.com",false,true,true,"function"]"#
        )
    }

    @Test("calls other functions, with functions as arguments, in the same run")
    func execute() async {
        let bundle = ScriptFixture.bundle([
            "main": """
            exports = async (n) => {
              const twice = await context.functions.execute('utils/twice', (x) => x + n);
              return [twice, context.functions.execute('plain'), typeof local];
            }
            """,
            "utils/twice": "const local = 1; exports = async (f) => f(f(1))",
            "plain": "const local = 2; exports = () => local",
        ])
        let outcome = await ScriptFixture.shared.run(
            ScriptFixture.call(.named("main"), [5]),
            of: bundle,
            host: RecordingHost()
        )
        #expect(ScriptFixture.text(outcome) == #"[{"$numberInt":"11"},{"$numberInt":"2"},"undefined"]"#)
    }

    @Test("bounds how deep functions call each other")
    func depth() async {
        let source = "exports = async (n) => n === 0 ? 0 : 1 + await context.functions.execute('test', n - 1)"
        #expect(await ScriptFixture.text(source, 63) == #"{"$numberInt":"63"}"#)
        #expect(await ScriptFixture.text(source, 70) == "!functions call each other more than 64 levels deep")
    }

    @Test("keeps the last lines of the console, and the beginning of each")
    func console() async {
        let source = """
            exports = () => {
              for (let i = 0; i < 30; i++) console.log('line', i, {a: i, at: new Date(0)});
              console.error('x'.repeat(600), [1, 'b'], null, undefined, new Error('bad'));
            }
            """
        let outcome = await ScriptFixture.run(source)
        #expect(outcome.messages.count == 25)
        #expect(outcome.messages.first == #"line 6 {"a":6,"at":{"$date":"1970-01-01T00:00:00Z"}}"#)
        #expect(outcome.messages.last == String(repeating: "x", count: 512))
    }

    @Test("finds out when a function is missing, and tells its host that the run is over")
    func missing() async {
        let host = RecordingHost()
        let outcome = await ScriptFixture.shared.run(
            ScriptFixture.call(.named("none")),
            of: ScriptFixture.bundle(["other": "exports = () => 1"]),
            host: host
        )
        #expect(outcome.result == .failure(ScriptFailure(.notFound, "function not found: 'none'")))
        #expect(host.ends == 1)
    }

    @Test("runs a source that has no name")
    func unnamed() async {
        for number in 1...3 {
            let outcome = await ScriptFixture.shared.run(
                ScriptFixture.call(.source("exports = (a) => a * \(number)"), [2]),
                of: ScriptFixture.bundle([:]),
                host: RecordingHost()
            )
            #expect(ScriptFixture.text(outcome) == "{\"$numberInt\":\"\(2 * number)\"}")
        }
    }
}
