import Foundation
import TestSupport
import Testing

/// Names that look the same and are not: Swift calls the two spellings of `é` equal, PostgreSQL and MongoDB do not.
@Suite("Attack: names that look alike")
struct LookalikeNameTests {
    private static let composed = "caf\u{e9}"
    private static let decomposed = "cafe\u{301}"

    @Test("rules of one collection do not open another, nor does a prepared statement reach it")
    func collections() async throws {
        let (api, user) = try await AttackApp.user()
        let tag = UUID().uuidString
        try await AttackApp.put(Self.composed, #"{"_id":"\#(tag)","t":"\#(tag)","v":"\#(AttackApp.marker)"}"#)
        let own = try await api.attack(
            "insertOne",
            Self.decomposed,
            #""document":{"t":"\#(tag)"}"#,
            as: user.bearer
        )
        #expect(own.status == 201, "\(own.text)")
        let filter = #""filter":{"t":"\#(tag)"}"#
        // Often enough that every connection has both statements.
        for _ in 0..<40 {
            let closed = try await api.attack("find", Self.composed, filter, as: user.bearer)
            #expect(closed.text == #"{"documents":[]}"#)
            let open = try await api.attack("find", Self.decomposed, filter, as: user.bearer)
            #expect((open.object["documents"] as? [Any])?.count == 1, "\(open.text)")
            #expect(!open.text.contains(AttackApp.marker))
        }
        let deleted = try await api.attack("deleteMany", Self.decomposed, filter, as: user.bearer)
        #expect(deleted.text == #"{"deletedCount":1}"#)
        #expect(
            try await AttackApp.sql(
                "select count(*) from vault.\"\(Self.composed)\" where doc->>'t' = '\(tag)'"
            ) == "1"
        )
    }

    @Test("a permission for one field does not open another")
    func fields() async throws {
        let (api, user) = try await AttackApp.user()
        let tag = UUID().uuidString
        try await AttackApp.put(
            "Staff",
            #"{"_id":"\#(tag)","\#(Self.composed)":"seen","\#(Self.decomposed)":"\#(AttackApp.marker)"}"#
        )
        let byID = #""filter":{"_id":"\#(tag)"}"#
        for projection in [
            "", #","projection":{"\#(Self.composed)":1}"#, #","projection":{"\#(Self.decomposed)":1}"#,
        ] {
            let found = try await api.attack("find", "Staff", byID + projection, as: user.bearer)
            #expect(!found.text.contains(AttackApp.marker), "\(found.text)")
        }
        let found = try await api.attack("findOne", "Staff", byID, as: user.bearer)
        #expect(found.text.contains("seen"))
    }

    @Test("both spellings are two fields of a document, in every stage")
    func twoFields() async throws {
        let (api, user) = try await AttackApp.user()
        let tag = UUID().uuidString
        let document = #"{"_id":"\#(tag)","\#(Self.composed)":1,"\#(Self.decomposed)":2}"#
        #expect(
            try await api.attack("insertOne", "Open", #""document":\#(document)"#, as: user.bearer).status
                == 201
        )
        let changed = try await api.attack(
            "updateOne",
            "Open",
            #""filter":{"_id":"\#(tag)","\#(Self.composed)":1,"\#(Self.decomposed)":2},"update":{"$inc":{"\#(Self.composed)":10,"\#(Self.decomposed)":20}}"#,
            as: user.bearer
        )
        #expect(changed.text == #"{"matchedCount":1,"modifiedCount":1}"#)
        for (name, value) in [(Self.composed, 11), (Self.decomposed, 22)] {
            let find = try await api.attack(
                "findOne",
                "Open",
                #""filter":{"\#(name)":\#(value),"_id":"\#(tag)"},"projection":{"\#(name)":1,"_id":0}"#,
                as: user.bearer
            )
            #expect(
                find.text.utf8.elementsEqual("{\"document\":{\"\(name)\":\(value)}}".utf8),
                "\(find.text)"
            )
            let pipeline = try await api.attack(
                "aggregate",
                "Open",
                #""pipeline":[{"$match":{"_id":"\#(tag)"}},{"$project":{"_id":0,"\#(name)":1}}]"#,
                as: user.bearer
            )
            #expect(pipeline.text.utf8.elementsEqual("{\"documents\":[{\"\(name)\":\(value)}]}".utf8))
        }
    }

    @Test("an app id and a data source are compared byte by byte")
    func apps() async throws {
        let (api, user) = try await AttackApp.user()
        // The Kelvin sign is a K to Swift; the app that really has one is not found by it.
        let source = try await api.act(
            "find",
            raw: Data(
                "{\"dataSource\":\"mongodb-atla\u{73}\u{301}\",\"database\":\"vault\",\"collection\":\"Open\"}"
                    .utf8
            ),
            as: user.bearer
        )
        #expect(source.status == 400)
        #expect(source.errorCode == "ServiceNotFound")
        try await AttackApp.sql("select tidegate.create_app('Kelvin', 'Kelvin-abcde')")
        try await eventually {
            try await api.send("GET", "/api/client/v2.0/app/Kelvin-abcde/location").status == 200
        }
        #expect(try await api.send("GET", "/api/client/v2.0/app/%E2%84%AAelvin-abcde/location").status == 404)
    }
}
