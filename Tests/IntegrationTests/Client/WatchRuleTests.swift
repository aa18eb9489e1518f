import Foundation
import TestSupport
import Testing

@Suite("What a watcher may see")
struct WatchRuleTests {
    private let tag = UUID().uuidString

    @Test("is the caller's own documents, where a role says so")
    func owners() async throws {
        let ann = try await ServiceCall.start("Item")
        let bob = try await ServiceCall.start("Item")
        let (annSees, bobSees) = (try await ann.watch(), try await bob.watch())
        for number in 1...3 {
            for call in [ann, bob] {
                let answer = try await call(
                    "insertOne",
                    #""document":{"ownerId":"\#(call.user.id)","n":\#(number),"secret":"of-\#(call.user.id)"}"#
                )
                #expect(answer.status == 200)
            }
        }
        // Neither may give a document away; an administrator does, and then deletes them all.
        try Shell.psql(
            ann.api.server.database,
            """
            update todo."Item" set doc = jsonb_set(doc, '{ownerId}', to_jsonb('\(bob.user.id)'::text))
            where doc ->> 'ownerId' = '\(ann.user.id)' and doc -> 'n' = '3'
            """
        )
        for call in [ann, bob] { _ = try await call("deleteMany") }
        try await annSees.has(5)
        try await bobSees.has(8)
        #expect(annSees.types == ["insert", "insert", "insert", "delete", "delete"])
        #expect(!annSees.text.contains("of-\(bob.user.id)"))
        #expect(bobSees.types.filter { $0 == "delete" }.count == 4)
        // The document that came to bob: he sees it from then on, whole.
        #expect(bobSees.types[3] == "update")
    }

    @Test("is the fields that roles show: in documents, descriptions and filters")
    func fields() async throws {
        let call = try await ServiceCall.start("Fields")
        let watch = try await call.watch(#""filter":{"fullDocument.shown":"\#(tag)"}"#)
        let prying = try await call.watch(#""filter":{"fullDocument.hidden":"\#(tag)"}"#)
        let database = call.api.server.database
        let document =
            #"{"_id": "\#(tag)", "shown": "\#(tag)", "hidden": "\#(tag)", "nested": {"open": 1, "shut": "x-\#(tag)"}}"#
        try Shell.psql(database, #"insert into todo."Fields" (doc) values ('\#(document)')"#)
        // A change of hidden fields alone is nothing that happened.
        let change =
            #"update todo."Fields" set doc = jsonb_set(doc, '{nested,shut}', '2') where _id = 's\#(tag)'"#
        try Shell.psql(database, change)
        try Shell.psql(
            database,
            #"update todo."Fields" set doc = doc || '{"hidden": 1, "nested": {"open": 2}}' where _id = 's\#(tag)'"#
        )
        try await watch.has(2)
        #expect(!watch.text.contains("hidden") && !watch.text.contains("shut"))
        #expect(
            watch.events[1].hasSuffix(
                #""updateDescription":{"updatedFields":{"nested.open":{"$numberInt":"2"}},"removedFields":[]}}"#
            ),
            "\(watch.events[1])"
        )
        #expect(prying.events.isEmpty)
    }

    @Test("is what the rule filters leave")
    func ruleFilters() async throws {
        let call = try await ServiceCall.start("Filtered")
        let watch = try await call.watch(#""filter":{"fullDocument.tag":"\#(tag)"}"#)
        for (id, more) in [("a", ""), ("b", #","deleted":true"#)] {
            _ = try await call(
                "insertOne",
                #""document":{"_id":"\#(id)-\#(tag)","tag":"\#(tag)","secret":1\#(more)}"#
            )
        }
        _ = try await call("updateOne", #""query":{"_id":"a-\#(tag)"},"update":{"$set":{"n":1}}"#)
        try await watch.has(2)
        #expect(!watch.text.contains("secret") && !watch.text.contains("b-\(tag)"))
    }

    @Test("ends with the session: at a logout, and when the user is disabled")
    func sessions() async throws {
        let left = try await ServiceCall.start()
        let disabled = try await ServiceCall.start()
        let other = try await ServiceCall.start()
        let watches = [try await left.watch(), try await disabled.watch()]
        let stays = try await other.watch(#""filter":{"fullDocument.tag":"\#(tag)"}"#)
        let logout = try await left.api.send(
            "DELETE",
            "/api/client/v2.0/auth/session",
            headers: ["Authorization": "Bearer \(left.user.refreshToken)"]
        )
        #expect(logout.status == 204)
        try Shell.psql(
            left.api.server.database,
            "select tidegate.disable_user('\(left.api.app)', '\(disabled.user.id)')"
        )
        for watch in watches {
            try await eventually { watch.isOver }
            #expect(watch.failure?.contains(#""error_code":"InvalidSession""#) == true, "\(watch.text)")
        }
        _ = try await other("insertOne", #""document":{"tag":"\#(tag)"}"#)
        try await stays.has(1)
    }

    @Test("follows rules that change, from the next event on")
    func changingRules() async throws {
        let call = try await ServiceCall.start("Turning")
        let watch = try await call.watch(#""filter":{"fullDocument.tag":"\#(tag)"}"#)
        _ = try await call("insertOne", #""document":{"tag":"\#(tag)","n":1}"#)
        try await watch.has(1)
        let rules =
            #"{"roles": [{"name": "only", "apply_when": {}, "document_filters": {"read": {"n": 3}, "write": false}, "read": true, "write": false}]}"#
        try Shell.psql(
            call.api.server.database,
            "select tidegate.set_rules('\(call.api.app)', 'mongodb-atlas', 'todo', 'Turning', '\(rules)')"
        )
        try await eventually {
            try await call("count", #""query":{"tag":"\#(tag)"}"#).text == #"{"$numberLong":"0"}"#
        }
        for number in [2, 3] {
            try Shell.psql(
                call.api.server.database,
                #"insert into todo."Turning" (doc) values ('{"_id": "\#(tag)-\#(number)", "tag": "\#(tag)", "n": \#(number)}')"#
            )
        }
        try await watch.has(2)
        #expect(watch.numbers == [1, 3])
    }
}
