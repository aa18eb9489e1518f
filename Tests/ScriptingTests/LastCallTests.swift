import BSON
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Scripting

/// Runs that are over with the answer to a host call: the gateway ends them, and the worker serves others meanwhile.
@Suite("A call whose answer a function returns")
struct LastCallTests {
    private static let tasks = "const c = context.services.get('mongodb-atlas').db('d').collection('c');"

    @Test(
        "is seen where nothing runs after it",
        arguments: [
            "exports = () => c.findOne({ _id: 1 })",
            "exports = async () => c.findOne({ _id: 1 })",
            "exports = async () => await c.findOne({ _id: 1 });",
            "exports = async function (id) { return await c.find({ id }).sort({ n: -1 }).toArray(); }",
            "exports = async (id) => {\n  if (!id) return null\n  return await c.findOne({ id })\n}",
            "exports = async (id) => { const found = await c.findOne({ id }); return found; }",
            "exports = async (id) => {\n  const found = await c.findOne({ id })\n  return found\n}",
            "exports = (list) => list.map(async (id) => await c.findOne({ id }))",
            "exports = async () => { const find = async () => await c.findOne(); return find() }",
            "exports = async () => { console.log(1); return await c.updateOne({}, { $set: { a: 1 } }) }",
            "exports = async (a) => { return await c.insertOne(a[0]) }",
            "exports = async () => { return await c.findOne()\n  function other() { return 1 } }",
        ]
    )
    func seen(source: String) { #expect(SourceEnding.isAnswer(in: source)) }

    @Test(
        "is not seen where something may",
        arguments: [
            "exports = () => c.findOne().then((found) => found.name)",
            "exports = async () => (await c.findOne()).name",
            "exports = async () => { const found = await c.findOne(); return found.name }",
            "exports = async () => { const found = await c.findOne(); return\nfound }",
            "exports = async () => { const found = await c.findOne(); console.log(found); return found }",
            "exports = async () => { const { name } = await c.findOne(); return name }",
            "exports = async () => { let found; found = await c.findOne(); return found }",
            "exports = async () => { const a = await c.findOne(), b = 1; return a }",
            "exports = async () => { await c.insertOne({}) }",
            "exports = async () => { return await c.findOne() || 1 }",
            "exports = async () => { return await c.findOne()\n  || 1 }",
            "exports = async () => { return await c.findOne(), 1 }",
            "exports = async () => { return await c.findOne() ? 1 : 2 }",
            "exports = async () => { return await c.findOne() in {} }",
            "exports = async () => { return await c.count() + 1 }",
            "exports = async () => { return await c.findOne()\n  in {} }",
            "exports = async () => { return await c.findOne() === null }",
            "exports = async () => { return await c.count()\n  - 1 }",
            "exports = async () => { return !await c.findOne() }",
            "exports = async () => { return [await c.findOne()] }",
            "exports = async () => { return\nawait c.findOne() }",
            "exports = async () => `${await c.findOne()}`",
            "exports = async () => { try { return await c.findOne() } finally { console.log(1) } }",
            "exports = async () => { try { return await c.findOne() } catch { return 1 } }",
            "exports = () => Promise.all([c.findOne()])",
            "exports = () => ({ then(done) { c.findOne(); done(1) } })",
            "exports = () => ({ 'then': (done) => done(1) })",
            "exports = () => ({ ['th' + 'en'](done) { done(1) } })",
            "exports = () => { const o = {}; o['th' + 'en'] = (done) => done(1); return o }",
            "exports = () => { const o = {}; o['th' + 'en'] ??= (done) => done(1); return o }",
            "exports = async () => { for await (const found of c.find()) return found }",
            "exports = function* () { yield c.findOne() }",
        ]
    )
    func unseen(source: String) { #expect(!SourceEnding.isAnswer(in: source)) }

    /// Functions that end with a call, and some that look as if.
    private static let bodies = [
        "() => { \(tasks) return c.findOne({ _id: 1 }) }",
        "async (x) => { \(tasks)\n  console.log('before', x);\n  return await c.findOne({ _id: x }, { n: 1 });\n}",
        "async () => { \(tasks) const found = await c.findOneAndUpdate({}, { $set: { a: 1 } }); return found }",
        "async (x) => { \(tasks) return c.insertOne({ x, at: new Date(5) }) }",
        "async () => { \(tasks) return await c.find({ a: 1 }).limit(2).toArray() }",
        "() => { \(tasks) return c.find({ a: 1 }) }",
        "() => { \(tasks) return c.aggregate([{ $match: {} }]) }",
        "() => { \(tasks) return context.services.get('mongodb-atlas').db('d').aggregate([]) }",
        "() => { \(tasks) return c.distinct('a') }",
        // More than the answer, or not the answer.
        "() => { \(tasks) return c.count() }",
        "() => { \(tasks) const p = c.findOne(); c.deleteOne({}); return p }",
        "() => { \(tasks) c.insertOne({ a: 1 }); return 5 }",
        "() => { \(tasks) c.insertOne({ a: 1 }); throw new Error('after') }",
        "() => { \(tasks) return [c.findOne()] }",
        "() => { \(tasks) const found = c.find(); found.toArray(); return found.next() }",
        "() => { \(tasks) const found = c.find(); found.next(); return found.toArray() }",
        "() => { \(tasks) const found = c.find(); found.toArray(); return found.hasNext() }",
        "() => { \(tasks) return c.find().forEach((found) => console.log(found)) }",
        "() => { \(tasks) return c.find().forEach((found) => c.insertOne({ n: 1 })) }",
        "() => { \(tasks) setTimeout(() => c.insertOne({ n: 1 }), 0); return 5 }",
        "() => { \(tasks) setTimeout(() => c.insertOne({ n: 1 }), 0); return c.findOne() }",
        "() => { \(tasks) const found = c.find(); found.toArray(); found.close(); return found }",
        "() => { \(tasks) return c.bulkWrite([{ insertOne: { document: { a: 1 } } }]) }",
        "() => { \(tasks) setTimeout(() => undefined, 1); return c.findOne() }",
        "() => { \(tasks) const late = c.findOne(); return context.functions.execute('other', late) }",
        "() => context.services.get('mongodb-atlas').db('d').collection('c').findOne({ a: '\\u0000' })",
        "() => context.services.get('mongodb-atlas').db('d').collection('c').findOne({ '\\u0000': 1 })",
        "(x, response) => { \(tasks) response.setStatusCode(201); response.addHeader('a', 'b'); return c.findOne() }",
    ]

    private static let answers: [Result<BSONValue, HostError>] = [
        .success(["_id": 1, "n": 5.0, "long": .int64(7), "list": [1.5, .null, ["a": .date(3)]]]),
        .success([["_id": 1], ["_id": 2, "text": "é\u{0}😀"]]),
        .success(.null), .success([]), .success(3),
        // What only the engine can tell.
        .success(["b": 1, "10": 2, "9": 3]),
        .success(["r": .regex(BSONRegularExpression(pattern: "a/b", options: "i"))]),
        .success(["at": .date(.max)]),
        .failure(HostError("no such rule", errorCode: "NoMatchingRuleFound")),
        .failure(HostError("E11000", name: "MongoError", code: 11000, errorCode: "DuplicateKey")),
    ]

    /// What a run came to, and what it asked for.
    private struct Seen: Equatable {
        let result: Result<BSONValue, ScriptFailure>
        let response: ScriptOutcome.Response?
        let messages: [String]
        let asked: [String]
        let ends: Int

        init(
            _ source: String,
            _ form: ScriptCall.Form,
            _ answer: Result<BSONValue, HostError>
        ) async {
            let host = RecordingHost.answering(answer)
            let bundle = ScriptFixture.bundle([
                "test": "exports = " + source,
                "other": "exports = async (late) => { const found = await late; return { found } }",
            ])
            let call = ScriptFixture.call(.named("test"), [7, 8], form: form, within: .seconds(20))
            let outcome = await ScriptFixture.shared.run(call, of: bundle, host: host)
            result = outcome.result
            response = outcome.response
            messages = outcome.messages
            // Those of one stretch go side by side.
            asked = host.log.sorted()
            ends = host.ends
        }
    }

    @Test("comes to what it comes to when the engine hears the answer", arguments: bodies)
    func equivalence(body: String) async {
        // `this` proves nothing.
        let unproven = body + "; void this"
        for answer in Self.answers {
            for form in [ScriptCall.Form.plain, .endpoint] {
                let seen = await Seen(body, form, answer)
                let expected = await Seen(unproven, form, answer)
                #expect(seen == expected, "\(answer)")
            }
        }
    }

    /// Random functions of calls, cursors, promises and what is done with them.
    private struct Writer {
        var random: SeededRandom
        private var made = 0

        init(seed: UInt64) { random = SeededRandom(seed: seed) }

        private static let statements = [
            "c.insertOne({ n: # });", "const p# = c.findOne({ n: # });", "const p# = c.findOne({ n: # });",
            "const r# = c.find({ n: # });", "r@.toArray();", "r@.next();", "r@.hasNext();", "r@.close();",
            "r@.forEach((found) => c.deleteOne({ n: # }));", "setTimeout(() => c.insertOne({ n: # }), 0);",
            "const f# = async () => await c.findOne({ n: # });", "f@();", "const p# = f@();",
            "const p# = r@.toArray();",
            "const f# = async () => { const found = await c.count({ n: # }); return found };",
            "const f# = () => r@.toArray();", "const p# = context.functions.execute('other', p@);",
            "console.log('x');",
            "if (x < #) return p@;", "const p# = [p@, c.findOne({ n: # })];", "const p# = p@[0];",
            "const p# = [1, 2].map(async (n) => await c.findOne({ n }));", "const p# = c.bulkWrite([]);",
            "const p# = c.bulkWrite([{ insertOne: { document: { n: # } } }]);",
        ]
        private static let ends = [
            "return p@;", "return p@", "return await p@;", "return await p@", "return r@;",
            "return await r@.toArray();",
            "return f@();", "return await f@();", "return 5;", "return { found: p@ };", "",
            "throw new Error('end');",
            "return c.count({ n: # });", "const last = await p@; return last;", "return r@.next();",
            "return await r@.hasNext();",
            "return context.functions.execute('other', p@);", "return await c.findOneAndDelete({ n: # });",
            "return c.aggregate([]).toArray();", "return await p@ || 1;", "return [await p@];",
        ]

        private mutating func text(_ parts: [String]) -> String {
            made += 1
            var text = ""
            for character in parts[random.below(parts.count)] {
                switch character {
                case "#": text += "\(made)"
                case "@": text += "\(max(1, made - random.below(4)))"
                default: text.append(character)
                }
            }
            return text
        }

        mutating func function() -> String {
            let body = (0..<1 + random.below(5)).map { _ in text(Self.statements) } + [text(Self.ends)]
            let isAsync = random.below(3) > 0 || body.joined().contains("await")
            return (isAsync ? "async " : "") + "(x) => { \(tasks) \(body.joined(separator: " ")) }"
        }
    }

    @Test("comes to the same in functions of all kinds", arguments: [UInt64(1), 2])
    func randomEquivalence(seed: UInt64) async {
        var writer = Writer(seed: seed)
        for _ in 0..<200 {
            let body = writer.function()
            let answer = Self.answers[writer.random.below(2)]
            let seen = await Seen(body, .plain, answer)
            let expected = await Seen(body + "; void this", .plain, answer)
            #expect(seen == expected, "\(body)")
        }
    }

    @Test("needs no worker while it is answered")
    func freesTheWorker() async {
        let pool = ScriptFixture.pool(ScriptLimits(workers: 1))
        let bundle = ScriptFixture.bundle([
            "test": "exports = async (x) => { \(Self.tasks) return await c.findOne({ _id: x }) }",
            "next": "exports = () => 1",
        ])
        // Each waits within the call of the one before; the last has the only worker, and loses it.
        let host = RecordingHost { _ in
            let next = await pool.run(
                ScriptFixture.call(.named("next"), within: .seconds(20)),
                of: bundle,
                host: RecordingHost()
            )
            for id in pool.processIDs { kill(id, SIGKILL) }
            return .success(.string(ScriptFixture.text(next)))
        }
        let outcome = await pool.run(ScriptFixture.call(.named("test"), [1]), of: bundle, host: host)
        #expect(outcome.result == .success(#"{"$numberInt":"1"}"#))
        await pool.shutdown()
    }

    @Test("ends a run in time, or with the words for that")
    func late() async {
        let bundle = ScriptFixture.bundle(["test": "exports = () => { \(Self.tasks) return c.findOne() }"])
        let host = RecordingHost { _ in
            try? await Task.sleep(for: .milliseconds(600))
            return .success(.null)
        }
        let call = ScriptFixture.call(.named("test"), within: .milliseconds(500))
        let outcome = await ScriptFixture.shared.run(call, of: bundle, host: host)
        #expect(ScriptFixture.reason(outcome) == .time)
    }

    @Test("cannot have an answer beyond the limit")
    func tooLarge() async {
        let pool = ScriptFixture.pool(ScriptLimits(workers: 1, responseBytes: 1 << 20))
        let bundle = ScriptFixture.bundle(["test": "exports = () => { \(Self.tasks) return c.findOne() }"])
        let host = RecordingHost { _ in .success(["a": .string(String(repeating: "x", count: 2 << 20))]) }
        let outcome = await pool.run(ScriptFixture.call(.named("test")), of: bundle, host: host)
        #expect(ScriptFixture.text(outcome) == "!the result is larger than 1 MB")
        await pool.shutdown()
    }

    @Test("gives values as the engine does, whatever they are")
    func values() async throws {
        var random = SeededRandom(seed: 20)
        let values = (0..<2000).map { _ in Self.value(&random, depth: 0) }
        let pool = ScriptFixture.shared
        let bundle = ScriptFixture.bundle(["test": "exports = (values) => values.map((value) => ({ value }))"]
        )
        let outcome = await pool.run(
            ScriptFixture.call(.named("test"), [.array(values)]),
            of: bundle,
            host: RecordingHost()
        )
        guard case .array(let returned) = try outcome.result.get() else {
            Issue.record("\(outcome)")
            return
        }
        var told = 0
        for (value, returned) in zip(values, returned) {
            guard let mine = value.asReturned else { continue }
            told += 1
            let canonical = ExtendedJSON.canonical(["value": mine] as BSONValue)
            #expect(canonical == ExtendedJSON.canonical(returned))
        }
        #expect(told > 1200)
    }

    static func value(_ random: inout SeededRandom, depth: Int) -> BSONValue {
        let doubles = [
            0, -0.0, 1, -1, 0.5, 2_147_483_647, 2_147_483_648, -2_147_483_648, -2_147_483_649,
            9_007_199_254_740_991,
            9_007_199_254_740_992, -9_007_199_254_740_994, 1e21, 1e300, Double.leastNonzeroMagnitude,
            .infinity, -.infinity, .nan,
        ]
        switch random.below(depth > 3 ? 20 : 24) {
        case 0: return .double(doubles[random.below(doubles.count)])
        case 1: return .double(Double(bitPattern: random.next()))
        case 2: return .int32(Int32(truncatingIfNeeded: random.next()))
        case 3: return .int64(Int64(bitPattern: random.next()) >> Int64(random.below(64)))
        case 4: return .string(["", "é\u{0}", "😀\"\\\n", "\u{2028}", "__proto__"][random.below(5)])
        case 5: return .bool(random.oneIn(2))
        case 6: return .null
        case 7: return .undefined
        case 8: return .date(Int64(bitPattern: random.next()) >> Int64(11 + random.below(50)))
        case 9: return ObjectID(hex: "65a1b2c3d4e5f60718293a4b").map { .objectID($0) } ?? .null
        case 10:
            let texts = [
                "0", "-0", "1.50", "1E+3", "NaN", "-Infinity", "9.999999999999999999999999999999999E+6144",
            ]
            return Decimal128(texts[random.below(texts.count)]).map { .decimal128($0) } ?? .null
        case 11:
            let bytes = (0..<random.below(20)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            return .binary(BSONBinary(subtype: [0, 2, 3, 4, 5, 128][random.below(6)], bytes: bytes))
        case 12: return .timestamp(BSONTimestamp(seconds: .max, increment: UInt32(random.below(9))))
        case 13: return .code("() => 1")
        case 14: return .minKey
        case 15: return .maxKey
        case 16: return .symbol("s")
        case 17: return .regex(BSONRegularExpression(pattern: "a/b", options: "im"))
        case 18, 19: return .int32(Int32(random.below(100)))
        case 20, 21: return .array((0..<random.below(5)).map { _ in value(&random, depth: depth + 1) })
        default:
            var document = BSONDocument()
            var names = ["a", "b", "é", "", "$x", "length", "value", "_id", "constructor", "toString"]
            if random.oneIn(8) { names += ["1", "0", "-1", "01", "__proto__"] }
            names.shuffle(using: &random)
            for name in names.prefix(random.below(6)) {
                document.append(name, value(&random, depth: depth + 1))
            }
            return .document(document)
        }
    }
}
