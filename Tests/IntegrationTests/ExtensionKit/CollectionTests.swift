import Foundation
import Synchronization
import TestSupport
import Testing
import TidegateClient

/// What an app does with the client library, on a real gateway.
@Suite("The client library", .timeLimit(.minutes(30)))
struct CollectionTests {
    private struct Item: Codable, Sendable, Equatable {
        // swift-format-ignore: AlwaysUseLowerCamelCase
        var _id: ObjectId
        var mark: String
        var n: Int
    }

    private static func app(of api: APICaller? = nil) async throws -> (App, APICaller, URL) {
        let found: APICaller
        if let api { found = api } else { found = try await SharedServer.caller() }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "client-\(UUID().uuidString)"
        )
        let url = try #require(URL(string: found.server.http))
        let configuration = AppConfiguration(baseURL: url, sharedContainer: folder, timeout: 300)
        return (try App(id: found.app, configuration: configuration), found, folder)
    }

    private func exercise(_ client: MongoClient) async throws {
        let database = client.database(named: "todo")
        let items = database.collection(withName: "Open", of: Item.self)
        let mark = UUID().uuidString
        let mine: Document = ["mark": .string(mark)]
        let first = Item(_id: ObjectId(), mark: mark, n: 1)
        #expect(try await items.insertOne(first) == .objectId(first._id))
        let more = (2...4).map { Item(_id: ObjectId(), mark: mark, n: $0) }
        #expect(try await items.insertMany(more) == more.map { .objectId($0._id) })
        #expect(
            try await items.find(filter: mine, options: FindOptions(limit: 2, sort: ["n": -1])).map(\.n) == [
                4, 3,
            ]
        )
        #expect(try await items.findOne(filter: ["_id": .objectId(first._id)]) == first)
        #expect(try await items.findOneDocument(filter: ["_id": "nobody"]) == nil)
        #expect(try await items.count(filter: mine) == 4)
        #expect(try await items.count(filter: mine, limit: 3) == 3)
        let sums = try await items.aggregate(pipeline: [
            ["$match": .document(mine)], ["$group": ["_id": nil, "sum": ["$sum": "$n"]]],
        ])
        #expect(sums.first?["sum"]?.asInt == 10)
        let increment: Document = ["$inc": ["n": 10]]
        let one = try await items.updateOne(filter: ["_id": .objectId(first._id)], update: increment)
        #expect(one.matchedCount == 1 && one.modifiedCount == 1 && one.upsertedId == nil)
        #expect(try await items.updateMany(filter: mine, update: increment).modifiedCount == 4)
        let fresh = Item(_id: ObjectId(), mark: mark, n: 100)
        let upserted = try await items.replaceOne(
            filter: ["_id": .objectId(fresh._id)],
            replacement: fresh,
            upsert: true
        )
        #expect(upserted.upsertedId == .objectId(fresh._id))
        let options = FindOneAndModifyOptions(sort: ["n": -1], shouldReturnNewDocument: true)
        #expect(try await items.findOneAndUpdate(filter: mine, update: increment, options: options)?.n == 110)
        var other = fresh
        other.n = 7
        let before = try await items.findOneAndReplace(
            filter: ["_id": .objectId(fresh._id)],
            replacement: other
        )
        #expect(before?.n == 110)
        #expect(try await items.findOneAndDelete(filter: ["_id": .objectId(fresh._id)])?.n == 7)
        #expect(try await items.deleteOne(filter: mine) == 1)
        #expect(try await items.deleteMany(filter: mine) == 3)
        let key = UUID().uuidString
        let id = try await items.insertOne(first, key: key)
        #expect(try await items.insertOne(first, key: key) == id)
        let error = await #expect(throws: TidegateError.self) { try await items.insertOne(first) }
        #expect(error?.code == "MongoDBError")
        #expect(error?.serverCode == 11000)
        let denied = await #expect(throws: TidegateError.self) {
            try await database.collection(withName: "Nowhere").insertOne(["a": 1])
        }
        #expect(denied?.code == "NoMatchingRuleFound")
        #expect(denied?.link?.contains("logs?co_id=") == true)
        #expect(denied?.isTransient == false)
    }

    @Test("does everything to a collection as a user")
    func user() async throws {
        let (app, _, folder) = try await Self.app()
        defer { try? FileManager.default.removeItem(at: folder) }
        try await exercise(app.login(credentials: .anonymous).mongoClient("mongodb-atlas"))
    }

    @Test("does everything to a collection with an API key")
    func apiKey() async throws {
        let (app, api, folder) = try await Self.app()
        defer { try? FileManager.default.removeItem(at: folder) }
        let key = try #require(try SharedServer.apiKey(api)["apiKey"])
        try await exercise(app.mongoClient(apiKey: key))
    }

    @Test("logs in, keeps the session, refreshes it, and out")
    func sessions() async throws {
        let (app, _, folder) = try await Self.app()
        defer { try? FileManager.default.removeItem(at: folder) }
        let email = "kit-\(UUID().uuidString)@example.com"
        try await app.registerUser(email: email, password: "s3cret-1")
        let wrong = await #expect(throws: TidegateError.self) {
            try await app.login(credentials: .emailPassword(email: email, password: "wrong!"))
        }
        #expect(wrong?.code == "InvalidPassword")
        let user = try await app.login(credentials: .emailPassword(email: email, password: "s3cret-1"))
        let extended = try App(id: app.appId, configuration: app.configuration)
        let same = try #require(extended.currentUser)
        #expect(same.id == user.id)
        let token = user.accessToken
        try await withThrowingTaskGroup(of: Void.self) { group in
            for user in [user, same, user, same] { group.addTask { try await user.refreshCustomData() } }
            try await group.waitForAll()
        }
        #expect(user.accessToken == same.accessToken)
        #expect(token != nil)
        let second = try await extended.login(credentials: .anonymous)
        #expect(app.currentUser?.id == second.id)
        #expect(app.allUsers.count == 2)
        try await app.switch(to: user)
        #expect(extended.currentUser?.id == user.id)
        try await user.logOut()
        #expect(!same.isLoggedIn)
        #expect(second.isLoggedIn)
        let error = await #expect(throws: TidegateError.self) {
            try await same.mongoClient("mongodb-atlas").database(named: "todo").collection(withName: "Open")
                .count()
        }
        #expect(error?.kind == .loggedOut)
    }

    @Test("a session that was revoked at the server ends here, too")
    func revoked() async throws {
        let (app, api, folder) = try await Self.app()
        defer { try? FileManager.default.removeItem(at: folder) }
        let user = try await app.login(credentials: .anonymous)
        try Shell.psql(api.server.database, "select tidegate.disable_user('\(app.appId)', '\(user.id)')")
        let collection = user.mongoClient("mongodb-atlas").database(named: "todo").collection(
            withName: "Open"
        )
        try await eventually {
            do {
                _ = try await collection.count(filter: ["_id": "nobody"])
                return false
            } catch let error as TidegateError {
                return error.kind == .loggedOut
            }
        }
        #expect(!user.isLoggedIn)
    }

    @Test("watches a collection")
    func watch() async throws {
        let (app, _, folder) = try await Self.app()
        defer { try? FileManager.default.removeItem(at: folder) }
        let user = try await app.login(credentials: .anonymous)
        let items = user.mongoClient("mongodb-atlas").database(named: "todo")
            .collection(withName: "Open", of: Item.self)
        let mark = "50% \(UUID().uuidString)"
        let isOpen = Mutex(false)
        let stream = try items.watch(matchFilter: ["fullDocument.mark": .string(mark)]) {
            isOpen.withLock { $0 = true }
        }
        try await eventually { isOpen.withLock { $0 } }
        let sent = (0..<3).map { Item(_id: ObjectId(), mark: mark, n: $0) }
        for item in sent { try await items.insertOne(item) }
        var seen: [Item] = []
        for try await event in stream {
            #expect(event.operationType == .insert)
            #expect(!event.resumeToken.isEmpty)
            if let item = event.fullDocument { seen.append(item) }
            if seen.count == 3 { break }
        }
        #expect(seen == sent)
        let none = try user.mongoClient("mongodb-atlas").database(named: "todo")
            .collection(withName: "Nowhere").watch()
        let error = await #expect(throws: TidegateError.self) { for try await _ in none {} }
        #expect(error?.code == "NoMatchingRuleFound")
    }

    @Test("the queue sets aside what is refused, and goes on; online, its caller is told")
    func queue() async throws {
        let (app, api, folder) = try await Self.app()
        defer { try? FileManager.default.removeItem(at: folder) }
        let key = try #require(try SharedServer.apiKey(api)["apiKey"])
        let clients = [
            DiskQueue.Sender.user(try await app.login(credentials: .anonymous)),
            .client(app.mongoClient(apiKey: key)),
        ]
        for sender in clients {
            let queue = try DiskQueue(container: folder)
            let mark = UUID().uuidString
            let open = RecordedOperation.Target("todo", "Open")
            let nowhere = RecordedOperation.Target("todo", "Nowhere")
            try await queue.record(
                .insertOne(["_id": .string(mark), "n": 1] as Document, into: open),
                for: sender
            )
            try await queue.record(.deleteMany(filter: [:], in: nowhere), for: sender)
            let filter: Document = ["_id": .string(mark)]
            try await queue.record(
                .updateOne(filter: filter, update: ["$inc": ["n": 1]], in: open),
                for: sender
            )
            try await queue.record(
                .replaceOne(filter: filter, replacement: ["n": 5] as Document, in: open),
                for: sender
            )
            let report = try await queue.drain(as: sender)
            #expect(report.done == 3 && report.refused == 1)
            let refused = try await queue.refused(for: sender)
            #expect(refused.map(\.code) == ["NoMatchingRuleFound"])
            #expect(refused.first?.reason.contains("todo.Nowhere") == true)
            try await queue.retry(try #require(refused.first).id)
            #expect(try await queue.drain(as: sender).refused == 1)
            let online = OnlineFirst(queue: queue, sender: sender, deadline: .seconds(300))
            let error = await #expect(throws: TidegateError.self) {
                try await online.perform(.deleteMany(filter: [:], in: nowhere))
            }
            #expect(error?.code == "NoMatchingRuleFound")
            #expect(try await queue.refused(for: sender).count == 1)
            guard case .done(let answer?) = try await online.perform(.deleteOne(filter: filter, in: open))
            else {
                Issue.record("the gateway was there")
                return
            }
            #expect(answer.documentValue?["deletedCount"]?.asInt == 1)
        }
    }

    @Test("a function's call waits like a write; what it throws sets it aside")
    func functions() async throws {
        let (app, api, folder) = try await Self.app(of: try await FunctionServer.user().0)
        defer { try? FileManager.default.removeItem(at: folder) }
        let sender = DiskQueue.Sender.user(try await app.login(credentials: .anonymous))
        let queue = try DiskQueue(container: folder)
        let mark = UUID().uuidString
        for how in ["return", "throw"] {
            let key = "\(mark)-\(how)"
            try await queue.record(.function("bump", [.string(key), .string(how)]), for: sender)
        }
        let report = try await queue.drain(as: sender)
        #expect(report.done == 1 && report.refused == 1)
        #expect(try await queue.refused(for: sender).map(\.code) == ["FunctionExecutionError"])
        for how in ["return", "throw"] {
            let number = try Shell.psql(
                api.server.database,
                "select doc ->> 'n' from todo.\"Open\" where doc ->> '_id' = '\(mark)-\(how)'"
            )
            #expect(number == "2", "\(how)")
        }
    }

    @Test("copies stay on disk, and what is saved there goes to the server once")
    func copies() async throws {
        let (app, _, folder) = try await Self.app()
        defer { try? FileManager.default.removeItem(at: folder) }
        let user = try await app.login(credentials: .anonymous)
        let items = user.mongoClient("mongodb-atlas").database(named: "todo")
            .collection(withName: "Open", of: Item.self)
        let mark = UUID().uuidString
        let sent = (0..<3).map { Item(_id: ObjectId(), mark: mark, n: $0) }
        try await items.insertMany(sent)
        let store = try LocalStore(container: folder)
        let filter: Document = ["mark": .string(mark)]
        #expect(try await store.exportedAt("mine") == nil)
        #expect(
            try await store.export(items, filter: filter, options: FindOptions(sort: ["n": -1]), as: "mine")
                == 3
        )
        #expect(try await store.exportedAt("mine") != nil)
        #expect(try await store.documents("mine", as: Item.self) == sent.reversed())
        var changed = sent[1]
        changed.n = 50
        try await store.save(changed, in: "mine")
        let added = Item(_id: ObjectId(), mark: mark, n: 60)
        try await store.save(added, in: "mine")
        // A copy made meanwhile does not undo them.
        try await store.export(items, filter: filter, as: "mine")
        #expect(try await store.document("mine", id: .objectId(changed._id), as: Item.self)?.n == 50)
        let queue = try DiskQueue(container: folder)
        let target = RecordedOperation.Target("todo", "Open")
        for expected in [2, 0] {
            let count = try await store.importChanges(of: "mine", into: target, as: .user(user), queue: queue)
            #expect(count == expected)
        }
        #expect(try await queue.drain(as: .user(user)).done == 2)
        let now = try await items.find(filter: filter, options: FindOptions(sort: ["n": 1])).map(\.n)
        #expect(now == [0, 2, 50, 60])
    }
}
