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
            "exports = () => -1 .a", "exports = (a) => -a", "exports = (a) => +a", "exports = (a) => a ++",
            "exports = (a) => a --1",
            "exports = (a) => -1 ** 2", "exports = (a) => a ** 2", "exports = (a) => a << 1",
            "exports = (a) => a <!--1\n1", "exports = (a) => a\n-->1\n1", "exports = (a) => a + +a",
            "exports = (a) => a += 1", "exports = (a) => a < = 1", "exports = (a) => a & 1",
            "exports = (a) => void a", "exports = (a) => delete a", "exports = (a) => typeof",
            "exports = (a) => [a].map((a, a) => a)", "exports = (a) => [a].map(b => { return b })",
            "exports = (a) => [a].map(async (b) => b)", "exports = (a) => [a].map((b) => await b)",
            "exports = async (a) => [a].map((b) => await b)", "exports = (a) => [a].map((...b) => b)",
            "exports = (a) => [a].map(b\n=> b)", "exports = (a) => [a].map(b => b, a)",
            "exports = (a) => [a].map((b = 1) => b)", "exports = (a) => [a].map(a)",
            "exports = (a) => [].reduce((b, c) => b)",
            "exports = (a) => [a].map(b => b).c",
            "exports = (a) => { const b = [a].map(b => b); const b = 1; return b }",
            "exports = (a) => [a].map(context => context)", "exports = (a) => [a].map(b => c => b)",
            "exports = (a) => { console.log(a); return b }",
            "exports = (a) => { console.table(a); return 1 }",
            "exports = (a) => { console.log(a).b; return 1 }", "exports = (a) => { console; return 1 }",
            "exports = (a) => { try { return a } }",
            "exports = (a) => { try { return a } finally { return 2 } }",
            "exports = (a) => { try { return a } catch (b) { return b } finally { return 2 } }",
            "exports = (a) => { try { return a } catch (b) { const b = 1; return b } }",
            "exports = (a) => { try { return a } catch { return b } }",
            "exports = (a) => { try return a; catch (b) {} }",
            "exports = (a) => { try { return a } catch (b, c) { } }", "exports = (a) => { throw\na }",
            "exports = (a) => { throw new Error('no') }", "exports = (a) => { throw }",
            "exports = async (a) => { await a; return a }",
            "exports = (a) => { await a; return a }", "exports = (a) => a, 1",
            "exports = (a) => a ?? a || a", "exports = (a) => a || a ?? a", "exports = (a) => a && a ?? a",
            "exports = (a) => a = = a", "exports = (a) => a == = a", "exports = (a) => a ==== a",
            "exports = (a) => a => a", "exports = (a) => a()", "exports = (a) => a.b()()",
            "exports = (a) => a?.[0]",
            "exports = (a) => a?.()", "exports = (a) => a`b`", "exports = (a) => /a/",
            "exports = (a) => a\n`b`",
            "exports = (a) => { return a\n[0] (1) }", "exports = (a) => { return a\nin a }",
            "exports = (a) => { return a\nof\n}",
            "exports = (a) => { return 1 2 }",
            "exports = (a) => { return\n= a }", "exports = async\n(a) => a", "exports = (a)\n=> a",
            "exports = a\n=> a",
            "exports = (a) => { if (a) const b = 1; return a }",
            "exports = (a) => { if (a) return 1 else return 2 }",
            "exports = (a) => { { return a } }", "exports = (a) => { 'use strict'; return a }",
            "exports = (a) => { for (;;) return a }", "exports = (a) => { throw a }",
            "exports = (a) => { while (a) return a }",
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
    func notRead(source: String) async {
        // Some are read, and left to the engine when they run: what counts is that none is run here.
        guard let function = StraightParser.read(source) else { return }
        #expect(await !Self.isStraight(function, source, [1], .success(1)))
    }

    /// Whether a run needs no engine, all calls having the same answer.
    private static func isStraight(
        _ function: StraightFunction,
        _ source: String,
        _ arguments: [BSONValue],
        _ answer: Result<BSONValue, HostError>,
        responseBytes: Int = 18 << 20
    ) async -> Bool {
        let host = RecordingHost.answering(answer)
        let bundle = ScriptFixture.bundle(["test": source])
        let request: BSONDocument = ["httpMethod": "GET", "remoteIPAddress": "192.0.2.1"]
        let call = ScriptFixture.call(.named("test"), arguments, request: request)
        var record = StraightRecord()
        let limits = ScriptLimits(responseBytes: responseBytes)
        while let end = StraightRun.end(
            of: function,
            named: "test",
            call,
            of: bundle,
            within: limits,
            &record
        ) {
            guard case .reads(let read) = end else { return true }
            guard case .success(let value) = await host.answer(read.call) else { return !function.catches }
            record.answers.append(value)
        }
        return false
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
        "(x) => [x.n + 1, x.n - 0.5, x.n * x.n, 1 / x.n, -7 % x.n, x.n < 5, x.n <= 5, x.n > 4, 5 >= x.n, 1 + 2 * 3 - 4]",
        "(x, y) => [y + x.n, 1 + y, y + null, undefined + y, y + true + '', 'a' + 'b' === 'ab', 0 / 1 - 0, -1 * 0, 1 / 0]",
        "(x, y) => [typeof x, typeof y, typeof x.n, typeof x.none, typeof null, typeof !x, typeof x.id, typeof x.long]",
        "(x) => [1, 2, 3].map((x) => x * 2).reduce((a, b) => a + b, 0)",
        "(x) => x.list.filter((e) => typeof e === 'object').map(e => e.a)",
        "(x, y) => [x.list.find((e, i) => i > 0), x.list.some(e => e === 1), x.list.every((e, i, all) => all.length > i)]",
        "(x, y) => [x.list.includes(1), x.list.includes(x.n), [y, 'b'].includes('b'), y.includes('ex'), y.includes('xe')]",
        "(x, y) => [y.startsWith('te'), y.endsWith('xt'), y.toUpperCase(), 'AbC'.toLowerCase(), ' \\t a b\\n'.trim()]",
        "(x, y) => [1, 2].map(a => [3, 4].map(b => `${y}${a * b}`)).map((x) => x.length)",
        "(x) => [].map((e) => e.none.none)",
    ]

    /// Those that read on after an answer, wait for a call whose answer they do not want, write lines for the log.
    private static let readers = [
        "async () => (await \(tasks).findOne({ a: 1 })).n",
        "async () => { await \(tasks).findOne({ a: 1 }); return 1 }",
        "async (x, y) => { const d = await \(tasks).findOne({ _id: y }); if (!d) return 'none'; return { n: d.n, l: d.list } }",
        "async (x, y) => { const { n, none } = await \(tasks).findOne({ _id: y }); return n === 5 ? { n, y } : none }",
        "async (x, y) => { const d = await \(tasks).findOne({ y }); return \(tasks).updateOne({ _id: d?._id }, { $set: { n: x.n + 1 } }) }",
        "async (x, y) => { const d = await \(tasks).findOne({ y }); return await \(tasks).deleteOne({ _id: d ? d._id : y }) }",
        "async () => { const a = await \(tasks).findOne({ a: 1 }); const b = await \(tasks).find({ b: 1 }).toArray(); return [a, b] }",
        "async () => { const all = await \(tasks).find().toArray(); return all.map(d => d._id).filter((d, i) => d > 1 || i === 0) }",
        "async () => { const all = await \(tasks).find({ a: 1 }).sort({ a: 1 }).limit(5).toArray(); return { n: all.length } }",

        "async () => { const all = await \(tasks).aggregate([{ $match: {} }]).toArray(); return all[0]._id }",

        "async (x) => { await \(tasks).insertOne({ x }); return { ok: true } }",
        "async (x) => { await \(tasks).insertOne({ x }) }",

        "async (x) => { const p = \(tasks).findOne(); const d = await p; return d?.n }",

        "async (x, y) => { console.log('a', x.n, x, y, null, undefined, true, 1.5, []); await \(tasks).insertOne({ x }); console.log('b'); return 1 }",
        "async (x) => { console.log('before'); const d = await \(tasks).findOne(); console.error(`n: ${d.n}`); return d.n }",
        "(x, y) => { console.warn('é😀', y); console.info(); return y }",
        "() => { console.log(context.user.id, { a: [1] }) }",
        "async (p) => { try { const u = await \(tasks).findOne({ _id: 1 }); return u.list && u.list.includes(1.5) } catch (e) { console.error(`no ${e}`); return false } }",

        "async (x) => { try { return \(tasks).insertOne({ x }) } catch (error) { return { error: error.message } } }",

        "async (x) => { try { return await \(tasks).findOne({ a: 1 }) } catch { return 'caught' } }",
        "async (x) => { const d = await \(tasks).findOne(); if (d == null) { throw new Error('no such ' + x.n) } return d._id }",
        "async (x, y) => { if (typeof y !== 'string') throw new Error('y'); const d = await \(tasks).findOne({ y }); return d?.n > 4 && !!d.list }",
        "async (x) => { const c = \(tasks); if (await c.findOne({ a: x.n })) return 'there'; return c.insertOne({ a: x.n }) }",
        "async (x) => ({ a: await \(tasks).findOne({ a: 1 }), b: [await \(tasks).findOne({ b: 1 })] })",
        "async (x) => { const d = await \(tasks).findOne({ a: 1 }); return d }",
        "async (x) => { const d = await \(tasks).findOne(); return d || x }",
        "async (x) => { const d = await \(tasks).find(); return d.toArray() }",

        "async () => { const d = await \(tasks).findOne(); return [d.list.map((e) => e), typeof d.long, d.long, `${d.n + 1}`] }",

    ]

    /// Those of which a part, or all, is the engine's.
    private static let mixed = [
        "(x) => x.list.filter(Boolean)",
        "(x) => ({ sum: [x, x].map(({ n }) => n) })",
        "async () => { const all = await \(tasks).aggregate([{ $out: 'd' }]).toArray(); return all.length }",
        "async (x) => { const r = await \(tasks).insertOne({ x }); return r.insertedId }",
        "async (x) => { const r = await \(tasks).insertOne({ x }); return \(tasks).findOne({ a: 1 }) }",
        "async (x) => { \(tasks).insertOne({ x }); return 1 }",
        "async (x) => { const p = \(tasks).findOne(); const d = await \(tasks).findOne({ a: 1 }); return [d, await p] }",
        "async (x) => { try { return await \(tasks).insertOne({ x }) } catch (error) { return { error: error.message } } }",
        "async (x) => { try { await \(tasks).insertOne({ x }) } catch (error) { console.error('failed'); throw error } }",
        "async (x) => { const c = \(tasks).find(); const l = await c.toArray(); return c.limit(1) }",
        "async (x) => { const c = \(tasks).find(); const a = await c.toArray(); const b = await c.toArray(); return [a, b] }",
        "async (x) => { const a = await \(tasks).findOne(); const b = await a; return b }",
        "async () => { const d = await \(tasks).findOne(); return d.long + 1 }",
        "async () => { const t = new Date(); const d = await \(tasks).findOne(); const s = new Date(); return t === s }",
        "async () => { const n = (await \(tasks).distinct('a')).length; return n > 1 ? 'many' : n }",
    ]

    @Test("reads on after an answer", arguments: readers)
    func readsOn(body: String) async throws {
        let source = "exports = " + body
        let function = try #require(StraightParser.read(source))
        let arguments: [BSONValue] = [["n": 5, "list": [1]], "text"]
        let answers: [BSONValue] = [
            ["_id": 1, "n": 5.0, "long": .int64(7), "list": [1.5]], [["_id": 1], ["_id": 2]],
        ]
        var told = 0
        for answer in answers where await Self.isStraight(function, source, arguments, .success(answer)) {
            told += 1
        }
        #expect(told > 0)
    }

    @Test("comes to what the engine makes of it", arguments: bodies + readers + mixed)
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
                // Of an endpoint the second argument is the response, which is the engine's, as is what is caught.
                let isDoubtful = form == .endpoint && body.contains("y)") || !Self.bodies.contains(body)
                if isDoubtful, seen.failure?.hasPrefix("busy") ?? false { continue }
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
            switch random.below(27) {
            case 18: return "(\(a)) \(one(["+", "-", "*", "/", "%"])) (\(b))"
            case 19: return "(\(a)) \(one(["<", "<=", ">", ">="])) (\(b))"
            case 20: return "typeof (\(a))"
            case 21:
                names.append("e")
                defer { names.removeLast() }
                let walk = one(["map", "filter", "find", "some", "every"])
                return
                    "(\(one(["x.list", "[\(a), \(b)]", a]))).\(walk)(\(one(["e", "(e)", "(e, x)"])) => \(expression(depth - 1)))"
            case 22: return "[\(a), \(b)].reduce((x, y) => \(expression(depth - 1))\(one(["", ", " + a])))"
            case 23: return "(\(a)).includes(\(b))"
            case 24:
                return
                    "(\(a)).\(one(["toUpperCase()", "trim()", "startsWith('a')", "endsWith(\(b))", "length"]))"
            case 25, 26: return "(await \(data(depth - 1)))"
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
                switch random.below(9) {
                case 6: body += " console.log(\(expression(1)), \(expression(1)));"
                case 7: body += " await \(data(1));"
                case 8:
                    body +=
                        " try { const t\(number) = \(expression(2)); if (t\(number)) return \(expression(1)) } catch (e) { throw e }"
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
        guard let function = StraightParser.read(source),
            await isStraight(function, source, arguments, answer)
        else { return false }
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
            "//", "/*", "+", "*", "<", ">", "%", "typeof ", "try ", "catch ", "throw ", "console.log(", "map",
            "e", "(e) =>",
        ]
        let all = Self.bodies + Self.readers + Self.mixed
        var told = 0
        for _ in 0..<3000 {
            let body = all[random.below(all.count)]
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
        #expect(told > 150)
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

    // MARK: What is worked out once

    @Test(
        "has constants where nothing from outside is named",
        arguments: [
            ("[{ $match: { a: { $in: [1, 'b'] } } }, { $limit: 2 * 5 }]", true),
            ("({ ok: true, n: [1, 2, 3].map(x => x * 2).reduce((a, b) => a + b, 0) })", true),
            ("`a${1}` + 'b'.toUpperCase()", true),
            ("[1, 2].includes(2) ? { a: null } : undefined", true),
            ("(x) => 1", true), ("x", false), ("[x]", false), ("[1].map(y => x)", false),
            ("context.user.id", false), ("new Date()", false), ("[new Date()]", false),
            ("[1, 2].find(x => x > 2)", false), ("[1].nothing()", false),
        ]
    )
    func folding(expression: String, isConstant: Bool) throws {
        guard let function = StraightParser.read("exports = (x) => { return \(expression) }") else {
            return
        }
        guard case .returns(.constant)? = function.body.first else {
            #expect(!isConstant, "\(function.body)")
            return
        }
        #expect(isConstant)
    }

    @Test("works out parts of what is another in each run")
    func partialFolding() throws {
        let function = try #require(StraightParser.read("exports = (x) => [x, { a: [1] }, [2].concat([x])]"))
        guard case .returns(.array(let elements))? = function.body.first, elements.count == 3,
            case .local = elements[0], case .constant(["a": [1]]) = elements[1],
            case .chain(.constant([2]), _) = elements[2]
        else {
            Issue.record("\(function.body)")
            return
        }
    }

    // MARK: Bounds

    @Test("has the engine where an object would grow beyond what it is made of")
    func growth() async throws {
        let doubling = (0..<30).map { "const a\($0 + 1) = [a\($0), a\($0)];" }.joined(separator: " ")
        let source = "exports = (a0) => { \(doubling) return a30 }"
        let function = try #require(StraightParser.read(source))
        #expect(await !Self.isStraight(function, source, ["text"], .success(1)))
    }

    @Test(
        "has the engine for what would take long, and for answers and logs that are large",
        arguments: [
            "(list) => list.map(a => list.map(b => list.every(c => c !== a || c !== b)).length).length",
            "(list) => list.map(a => list.includes('c')).length",
            "async () => (await \(tasks).find().toArray()).length",
            "(list) => { console.log(list); return 1 }",
            "() => { \(String(repeating: "console.log(1); ", count: 26)) return 1 }",
        ]
    )
    func long(body: String) async throws {
        let source = "exports = " + body
        let function = try #require(StraightParser.read(source))
        let list = BSONValue.array((0..<300).map { .string("element \($0)") })
        let large = BSONValue.array((0..<3000).map { .string(String(repeating: "a", count: 100) + "\($0)") })
        #expect(await !Self.isStraight(function, source, [list], .success(large)))
        let (small, sized) = ("exports = (x) => x", BSONValue.string(String(repeating: "a", count: 100)))
        let echo = try #require(StraightParser.read(small))
        #expect(await Self.isStraight(echo, small, [sized], .success(1), responseBytes: 120))
        #expect(await !Self.isStraight(echo, small, [sized], .success(1), responseBytes: 100))
        if !body.contains("log(1)") {
            #expect(await Self.isStraight(function, source, [["a"]], .success([])))
        }
    }

    @Test("becomes the engine's where what it reads is more often than not what only the engine knows")
    func doubtful() async throws {
        let pool = Self.straight()
        let source = "exports = async () => { const d = await \(Self.tasks).findOne(); return d.a.b }"
        let bundle = ScriptFixture.bundle(["test": source])
        let good = RecordingHost.answering(.success(["a": ["b": 1]]))
        let bad = RecordingHost.answering(.success(.null))
        for _ in 0..<30 {
            let outcome = await pool.run(ScriptFixture.call(.named("test")), of: bundle, host: good)
            #expect(try outcome.result.get() == 1)
        }
        for _ in 0..<100 { _ = await pool.run(ScriptFixture.call(.named("test")), of: bundle, host: bad) }
        #expect(bad.calls.count > 5 && bad.calls.count < 20)
        #expect(bundle.straight("test") == nil)
        await pool.shutdown()
    }

    @Test("has no more of the log than the engine would have when its last call fails")
    func linesBefore() async throws {
        let pool = Self.straight()
        let source = """
            exports = async (x) => {
              console.log('before');
              await \(Self.tasks).insertOne({ x });
              console.log('after');
              return 'done';
            }
            """
        let bundle = ScriptFixture.bundle(["test": source])
        for (answer, lines) in [
            (Result<BSONValue, HostError>.failure(HostError("refused")), ["before"]),
            (.success(["insertedId": 1]), ["before", "after"]),
        ] {
            let host = RecordingHost.answering(answer)
            let outcome = await pool.run(ScriptFixture.call(.named("test")), of: bundle, host: host)
            #expect(outcome.messages == lines)
            #expect(host.calls.count == 1)
        }
        await pool.shutdown()
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
        let reader = ScriptFixture.bundle(["test": "exports = async () => (await \(Self.tasks).findOne()).a"])
        let again = ScriptFixture.call(.named("test"), within: .milliseconds(200))
        #expect(ScriptFixture.reason(await pool.run(again, of: reader, host: host)) == .time)
        #expect(host.calls.count == 2)
        await pool.shutdown()
    }
}
