import Foundation
import TestSupport
import Testing

/// `reference/functions.md` §5, row by row, through a gateway and its database: each test's name begins with the row.
@Suite("Tables of functions.md: §5 database API", .timeLimit(.minutes(30)))
struct FunctionDataTableTests {
    /// What a row does: a body with `c`, a collection with three documents of `t`, and `mongodb`.
    struct Row: Sendable, CustomTestStringConvertible {
        let row: String
        let body: String
        /// The result as canonical text; a failure's message after a `!`.
        let answer: String

        init(_ row: String, _ body: String, _ answer: String) {
            self.row = row
            self.body = body
            self.answer = answer
        }

        var testDescription: String { row }
    }

    private static let two = #"{"n":{"$numberInt":"2"}}"#
    private static let three = #"{"n":{"$numberInt":"3"}}"#
    private static func counts(_ matched: Int, _ modified: Int) -> String {
        #"{"matchedCount":{"$numberInt":"\#(matched)"},"modifiedCount":{"$numberInt":"\#(modified)"}}"#
    }

    static let rows: [Row] = [
        Row(
            "§5.1 mongodb.db(name); db.collection(name)",
            "return typeof mongodb.db('todo').collection('Open').find",
            #""function""#
        ),
        Row(
            "§5.1 mongodb.admin().getDBNames(): system only",
            "return mongodb.admin().getDBNames()",
            "!'getDBNames' is only available to a system user"
        ),
        Row(
            "§5.1 db.getCollectionNames(): system only",
            "return mongodb.db('todo').getCollectionNames()",
            "!'getCollectionNames' is only available to a system user"
        ),
        Row(
            "§5.1 db.aggregate(pipeline, options): a cursor",
            "return mongodb.db('todo').aggregate([{ $documents: [{ n: 1 }, { n: 2 }] }, { $match: { n: { $gt: 1 } } }], { maxTimeMS: 60000 }).next()",
            #"{"n":{"$numberInt":"2"}}"#
        ),
        Row(
            "§5.1 db.aggregate(pipeline): reads no collection by itself",
            "return mongodb.db('todo').aggregate([{ $match: {} }]).toArray()",
            "!{aggregate: 1} is not valid for '$match'; a collection is required."
        ),
        Row(
            "§5.1 db.aggregate(pipeline): no pipeline at all",
            "return mongodb.db('todo').aggregate([]).toArray()",
            "!{aggregate: 1} is not valid for an empty pipeline."
        ),
        Row(
            "§5.1 db.aggregate(pipeline): the stages of users",
            "return mongodb.db('todo').aggregate([{ $documents: [{ n: 1 }] }, { $lookup: { from: 'Open', pipeline: [], as: 'x' } }]).toArray()",
            "!operator '$lookup' is not available to application users"
        ),
        Row(
            "§5.1 mongodb.startSession()",
            "const s = mongodb.startSession(); return [typeof s.withTransaction, typeof s.abortTransaction, typeof s.endSession]",
            #"["function","function","function"]"#
        ),
        Row(
            "§5.2 find(query?, projection?, options?): a cursor",
            "return c.find({ t }, { n: 1, _id: 0 }).sort({ n: -1 }).limit(2).toArray()",
            "[\(three),\(two)]"
        ),
        Row(
            "§5.2 find: options in third place",
            "return c.find({ t }, { n: 1, _id: 0 }, { sort: { n: -1 }, limit: 1 }).toArray()",
            "[\(three)]"
        ),
        Row(
            "§5.2 findOne: document or null",
            "return [await c.findOne({ t, n: 2 }, { n: 1, _id: 0 }), await c.findOne({ t: 'none' + t })]",
            "[\(two),null]"
        ),
        Row(
            "§5.2 findOneAndUpdate: before, after with returnNewDocument, null if none",
            "const o = { projection: { n: 1, _id: 0 }, sort: { n: -1 } }; return [await c.findOneAndUpdate({ t, n: { $lt: 3 } }, { $inc: { n: 1 } }, o), await c.findOneAndUpdate({ t, n: 1 }, { $inc: { n: 1 } }, { ...o, returnNewDocument: true }), await c.findOneAndUpdate({ t: 'none' + t }, { $inc: { n: 1 } })]",
            "[\(two),\(two),null]"
        ),
        Row(
            "§5.2 findOneAndReplace: the same",
            "const o = { projection: { n: 1, _id: 0 } }; return [await c.findOneAndReplace({ t, n: 2 }, { t, n: 9 }, o), await c.findOneAndReplace({ t, n: 9 }, { t, n: 3 }, { ...o, returnNewDocument: true }), await c.findOneAndReplace({ t: 'none' + t }, {})]",
            "[\(two),\(three),null]"
        ),
        Row(
            "§5.2 findOneAndDelete: deleted document or null",
            "const o = { projection: { n: 1, _id: 0 } }; return [await c.findOneAndDelete({ t, n: 2 }, o), await c.findOneAndDelete({ t, n: 2 }, o)]",
            "[\(two),null]"
        ),
        Row(
            "§5.2 insertOne: { insertedId }",
            "return [Object.keys(await c.insertOne({ t })), (await c.insertOne({ t })).insertedId.toString().length]",
            #"[["insertedId"],{"$numberInt":"24"}]"#
        ),
        Row(
            "§5.2 insertMany(documents, { ordered = true }): { insertedIds: [id, …] }",
            "const r = await c.insertMany([{ _id: 'a' + t, t }, { _id: 'b' + t, t }]); return r.insertedIds.map((id) => id[0])",
            #"["a","b"]"#
        ),
        Row(
            "§5.2 insertMany: ordered stops at the first error, unordered does not",
            "for (const ordered of [true, false]) { try { await c.insertMany([{ _id: '1' + t }, { t, _id: ordered + t }], { ordered }) } catch {} } return [await c.count({ _id: 'true' + t }), await c.count({ _id: 'false' + t })]",
            #"[{"$numberInt":"0"},{"$numberInt":"1"}]"#
        ),
        Row(
            "§5.2 updateOne, updateMany: { matchedCount, modifiedCount, upsertedId? }",
            "return [await c.updateOne({ t }, { $set: { x: 1 } }), await c.updateMany({ t }, { $set: { x: 1 } }), Object.keys(await c.updateOne({ _id: 'u' + t }, { $set: { t } }, { upsert: true }))]",
            #"[\#(counts(1, 1)),\#(counts(3, 2)),["matchedCount","modifiedCount","upsertedId"]]"#
        ),
        Row(
            "§5.2 replaceOne: as update",
            "return [await c.replaceOne({ t, n: 2 }, { t, m: 1 }), await c.count({ t, n: 2 })]",
            #"[\#(counts(1, 1)),{"$numberInt":"0"}]"#
        ),
        Row(
            "§5.2 deleteOne, deleteMany: { deletedCount }",
            "return [await c.deleteOne({ t }), await c.deleteMany({ t })]",
            #"[{"deletedCount":{"$numberInt":"1"}},{"deletedCount":{"$numberInt":"2"}}]"#
        ),
        Row(
            "§5.2 aggregate(pipeline, options?): a cursor",
            "return c.aggregate([{ $match: { t } }, { $group: { _id: null, n: { $sum: '$n' } } }, { $project: { _id: 0 } }]).toArray()",
            #"[{"n":{"$numberInt":"6"}}]"#
        ),
        Row(
            "§5.2 count(query?, options?): a number",
            "const n = await c.count({ t }); return [n, typeof n, await c.count({ t }, { limit: 2 })]",
            #"[{"$numberInt":"3"},"number",{"$numberInt":"2"}]"#
        ),
        Row(
            "§5.2 distinct(field, query, options?): an array",
            "return (await c.distinct('n', { t })).sort()",
            #"[{"$numberInt":"1"},{"$numberInt":"2"},{"$numberInt":"3"}]"#
        ),
        Row(
            "§5.2 bulkWrite(operations, options?): null",
            "const r = await c.bulkWrite([{ insertOne: { document: { _id: 'w' + t, t, n: 4 } } }, { updateOne: { filter: { t, n: 1 }, update: { $set: { n: 5 } } } }, { updateMany: { filter: { t, n: { $gt: 3 } }, update: { $inc: { n: 1 } }, upsert: false } }, { deleteOne: { filter: { t, n: 2 } } }, { replaceOne: { filter: { _id: 'v' + t }, replacement: { t, n: 0 }, upsert: true } }, { deleteMany: { filter: { t, n: 3 } } }]); return [r, (await c.distinct('n', { t })).sort()]",
            #"[null,[{"$numberInt":"0"},{"$numberInt":"5"},{"$numberInt":"6"}]]"#
        ),
        Row(
            "§5.2 initializeOrderedBulkOp(), initializeUnorderedBulkOp(): find, insert, execute only",
            "const b = c.initializeUnorderedBulkOp(); b.insert({ t, n: 7 }); b.find({ t, n: 1 }).remove(); await b.execute(); return [Object.keys(c.initializeOrderedBulkOp()).sort(), (await c.distinct('n', { t })).sort()]",
            #"[["execute","find","insert"],[{"$numberInt":"2"},{"$numberInt":"3"},{"$numberInt":"7"}]]"#
        ),
        Row("§5.2 watch: not supported", "return c.watch()", "!watch is not supported inside functions"),
        Row(
            "§5.2 options: arrayFilters",
            "await c.updateOne({ t, n: 1 }, { $set: { a: [1, 5] } }); await c.updateOne({ t, n: 1 }, { $set: { 'a.$[big]': 0 } }, { arrayFilters: [{ big: { $gt: 1 } }] }); return (await c.findOne({ t, n: 1 })).a",
            #"[{"$numberInt":"1"},{"$numberInt":"0"}]"#
        ),
        Row(
            "§5.2 options: maxTimeMS, enforceReadPref",
            "return [await c.count({ t }, { maxTimeMS: 5000 }), (await c.aggregate([{ $match: { t } }], { enforceReadPref: true }).toArray()).length]",
            #"[{"$numberInt":"3"},{"$numberInt":"3"}]"#
        ),
        Row(
            "§5.2 options: one that is unknown",
            "return c.count({ t }, { frobnicate: 1 })",
            "!TypeError: count: unknown option 'frobnicate'"
        ),
        Row(
            "§5.2 loose calls: findOne(query, { session }) takes options in second place",
            "const session = mongodb.startSession(); return (await c.findOne({ t, n: 2 }, { session })).n",
            #"{"$numberInt":"2"}"#
        ),
        Row(
            "§5.2 loose calls: updateOne(query, plainDocument)",
            "return c.updateOne({ t }, { n: 1 })",
            "!TypeError: update document must contain atomic operators"
        ),
        Row(
            "§5.2 projection: {} or nothing = all fields; only _id may be mixed in",
            "return [Object.keys(await c.findOne({ t, n: 1 }, {})), Object.keys(await c.findOne({ t, n: 1 })), Object.keys(await c.findOne({ t, n: 1 }, { t: 0, _id: 0 }))]",
            #"[["_id","t","n"],["_id","t","n"],["n"]]"#
        ),
        Row(
            "§5.3 find: next() → document, undefined at the end; toArray; skip; limit; sort",
            "const x = c.find({ t }, { n: 1, _id: 0 }).sort({ n: 1 }).skip(1).limit(1); return [await x.next(), (await x.next()) === undefined]",
            "[\(two),true]"
        ),
        Row(
            "§5.3 aggregate: next, toArray, skip",
            "const p = [{ $match: { t } }, { $sort: { n: 1 } }, { $project: { n: 1, _id: 0 } }]; const x = c.aggregate(p).skip(2); return [await x.next(), (await x.next()) === undefined, (await c.aggregate(p).skip(1).toArray()).length, typeof x.limit]",
            #"[\#(three),true,{"$numberInt":"2"},"undefined"]"#
        ),
        Row(
            "§5.3 skip, limit, sort behind the first next()",
            "const x = c.find({ t }); await x.next(); return x.limit(1)",
            "!cannot modify a cursor after it has been iterated"
        ),
        Row(
            "§5.3 for await",
            "let sum = 0; for await (const d of c.find({ t })) sum += d.n; return sum",
            #"{"$numberInt":"6"}"#
        ),
        Row(
            "§5.4 withTransaction: committed; operations without a session are outside; options are ignored",
            "const session = mongodb.startSession(); let outside; await session.withTransaction(async () => { await c.insertOne({ t, n: 4 }, { session }); outside = await c.count({ t }) }, { readConcern: { level: 'snapshot' } }); session.endSession(); return [outside, await c.count({ t })]",
            #"[{"$numberInt":"3"},{"$numberInt":"4"}]"#
        ),
        Row(
            "§5.4 a session reads what it wrote, however much and wherever it is computed",
            "const session = mongodb.startSession(); let seen; await session.withTransaction(async () => { await c.insertMany(Array.from({ length: 2500 }, (_, n) => ({ t, n: n + 4 })), { session }); seen = (await c.aggregate([{ $match: { t } }, { $bucketAuto: { groupBy: '$n', buckets: 1 } }], { session }).toArray())[0].count; throw new Error('x') }).catch(() => null); return [seen, await c.count({ t })]",
            #"[{"$numberInt":"2503"},{"$numberInt":"3"}]"#
        ),
        Row(
            "§5.4 an error in the callback aborts",
            "const session = mongodb.startSession(); try { await session.withTransaction(async () => { await c.deleteMany({ t }, { session }); throw new Error('x') }) } catch {} return c.count({ t })",
            #"{"$numberInt":"3"}"#
        ),
        Row(
            "§5.4 the callback must be async or return a promise",
            "const session = mongodb.startSession(); return session.withTransaction(() => 1)",
            "!TypeError: "
        ),
    ]

    private static let source: String = {
        let bodies = rows.enumerated().map { "  \($0): async (c, mongodb, t) => { \($1.body) }" }
        return """
            const rows = {
            \(bodies.joined(separator: ",\n"))
            };
            exports = async (row, t) => {
              const mongodb = context.services.get('mongodb-atlas');
              const c = mongodb.db('todo').collection('Open');
              await c.insertMany([1, 2, 3].map((n) => ({ _id: n + t, t, n })));
              return rows[row](c, mongodb, t);
            };
            """
    }()

    private static let prepared = Task {
        let (api, user) = try await FunctionServer.user()
        try Shell.psql(
            api.server.database,
            script: """
                select tidegate.set_function('functions', 'table/ends', $js$exports = async (t) => {
                  const mongodb = context.services.get('mongodb-atlas');
                  const c = mongodb.db('todo').collection('Open');
                  const session = mongodb.startSession();
                  await session.startTransaction?.();
                  c.insertOne({ t, outside: true });
                  return 'at once';
                };$js$, '{}');
                select tidegate.set_function('functions', 'table/names', $js$exports = async () => {
                  const mongodb = context.services.get('mongodb-atlas');
                  return [(await mongodb.admin().getDBNames()).includes('todo'),
                          (await mongodb.db('todo').getCollectionNames()).includes('Open')];
                };$js$, '{"run_as_system": true}');
                select tidegate.set_function('functions', 'table/data', $js$\(source)$js$, '{}');
                """
        )
        try await eventually { try await api.call("table/data", as: user).errorCode != "FunctionNotFound" }
    }

    @Test("rows", arguments: rows)
    func row(row: Row) async throws {
        let (api, user) = try await FunctionServer.user()
        try await Self.prepared.value
        let place = try #require(Self.rows.firstIndex { $0.row == row.row })
        let answer = try await api.call("table/data", #"["\#(place)","\#(UUID().uuidString)"]"#, as: user)
        if row.answer.hasPrefix("!") {
            #expect(answer.errorCode == "FunctionExecutionError", "\(answer.text)")
            #expect(answer.error.hasPrefix(row.answer.dropFirst()), "\(answer.text)")
        } else {
            #expect(answer.text == row.answer)
        }
    }

    @Test("§5.1 admin().getDBNames(), getCollectionNames(): string[] for the system")
    func names() async throws {
        let (api, user) = try await FunctionServer.user()
        try await Self.prepared.value
        #expect(try await api.call("table/names", as: user).text == "[true,true]")
    }

    @Test("§5.2, §5.4 work still queued when the entry returns is finished, not cancelled")
    func drained() async throws {
        let (api, user) = try await FunctionServer.user()
        try await Self.prepared.value
        let tag = UUID().uuidString
        #expect(try await api.call("table/ends", #"["\#(tag)"]"#, as: user).text == #""at once""#)
        let count = try await api.call("data", #"["Open","count",{"t":"\#(tag)"}]"#, as: user)
        #expect(count.text == #"{"$numberInt":"1"}"#)
    }
}
