import BSON
import Scripting
import Testing

/// The database API of functions: `reference/functions.md` §5.
@Suite("The database of functions")
struct DatabaseTests {
    private static let collection = "context.services.get('mongodb-atlas').db('d').collection('c')"

    private static func text(_ body: String, host: any ScriptHost) async -> String {
        await ScriptFixture.text("exports = async () => { const c = \(collection); \(body) }", host: host)
    }

    /// The arguments of a data call without database and collection.
    private static func asked(_ method: String, _ rest: String) -> String {
        #"data {"service":"mongodb-atlas","method":"\#(method)","arguments":{"database":"d","collection":"c"\#(rest)}}"#
    }

    @Test(
        "asks the gateway in the words of client calls",
        arguments: [
            (
                "find({a: 1}, {a: 1, _id: 0}).toArray()", "find",
                #","query":{"a":1},"project":{"a":1,"_id":0}"#
            ),
            (
                "find().sort({a: -1}).skip(2).limit(3).toArray()", "find",
                #","query":{},"sort":{"a":-1},"skip":2,"limit":3"#
            ),
            (
                "findOne({a: /x/i})", "findOne",
                #","query":{"a":{"$regularExpression":{"pattern":"x","options":"i"}}}"#
            ),
            (
                "findOne({a: 1}, {_id: 0}, {maxTimeMS: 5})", "findOne",
                #","query":{"a":1},"project":{"_id":0},"maxTimeMS":5"#
            ),
            (
                "findOneAndUpdate({a: 1}, {$set: {b: 2}}, {returnNewDocument: true, sort: {a: 1}, upsert: true})",
                "findOneAndUpdate",
                #","filter":{"a":1},"update":{"$set":{"b":2}},"upsert":true,"sort":{"a":1},"returnNewDocument":true"#
            ),
            (
                "findOneAndReplace({a: 1}, {b: 2})", "findOneAndReplace",
                #","filter":{"a":1},"update":{"b":2}"#
            ),
            (
                "findOneAndDelete({a: 1}, {projection: {a: 1}})", "findOneAndDelete",
                #","filter":{"a":1},"projection":{"a":1}"#
            ),
            (
                "insertOne({a: 1}, {bypassDocumentValidation: true})", "insertOne",
                #","document":{"a":1},"bypassDocumentValidation":true"#
            ),
            (
                "insertMany([{a: 1}], {ordered: false})", "insertMany",
                #","documents":[{"a":1}],"ordered":false"#
            ),
            (
                "updateOne({a: 1}, {$inc: {b: 1}}, {upsert: true, arrayFilters: [{x: 1}]})", "updateOne",
                #","query":{"a":1},"update":{"$inc":{"b":1}},"upsert":true,"arrayFilters":[{"x":1}]"#
            ),
            ("updateMany({}, [{$set: {b: 1}}])", "updateMany", #","query":{},"update":[{"$set":{"b":1}}]"#),
            ("replaceOne({a: 1}, {b: 2})", "replaceOne", #","query":{"a":1},"update":{"b":2}"#),
            ("deleteOne({a: 1})", "deleteOne", #","query":{"a":1}"#),
            ("deleteMany({})", "deleteMany", #","query":{}"#),
            (
                "aggregate([{$match: {a: 1}}]).skip(1).toArray()", "aggregate",
                #","pipeline":[{"$match":{"a":1}},{"$skip":1}]"#
            ),
            ("count({a: 1}, {limit: 5})", "count", #","query":{"a":1},"limit":5"#),
            ("distinct('a', {b: 1})", "distinct", #","key":"a","query":{"b":1}"#),
        ]
    )
    func calls(body: String, method: String, rest: String) async {
        let host = DataHost()
        _ = await Self.text("return await c.\(body)", host: host)
        #expect(host.log == [Self.asked(method, rest)])
    }

    @Test(
        "answers as the documentation says",
        arguments: [
            ("return await c.findOne({a: 9})", "null"),
            ("return await c.findOne({a: 1}, {})", #"{"a":{"$numberInt":"1"}}"#),
            ("return [await c.count(), typeof await c.count()]", #"[{"$numberInt":"2"},"number"]"#),
            (
                "const x = c.find(); return [await x.next(), await x.next(), await x.next() === undefined]",
                #"[{"a":{"$numberInt":"1"}},{"a":{"$numberInt":"2"}},true]"#
            ),
            (
                "const out = []; for await (const d of c.find()) out.push(d.a); return out",
                #"[{"$numberInt":"1"},{"$numberInt":"2"}]"#
            ),
            (
                "const x = c.find(); await x.next(); x.sort({a: 1})",
                "!cannot modify a cursor after it has been iterated"
            ),
            ("return c.find().limit(1)", #"[{"a":{"$numberInt":"1"}}]"#),
            ("return c.insertOne({_id: 5})", #"{"insertedId":{"$numberInt":"5"}}"#),
            (
                "return c.updateMany({}, {$set: {b: 1}})",
                #"{"matchedCount":{"$numberInt":"2"},"modifiedCount":{"$numberInt":"2"}}"#
            ),
            ("return c.updateOne({}, {b: 1})", "!TypeError: update document must contain atomic operators"),
            (
                "return c.findOne({a: 1}, {session: 1})",
                "!TypeError: session must be what startSession returned"
            ),
            ("return c.deleteOne({a: 1})", #"{"deletedCount":{"$numberInt":"1"}}"#),
            (
                "return c.updateOne({}, {$set: {a: 1}}, {upzert: true})",
                "!TypeError: updateOne: unknown option 'upzert'"
            ),
            ("return c.watch()", "!watch is not supported inside functions"),
            ("return context.services.get('mongodb-atlas').db('d').getCollectionNames()", #"["c"]"#),
            ("return context.services.get('mongodb-atlas').admin().getDBNames()", #"["d"]"#),
        ]
    )
    func answers(body: String, answer: String) async {
        #expect(await Self.text(body, host: DataHost([["a": 1], ["a": 2]])) == answer)
    }

    @Test("writes in bulk, in order up to the first error or all of it")
    func bulk() async {
        let operations = """
            [{insertOne: {document: {_id: 1}}}, {insertOne: {document: {_id: 1}}}, {insertOne: {document: {_id: 2}}}]
            """
        var host = DataHost()
        #expect(await Self.text("return c.bulkWrite(\(operations))", host: host) == "!duplicate key")
        #expect(host.documents == [["_id": 1]])
        host = DataHost()
        let unordered = "return c.bulkWrite(\(operations), {ordered: false})"
        #expect(await Self.text(unordered, host: host) == "!duplicate key")
        #expect(host.documents == [["_id": 1], ["_id": 2]])
        host = DataHost([["a": 1]])
        let built = """
            const b = c.initializeOrderedBulkOp(); b.insert({a: 2}); b.find({a: 1}).updateOne({$set: {b: 3}});
            b.find({a: 2}).remove(); return b.execute();
            """
        #expect(await Self.text(built, host: host) == "null")
        #expect(host.documents == [["a": 1, "b": 3]])
        #expect(
            await Self.text("return c.bulkWrite([{drop: {}}])", host: host).hasPrefix(
                "!TypeError: bulkWrite: operation 0 must hold one of insertOne"
            )
        )
    }

    @Test("commits a transaction, which reads its own writes, and aborts one that throws")
    func transactions() async {
        let host = DataHost()
        let body = """
            const s = context.services.get('mongodb-atlas').startSession();
            const seen = await s.withTransaction(async () => {
              c.insertOne({_id: 1}, {session: s});
              const inside = await c.count({}, {session: s});
              return [inside, await c.count({})];
            });
            try {
              await s.withTransaction(async () => { await c.insertOne({_id: 2}, {session: s}); throw new Error('stop') });
            } catch (e) { seen.push(e.message) }
            s.endSession();
            return seen;
            """
        #expect(await Self.text(body, host: host) == #"[{"$numberInt":"1"},{"$numberInt":"0"},"stop"]"#)
        #expect(host.documents == [["_id": 1]])
        #expect(host.endedSessions == [1])
        let names = host.log.map { String($0.prefix { $0 != " " }) }
        #expect(
            names == [
                "session.start", "session.begin", "data", "data", "data", "session.commit", "session.begin",
                "data", "session.abort", "session.end",
            ]
        )
    }

    @Test("aborts when an operation of the transaction failed that nobody waited for")
    func unawaitedFailure() async {
        let host = DataHost([["_id": 1]])
        let body = """
            const s = context.services.get('mongodb-atlas').startSession();
            await s.withTransaction(async () => {
              c.insertOne({_id: 2}, {session: s});
              c.insertOne({_id: 1}, {session: s}).catch(() => 0);
            });
            """
        #expect(await Self.text(body, host: host) == "!duplicate key")
        #expect(host.documents == [["_id": 1]])
    }

    @Test("finishes what the entry did not wait for")
    func drained() async {
        let host = DataHost()
        let body = """
            for (let i = 0; i < 50; i++) c.insertOne({_id: i}).then(() => c.updateOne({_id: i}, {$set: {done: true}}));
            return 'early';
            """
        #expect(await Self.text(body, host: host) == #""early""#)
        #expect(host.documents.count == 50)
        #expect(host.documents.allSatisfy { $0["done"] == true })
        #expect(host.recorder.ends == 1)
    }

    @Test("bounds how many operations are under way, not how many there are")
    func queue() async {
        let host = DataHost()
        let tooMany = "return Promise.all(Array.from({length: 1001}, (_, i) => c.insertOne({_id: i})))"
        #expect(await Self.text(tooMany, host: host) == "!exceeded max async work queue size of 1000")
        let batches = """
            for (let b = 0; b < 3; b++) await Promise.all(Array.from({length: 1000}, (_, i) => c.count({_id: i})));
            return 'done';
            """
        #expect(await Self.text(batches, host: DataHost()) == #""done""#)
    }
}
