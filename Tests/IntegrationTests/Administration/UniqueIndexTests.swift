import Foundation
import TestSupport
import Testing

/// Indexes that an administrator makes, as callers meet them.
@Suite("A unique index")
struct UniqueIndexTests {
    /// A collection with a unique `code` that everybody may write, and its name.
    private func collection(_ api: APICaller, sparse: Bool = false) async throws -> String {
        let name = "Unique\(UUID().uuidString.prefix(8))"
        let rules =
            #"{"roles":[{"name":"all","apply_when":{},"document_filters":{"read":true,"write":true},"read":true,"write":true}]}"#
        try Shell.psql(
            api.server.database,
            script: """
                select tidegate.set_rules('\(api.app)', 'mongodb-atlas', 'todo', '\(name)', '\(rules)');
                select tidegate.promote_field('todo', '\(name)', 'code', 'number');
                select tidegate.create_index('\(api.app)', 'todo', '\(name)', '{"code": 1}',
                    '{"unique": true, "sparse": \(sparse)}');
                """
        )
        return name
    }

    @Test("answers equal values with MongoDB's duplicate key error, whatever writes them")
    func duplicates() async throws {
        let (api, user) = try await SharedServer.user()
        let name = try await collection(api)
        try await eventually {
            try await api.act("insertOne", name, #""document":{"_id":1,"code":5}"#, as: user.bearer).status
                == 201
        }
        _ = try await api.act("insertOne", name, #""document":{"_id":2,"code":6}"#, as: user.bearer)
        for (action, members) in [
            ("insertOne", #""document":{"_id":3,"code":5}"#),
            ("insertOne", #""document":{"_id":3,"code":5.0}"#),
            ("updateOne", #""filter":{"_id":2},"update":{"$set":{"code":5}}"#),
            ("replaceOne", #""filter":{"_id":2},"replacement":{"code":5}"#),
            ("updateOne", #""filter":{"_id":9},"update":{"$set":{"code":5}},"upsert":true"#),
        ] {
            let answer = try await api.act(action, name, members, as: user.bearer)
            #expect(answer.status == 400, "\(action) \(members): \(answer.text)")
            #expect(answer.errorCode == "MongoDBError")
            #expect(answer.error.contains("E11000 duplicate key error"), "\(answer.error)")
            #expect(answer.error.contains("index: \(name)_code_1"), "\(answer.error)")
            #expect(answer.object["code"] as? Int == 11000, "\(answer.text)")
        }
    }

    @Test("keeps the documents before a duplicate of insertMany, as MongoDB does")
    func ordered() async throws {
        let (api, user) = try await SharedServer.user()
        let name = try await collection(api)
        try await eventually {
            try await api.act("find", name, as: user.bearer).status == 200
        }
        let answer = try await api.act(
            "insertMany",
            name,
            #""documents":[{"_id":1,"code":1},{"_id":2,"code":1},{"_id":3,"code":3}]"#,
            as: user.bearer
        )
        #expect(answer.error.contains("E11000"), "\(answer.text)")
        #expect(
            try await api.act("find", name, as: user.bearer).text == #"{"documents":[{"_id":1,"code":1}]}"#
        )
    }

    @Test("takes missing, null and arrays as values, and leaves out the missing where it is sparse")
    func missing() async throws {
        let (api, user) = try await SharedServer.user()
        for (sparse, status) in [(false, 400), (true, 201)] {
            let name = try await collection(api, sparse: sparse)
            try await eventually {
                try await api.act("insertOne", name, #""document":{"_id":1}"#, as: user.bearer).status == 201
            }
            let missing = try await api.act("insertOne", name, #""document":{"_id":2}"#, as: user.bearer)
            #expect(missing.status == status, "\(missing.text)")
            let array = try await api.act(
                "insertOne",
                name,
                #""document":{"_id":3,"code":[1]}"#,
                as: user.bearer
            )
            #expect(array.status == 201, "\(array.text)")
            let same = try await api.act(
                "insertOne",
                name,
                #""document":{"_id":4,"code":[1]}"#,
                as: user.bearer
            )
            #expect(same.status == 400, "\(same.text)")
        }
    }
}
