import Foundation
import TestSupport
import Testing

/// Writes with an `Idempotency-Key`, through both doors.
@Suite("Idempotency keys", .timeLimit(.minutes(30)))
struct IdempotencyTests {
    private func insert(
        _ api: APICaller,
        _ user: APICaller.User,
        key: String?,
        _ document: String,
        collection: String = "Open"
    ) async throws -> APICaller.Answer {
        var caller = ["Authorization": "Bearer \(user.accessToken)"]
        caller["Idempotency-Key"] = key
        return try await api.act("insertOne", collection, #""document":\#(document)"#, as: caller)
    }

    private func call(
        _ api: APICaller,
        _ user: APICaller.User,
        key: String,
        _ name: String,
        _ arguments: String,
        service: String? = "mongodb-atlas"
    ) async throws -> APICaller.Answer {
        let service = service.map { #","service":"\#($0)""# } ?? ""
        return try await api.send(
            "POST",
            "/api/client/v2.0/app/\(api.app)/functions/call",
            headers: [
                "Authorization": "Bearer \(user.accessToken)", "Content-Type": "application/json",
                "Idempotency-Key": key,
            ],
            body: Data(#"{"name":"\#(name)","arguments":\#(arguments)\#(service)}"#.utf8)
        )
    }

    private func count(_ api: APICaller, _ mark: String) throws -> String {
        try Shell.psql(
            api.server.database,
            "select count(*) from todo.\"Open\" where doc ->> 'mark' = '\(mark)'"
        )
    }

    @Test("a repeated insert is done once, and answered as the first time; by another gateway, too")
    func insertsOnce() async throws {
        let (api, user) = try await SharedServer.user()
        let mark = UUID().uuidString
        let first = try await insert(api, user, key: mark, #"{"mark":"\#(mark)"}"#)
        #expect(first.status == 201, "\(first.text)")
        let again = try await insert(api, user, key: mark, #"{"mark":"\#(mark)"}"#)
        #expect(again.status == 201)
        #expect(again.text == first.text)
        #expect(again.header("Content-Type") == first.header("Content-Type"))
        let second = try await RunningServer.start(besides: api.server, name: "idempotency")
        defer { second.stop() }
        let other = APICaller(server: second, app: api.app)
        #expect(try await insert(other, user, key: mark, #"{"mark":"\#(mark)"}"#).text == first.text)
        #expect(try count(api, mark) == "1")
    }

    @Test("an update of the MongoDB service counts once, and makes a collection that is not there")
    func updatesOnce() async throws {
        let (api, user) = try await SharedServer.user()
        let mark = UUID().uuidString
        let arguments =
            #"[{"database":"todo","collection":"Open","query":{"mark":"\#(mark)"},"update":{"$inc":{"n":1}},"upsert":true}]"#
        let first = try await call(api, user, key: mark, "updateOne", arguments)
        #expect(first.status == 200, "\(first.text)")
        for _ in 0..<3 {
            #expect(try await call(api, user, key: mark, "updateOne", arguments).text == first.text)
        }
        let number = try Shell.psql(
            api.server.database,
            "select doc ->> 'n' from todo.\"Open\" where doc ->> 'mark' = '\(mark)'"
        )
        #expect(number == "1")
        let late = try await insert(
            api,
            user,
            key: mark + "-late",
            #"{"mark":"\#(mark)"}"#,
            collection: "Late3"
        )
        #expect(late.status == 201, "\(late.text)")
    }

    @Test("a key stands for one request of one user")
    func conflicts() async throws {
        let (api, user) = try await SharedServer.user()
        let mark = UUID().uuidString
        #expect(try await insert(api, user, key: mark, #"{"mark":"\#(mark)"}"#).status == 201)
        let other = try await insert(api, user, key: mark, #"{"mark":"\#(mark)","more":1}"#)
        #expect(other.status == 409)
        #expect(other.errorCode == "IdempotencyKeyReused")
        #expect(try count(api, mark) == "1")
        let somebody = try await api.newUser()
        #expect(try await insert(api, somebody, key: mark, #"{"mark":"\#(mark)"}"#).status == 201)
        #expect(try count(api, mark) == "2")
    }

    @Test("requests that race with one key do it once between them")
    func races() async throws {
        let (api, user) = try await SharedServer.user()
        let mark = UUID().uuidString
        let answers = try await withThrowingTaskGroup(of: APICaller.Answer.self) { group in
            for _ in 0..<12 {
                group.addTask { try await insert(api, user, key: mark, #"{"mark":"\#(mark)"}"#) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let done = answers.filter { $0.status == 201 }
        #expect(!done.isEmpty)
        #expect(Set(done.map(\.text)).count == 1)
        for answer in answers where answer.status != 201 {
            #expect(answer.status == 409)
            #expect(answer.errorCode == "IdempotencyKeyInUse", "\(answer.text)")
        }
        #expect(try count(api, mark) == "1")
    }

    @Test("keys that are none are refused by name; reads take no notice of them")
    func badKeys() async throws {
        let (api, user) = try await SharedServer.user()
        let mark = UUID().uuidString
        for key in [String(repeating: "k", count: 256), "two words", "\u{E4}"] {
            let answer = try await insert(api, user, key: key, #"{"mark":"\#(mark)"}"#)
            #expect(answer.status == 400)
            #expect(answer.errorCode == "InvalidParameter")
            #expect(answer.error.contains("Idempotency-Key"), "\(answer.text)")
        }
        #expect(try count(api, mark) == "0")
        let caller = ["Authorization": "Bearer \(user.accessToken)", "Idempotency-Key": mark]
        #expect(
            try await api.act("findOne", "Open", #""filter":{"mark":"\#(mark)"}"#, as: caller).status == 200
        )
        let kept = try Shell.psql(
            api.server.database,
            "select count(*) from tidegate.idempotency_keys where key like '\(mark)%'"
        )
        #expect(kept == "0")
    }

    @Test("what is refused is not remembered, and of an insertMany that fails nothing stays")
    func refusals() async throws {
        let (api, user) = try await SharedServer.user()
        let mark = UUID().uuidString
        let denied = try await insert(api, user, key: mark, #"{"mark":"\#(mark)"}"#, collection: "ReadOnly")
        #expect(denied.status == 400)
        #expect(denied.errorCode == "NoMatchingRuleFound")
        let caller = ["Authorization": "Bearer \(user.accessToken)", "Idempotency-Key": mark]
        let documents =
            #""documents":[{"_id":"\#(mark)","mark":"\#(mark)"},{"_id":"\#(mark)","mark":"\#(mark)"}]"#
        let duplicate = try await api.act("insertMany", "Open", documents, as: caller)
        #expect(duplicate.errorCode == "MongoDBError")
        #expect(try count(api, mark) == "0")
        #expect(try await insert(api, user, key: mark, #"{"mark":"\#(mark)"}"#).status == 201)
    }

    @Test("is remembered for 24 hours; the sweep forgets what is older")
    func forgets() async throws {
        let (api, user) = try await SharedServer.user()
        let mark = UUID().uuidString
        let first = try await insert(api, user, key: mark, #"{"mark":"\#(mark)"}"#)
        func age(_ interval: String) throws {
            try Shell.psql(
                api.server.database,
                "update tidegate.idempotency_keys set at = now() - interval '\(interval)' where key = '\(mark)'"
            )
        }
        try age("23 hours 50 minutes")
        #expect(try await insert(api, user, key: mark, #"{"mark":"\#(mark)"}"#).text == first.text)
        try age("25 hours")
        let later = try await insert(api, user, key: mark, #"{"mark":"\#(mark)"}"#)
        #expect(later.text != first.text)
        #expect(try count(api, mark) == "2")
        try age("25 hours")
        let left = try Shell.psql(
            api.server.database,
            script: """
                select tidegate.trim_idempotency_keys();
                select count(*) from tidegate.idempotency_keys where key = '\(mark)';
                """
        )
        #expect(left.split(separator: "\n").last == "0")
    }

    @Test("a function's data calls happen once, whether it returns or throws")
    func functions() async throws {
        let (api, user) = try await FunctionServer.user()
        let mark = UUID().uuidString
        for (how, status) in [("return", 200), ("throw", 400)] {
            let key = "\(mark)-\(how)"
            let arguments = #"["\#(key)","\#(how)"]"#
            let first = try await call(api, user, key: key, "bump", arguments, service: nil)
            #expect(first.status == status, "\(first.text)")
            let again = try await call(api, user, key: key, "bump", arguments, service: nil)
            #expect(again.status == status)
            #expect(again.text == first.text)
            let number = try Shell.psql(
                api.server.database,
                "select doc ->> 'n' from todo.\"Open\" where doc ->> '_id' = '\(key)'"
            )
            #expect(number == "2", "\(how)")
        }
        let missing = try await call(api, user, key: mark, "nowhere", "[]", service: nil)
        #expect(missing.errorCode == "FunctionNotFound")
        // A transaction of the script's own, beside that of the key.
        let ids = (0..<2).map { "\(mark)-\($0)" }
        for id in ids {
            _ = try await call(
                api,
                user,
                key: id,
                "data",
                #"["Open","insertOne",{"_id":"\#(id)","balance":10}]"#,
                service: nil
            )
        }
        let transfer = try await call(
            api,
            user,
            key: mark + "-transfer",
            "transfer",
            #"["\#(ids[0])","\#(ids[1])",{"$numberInt":"3"},false]"#,
            service: nil
        )
        #expect(transfer.text == #"[{"$numberInt":"7"},{"$numberInt":"13"}]"#)
    }
}
