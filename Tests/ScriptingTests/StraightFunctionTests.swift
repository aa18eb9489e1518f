import BSON
import Foundation
import TestSupport
import Testing

@testable import Scripting

/// Functions that need no engine: what is read as one, and that it comes to what the engine makes of it.
@Suite("A function that needs no engine")
struct StraightFunctionTests {
    private static let tasks = "context.services.get('mongodb-atlas').db('d').collection('c')"

    @Test(
        "is read",
        arguments: [
            "exports = () => 1",
            "exports = async function sendMessage(req, res) {\n  return { ok: 1 };\n};",
            "/* none */ exports = ({ token, tokenId, username, password }) => {\n  // no\n  return { status: 'fail' };\n};",
            "exports = x => x\n",
            "exports = async (x) => await \(tasks).findOne({ x })",
            "exports = (a, b,) => { if (!a) return null\n  else if (a === b) { return [a, b,] }\n  return { a, 'b c': b, } }",
            "exports = function () { var a = 1, b = -2.5; return a && b || (a ?? b) }",
            "exports = (a) => a == null ? { b: `x${a}y${`z${1}`}` } : a?.b[0]['c']",
            "exports = ({ query: q, headers }) => { const { id } = q; return id !== undefined }",
            """
            exports = async function() {
              const cluster = context.services.get("mongodb-atlas");
              const collection = cluster.db("tracker").collection("User");
              const caller = context.user;
              const projectPartition = `project=${caller.id}`;
              const filter = {
                $or: [
                  {"canReadPartitions": projectPartition}, // has my project id as a readable partition or
                  {"canWritePartitions": projectPartition}, // has my project id as a writeable partition
                ], // and...
                _id: {$ne: caller.id} // ...is not me
              };
              const projection = {
                _id: 1,
                name: 1
              };
              return await collection.find(filter, projection)
                .sort({_id: 1})
                .toArray();
            };
            """,
        ]
    )
    func read(source: String) { #expect(StraightParser.read(source) != nil) }

    @Test(
        "is not what the engine may read in another way",
        arguments: [
            "", "exports", "exports = 1", "exports = () =>", "exports = () => 1; exports = () => 2",
            "const one = 1; exports = () => one", "exports == () => 1", "export = () => 1",
            "exports = function* () { return 1 }", "exports = async () => { await 1; return 2 }",
            "exports = () => await 1", "exports = (a, a) => a", "exports = (a) => { const a = 1; return a }",
            "exports = () => { const a = a; return a }", "exports = () => { return a; const a = 1 }",
            "exports = () => { if (1) { var a = 1 } return a }", "exports = () => { a = 1; return a }",
            "exports = (a = 1) => a", "exports = (...a) => a", "exports = ({ a = 1 }) => a",
            "exports = ([a]) => a",
            "exports = ({ a: { b } }) => b", "exports = (a) => [...a]", "exports = (a) => ({ ...a })",
            "exports = () => ({ a() { return 1 } })", "exports = () => ({ get a() { return 1 } })",
            "exports = (a) => ({ [a]: 1 })", "exports = () => ({ __proto__: null })",
            "exports = () => ({ 1: 1 })",
            "exports = () => ({ '1': 1 })", "exports = () => ({ a: 1, a: 2 })", "exports = () => [, 1]",
            "exports = () => 010", "exports = () => 1e3", "exports = () => 0x10", "exports = () => 1n",
            "exports = () => 1_0", "exports = () => .5", "exports = () => 1.", "exports = () => 1..a",
            "exports = () => -1 .a", "exports = (a) => -a", "exports = (a) => +a", "exports = (a) => a + 1",
            "exports = (a) => a - 1", "exports = (a) => a < 1", "exports = (a) => typeof a",
            "exports = (a) => a, 1",
            "exports = (a) => a ?? a || a", "exports = (a) => a || a ?? a", "exports = (a) => a && a ?? a",
            "exports = (a) => a = = a", "exports = (a) => a == = a", "exports = (a) => a ==== a",
            "exports = (a) => a => a", "exports = (a) => a()", "exports = (a) => a.b()()",
            "exports = (a) => a?.[0]",
            "exports = (a) => a?.()", "exports = (a) => a`b`", "exports = (a) => /a/",
            "exports = (a) => a\n`b`",
            "exports = (a) => { return a\n[0] (1) }", "exports = (a) => { return a\n- 1 }",
            "exports = (a) => { return a\nin a }", "exports = (a) => { return a\nof\n}",
            "exports = (a) => { return 1 2 }",
            "exports = (a) => { return\n= a }", "exports = async\n(a) => a", "exports = (a)\n=> a",
            "exports = a\n=> a",
            "exports = (a) => { if (a) const b = 1; return a }",
            "exports = (a) => { if (a) return 1 else return 2 }",
            "exports = (a) => { { return a } }", "exports = (a) => { 'use strict'; return a }",
            "exports = (a) => { for (;;) return a }", "exports = (a) => { throw a }",
            "exports = (a) => { let b; return b }",
            "exports = () => context.functions.execute", "exports = () => this", "exports = () => arguments",
            "exports = (context) => context", "exports = (undefined) => undefined",
            "exports = () => { const BSON = 1 }",
            "exports = function context() { return context }", "exports = function f() { return f }",
            "exports = function f(f) { return f }", "exports = () => new Date", "exports = () => new Date(1)",
            "exports = () => Date()", "exports = () => new BSON.ObjectId", "exports = () => BSON.Long(1)",
            "exports = () => BSON", "exports = () => '\\u0041'", "exports = () => '\\x41'",
            "exports = () => `\\0`",
            "exports = () => 'a", "exports = () => `${1`", "exports = () => (1, 2)", "exports = () => ()",
            "exports = () => { return 1", "exports = () => 1 }", "exports = (é) => é",
            "exports = () => " + String(repeating: "(", count: 40) + "1" + String(repeating: ")", count: 40),
        ]
    )
    func notRead(source: String) {
        // Some are read, and left to the engine when they run: what counts is that none is run here.
        guard let function = StraightParser.read(source) else { return }
        let bundle = ScriptFixture.bundle(["test": source])
        #expect(
            StraightRun.end(of: function, named: "test", ScriptFixture.call(.named("test"), [1]), of: bundle)
                == nil
        )
    }

    // MARK: Beside the engine

    /// What a run came to, but for the frames below the first and what only one of them has: a context.
    private struct Seen: Equatable, CustomStringConvertible {
        var value: String?
        var failure: String?
        let response: ScriptOutcome.Response?
        let messages: [String]
        let asked: [String]
        let ends: Int

        init(
            _ pool: ScriptPool,
            _ source: String,
            _ arguments: [BSONValue],
            _ form: ScriptCall.Form,
            _ answer: Result<BSONValue, HostError>
        ) async {
            let host = RecordingHost.answering(answer)
            let request: BSONDocument = ["httpMethod": "GET", "remoteIPAddress": "192.0.2.1"]
            let call = ScriptFixture.call(
                .named("test"),
                arguments,
                form: form,
                request: request
            )
            let outcome = await pool.run(call, of: ScriptFixture.bundle(["test": source]), host: host)
            switch outcome.result {
            case .success(let result): value = ExtendedJSON.canonical(["": result] as BSONValue)
            case .failure(let error):
                let frame = error.stack?.split(separator: "\n").first ?? ""
                failure =
                    "\(error.reason) \(error.message) at \(frame) \(String(describing: error.hostError))"
            }
            response = outcome.response
            messages = outcome.messages
            asked = host.log
            ends = host.ends
        }

        var description: String {
            "\(value ?? failure ?? "") \(String(describing: response)) \(asked) \(ends)"
        }
    }

    /// Nothing but functions that need no engine runs in it: there is no program for the others.
    private static func straight() -> ScriptPool {
        ScriptPool(command: ["/nowhere/tidegate", "function-worker"])
    }

    private static let answers: [Result<BSONValue, HostError>] = [
        .success(["_id": 1, "n": 5.0, "long": .int64(7), "list": [1.5, .null, ["a": .date(3)]]]),
        .success([["_id": 1], ["_id": 2, "text": "é\u{0}😀"]]), .success(.null), .success(3),
        .failure(HostError("no such rule", errorCode: "NoMatchingRuleFound")),
        .failure(HostError("E11000", name: "MongoError", code: 11000, errorCode: "DuplicateKey")),
    ]

    private static let id = "65a1b2c3d4e5f60718293a4b"

    /// Each with `x`, a document, and `y`, a text.
    private static let bodies = [
        "(x, y) => ({ x, y, n: x.n, none: x.list[2].a === null, s: `${y}-${x.n}`, l: x.list.length })",
        "async ({ n, list, name: z }, y) => { if (n === 5 && !z) { return list[1] } else return y }",
        "(x) => x", "() => undefined", "() => {}", "() => null", "() => ({})", "() => []", "(a, b, c) => c",
        "() => [1, -1, 0, -0, 1.5, 2147483648, 9007199254740993, 'é\\n\\'\\\\']",
        "(x) => [x?.a?.b, x.none ?? 1, x.none?.a.b, x.n || 2, x.n && 3, !x, !!x.none, x.long ? 1 : 2]",
        "(x, y) => [x === y, y === y, x !== null, x.none == null, y != null, x.n == 5, x.long === 7, x.id === y]",
        "(x) => ({ id: x.id, text: x.id.toString(), hex: x.id.toHexString(), s: `${x.id}` })",
        "() => ({ id: new BSON.ObjectId('\(id)'), other: BSON.ObjectID('\(id.uppercased())') })",
        "() => [context.user.id, context.user.data.email, context.values.get('limit'), context.values.get('none')]",
        "() => ({ e: context.environment, a: context.app.name, s: context.runningAsSystem(), r: context.request })",
        "async (x, y) => { const c = \(tasks); return await c.findOne({ _id: y, n: { $gt: x.n } }, { n: 1 }) }",
        "async () => {\n  const c = \(tasks)\n  const found = await c\n    .findOne( { a: 1 } )\n  return found\n}",
        "async function name(x, y) {\n\tconst db = context.services.get('mongodb-atlas').db('e'.toString())\n return 1 }",
        "() => \(tasks).find()", "() => \(tasks).find({}).toArray()", "() => \(tasks).find(null, null)",
        "async () => await \(tasks).find({ a: 1 }, { b: 1 }).sort({ a: -1 }).skip(1).limit(2).toArray()",
        "() => \(tasks).find({ a: 1 }, undefined, { sort: { b: 1 }, limit: 2, skip: 0, projection: { c: 1 } })",
        "() => { const r = \(tasks).find(); const s = r.limit(5); return r }",
        "() => { const r = \(tasks).find(); const s = r.limit(5); const t = r.limit(6).sort({}); return s.toArray() }",
        "() => \(tasks).aggregate([{ $match: { a: 1 } }, { $limit: 2 }], { allowDiskUse: true }).skip(3)",
        "(x) => \(tasks).insertOne({ x, at: new BSON.ObjectId('\(id)') })",
        "(x) => \(tasks).insertMany([x, { a: 1 }])",
        "(x) => \(tasks).insertMany([x], { ordered: false, bypassDocumentValidation: true })",
        "(x, y) => \(tasks).updateOne({ y }, { $set: { x }, $inc: { n: 1 } }, { upsert: true })",
        "(x, y) => \(tasks).updateMany({}, [{ $set: { y } }], { arrayFilters: [{ a: 1 }], upsert: null, limit: 5 })",
        "(x) => \(tasks).replaceOne({ _id: 1 }, x)", "(x) => \(tasks).deleteOne(x)",
        "() => \(tasks).deleteMany()",
        "(x) => \(tasks).findOneAndUpdate({ a: 1 }, { $set: { x } }, { returnNewDocument: true, sort: { a: 1 } })",
        "(x) => \(tasks).findOneAndReplace(null, x, { upsert: true, projection: { a: 1 }, maxTimeMS: 5 })",
        "(x) => \(tasks).findOneAndDelete({ a: x.n }, { sort: { a: 1 }, collation: { locale: 'fr' }, hint: 'a' })",
        "() => \(tasks).distinct('a', { b: 1 })", "() => \(tasks).findOne(5)",
        "() => \(tasks).findOne([], {}, {})",
        "() => { const c = \(tasks); const found = c.findOne(); return found }",
    ]

    @Test("comes to what the engine makes of it", arguments: bodies)
    func equivalence(body: String) async throws {
        let source = "exports = " + body
        let pool = Self.straight()
        let object: BSONValue = [
            "n": 5, "list": [1, ["a": .null], ["a": .null]], "long": .int64(7),
            "id": .objectID(try #require(ObjectID(hex: Self.id))), "d": .double(0.5),
        ]
        for answer in Self.answers {
            for form in [ScriptCall.Form.plain, .endpoint] {
                let arguments = [object, "text"]
                let seen = await Seen(pool, source, arguments, form, answer)
                let expected = await Seen(ScriptFixture.shared, source, arguments, form, answer)
                // Of an endpoint the second argument is the response, which is the engine's.
                if form == .endpoint, body.contains("y)"), seen.failure?.hasPrefix("busy") ?? false {
                    continue
                }
                #expect(seen == expected, "\(answer)")
            }
        }
        await pool.shutdown()
    }

    /// Random functions of what there is, most of them of a kind that nobody would write.
    private struct Writer {
        var random: SeededRandom
        private var names: [String] = []

        init(seed: UInt64) { random = SeededRandom(seed: seed) }

        private mutating func one(_ of: [String]) -> String { of[random.below(of.count)] }

        private mutating func expression(_ depth: Int) -> String {
            if depth == 0 || random.oneIn(4) {
                return one(
                    names + names + [
                        "0", "1", "-1", "1.5", "2147483648", "'a'", "''", "'é'", "true", "false", "null",
                        "undefined",
                        "context.user.id", "context.user", "context.values.get('limit')", "context.request",
                        "context.environment.values", "[]", "({})",
                    ]
                )
            }
            let (a, b) = (expression(depth - 1), expression(depth - 1))
            switch random.below(18) {
            case 0: return "\(one(["x", "x", a])).\(one(["a", "b", "_id", "list"]))"
            case 1: return "\(one(names))?.\(one(["a", "b", "length", "value", "toString"]))"
            case 2: return "\(one(names))[\(one(["'a'", "'b'", "0", b]))]"
            case 3: return "[\(a), \(b)]"
            case 4: return "({ a: \(a), b: \(b) })"
            case 5: return "!(\(a))"
            case 6: return "(\(a)) \(one(["===", "!==", "==", "!="])) (\(b))"
            case 7: return "(\(a)) && (\(b))"
            case 8: return "(\(a)) || (\(b))"
            case 9: return "(\(a)) ?? (\(b))"
            case 10: return "(\(a)) ? \(b) : \(expression(depth - 1))"
            case 11: return "`<${\(a)}>`"
            case 12: return "(\(a)).toString()"
            case 13: return random.oneIn(8) ? "({ ...\(a) })" : "[\(a)]"
            case 14: return "x.\(one(["a", "b", "length", "_id", "$x", "constructor"]))"
            case 15: return data(depth - 1)
            case 16: return "(\(a)) == null"
            default: return "({ a: \(a) }).a"
            }
        }

        private mutating func data(_ depth: Int) -> String {
            let query = expression(depth)
            let call = one([
                "find(#)", "findOne(#)", "findOne(#, #)", "find(#).sort(#)", "find(#).limit(#).toArray()",
                "aggregate(#)",
                "insertOne(#)", "insertMany(#)", "updateOne(#, #)", "updateOne(#, { $set: # })",
                "deleteOne(#, #)",
                "replaceOne(#, #)", "count(#)", "distinct(#)", "findOneAndUpdate(#, { $set: # }, #)",
                "insertOne({ a: # })",
                "find({ a: # }, null, { limit: 1 })",
            ])
            return "\(one(["c", "c", tasks])).\(call.replacing("#", with: query))"
        }

        mutating func function() -> String {
            names = ["x", "y", "c"]
            var body = "const c = \(tasks);"
            for number in 0..<random.below(4) {
                switch random.below(6) {
                case 0: body += " if (\(expression(1))) return \(expression(2));"
                case 1:
                    body += " const { a: m\(number) } = \(expression(2));"
                    names.append("m\(number)")
                default:
                    body += " const v\(number) = \(one(["", "", "await "]))\(expression(2));"
                    names.append("v\(number)")
                }
            }
            body +=
                one([" ", "\n"]) + "return \(one(["", "await "]))\(random.oneIn(2) ? data(1) : expression(3))"
            return "exports = async (x, y) => { \(body) }"
        }
    }

    @Test("comes to the same in functions of all kinds", arguments: [UInt64(1), 2, 3])
    func randomEquivalence(seed: UInt64) async {
        var writer = Writer(seed: seed)
        let pool = Self.straight()
        var told = 0
        for _ in 0..<1500 {
            let source = writer.function()
            var object = BSONDocument()
            for name in ["a", "b", "_id", "length", "list"] where !writer.random.oneIn(3) {
                object.append(name, LastCallTests.value(&writer.random, depth: 1))
            }
            let arguments = [.document(object), LastCallTests.value(&writer.random, depth: 1)]
            let answer = Self.answers[writer.random.below(Self.answers.count)]
            guard await Self.compare(source, arguments, answer, pool) else { continue }
            told += 1
        }
        #expect(told > 150)
        await pool.shutdown()
    }

    /// Whether a function needs no engine; then both are to make the same of it.
    private static func compare(
        _ source: String,
        _ arguments: [BSONValue],
        _ answer: Result<BSONValue, HostError>,
        _ pool: ScriptPool
    ) async -> Bool {
        guard let function = StraightParser.read(source) else { return false }
        let bundle = ScriptFixture.bundle(["test": source])
        let request: BSONDocument = ["httpMethod": "GET", "remoteIPAddress": "192.0.2.1"]
        let call = ScriptFixture.call(.named("test"), arguments, request: request)
        guard StraightRun.end(of: function, named: "test", call, of: bundle) != nil else { return false }
        let seen = await Seen(pool, source, arguments, .plain, answer)
        let expected = await Seen(ScriptFixture.shared, source, arguments, .plain, answer)
        #expect(seen == expected, "\(source) \(arguments)")
        return true
    }

    @Test("is read as the engine reads it, however a source is spelt", arguments: [UInt64(1), 2, 3])
    func mutations(seed: UInt64) async {
        var random = SeededRandom(seed: seed)
        let pool = Self.straight()
        let words = [
            "exports", "=", "(", ")", "{", "}", "[", "]", ",", ";", ".", "?.", "?", ":", "=>", "!", "-", "==",
            "===",
            "&&", "||", "??", "async ", "await ", "function ", "return ", "const ", "let ", "if ", "else ",
            "x", "y", "c",
            "context", "'a'", "1", "`", "${", "\n", " ", "new ", "BSON", "null", "undefined", "/", "+", "a",
            "//", "/*",
        ]
        var told = 0
        for _ in 0..<3000 {
            let body = Self.bodies[random.below(Self.bodies.count)]
            var pieces = Self.pieces("exports = " + body)
            for _ in 0...random.below(2) {
                let place = random.below(pieces.count)
                switch random.below(4) {
                case 0: pieces.remove(at: place)
                case 1: pieces.insert(words[random.below(words.count)], at: place)
                case 2: pieces[place] = words[random.below(words.count)]
                default: pieces.swapAt(place, random.below(pieces.count))
                }
                if pieces.isEmpty { break }
            }
            let arguments: [BSONValue] = [["n": 5, "list": [1, 2, ["a": 1]], "a": "x"], "text"]
            if await Self.compare(pieces.joined(), arguments, .success(["a": 1]), pool) { told += 1 }
        }
        #expect(told > 200)
        await pool.shutdown()
    }

    /// Words, numbers and single characters.
    private static func pieces(_ source: String) -> [String] {
        var pieces: [String] = []
        for character in source {
            if let last = pieces.last?.last, last.isLetter || last.isNumber,
                character.isLetter || character.isNumber
            {
                pieces[pieces.count - 1].append(character)
            } else {
                pieces.append(String(character))
            }
        }
        return pieces
    }

    // MARK: Bounds

    @Test("has the engine where an object would grow beyond what it is made of")
    func growth() throws {
        let doubling = (0..<30).map { "const a\($0 + 1) = [a\($0), a\($0)];" }.joined(separator: " ")
        let source = "exports = (a0) => { \(doubling) return a30 }"
        let function = try #require(StraightParser.read(source))
        let bundle = ScriptFixture.bundle(["test": source])
        let call = ScriptFixture.call(.named("test"), ["text"])
        #expect(StraightRun.end(of: function, named: "test", call, of: bundle) == nil)
    }

    @Test("asks once, whatever the answer")
    func asksOnce() async {
        let pool = Self.straight()
        let host = RecordingHost { _ in .failure(HostError("refused")) }
        let source = "exports = async (x) => {\n  return await \(Self.tasks).insertOne(x)\n}"
        let bundle = ScriptFixture.bundle(["test": source])
        let outcome = await pool.run(ScriptFixture.call(.named("test"), [["a": 1]]), of: bundle, host: host)
        guard case .failure(let failure) = outcome.result else {
            Issue.record("\(outcome)")
            return
        }
        #expect(failure.message == "refused")
        #expect(failure.stack == "functions/test.js:2:87")
        #expect(host.calls.count == 1)
        #expect(host.ends == 1)
        await pool.shutdown()
    }

    @Test("ends in time, or with the words for that")
    func late() async {
        let pool = Self.straight()
        let bundle = ScriptFixture.bundle(["test": "exports = () => \(Self.tasks).findOne()"])
        let host = RecordingHost { _ in
            try? await Task.sleep(for: .milliseconds(300))
            return .success(.null)
        }
        let call = ScriptFixture.call(.named("test"), within: .milliseconds(200))
        #expect(ScriptFixture.reason(await pool.run(call, of: bundle, host: host)) == .time)
        let past = ScriptFixture.call(.named("test"), within: .milliseconds(-1))
        #expect(ScriptFixture.reason(await pool.run(past, of: bundle, host: host)) == .time)
        #expect(host.calls.count == 1)
        await pool.shutdown()
    }
}
