import Foundation
import TestSupport
import Testing

/// Field names, collection names and values as SQL; `peers.md` §6.2, row 1.
@Suite("Attack: SQL through names and values")
struct SQLInjectionTests {
    /// Where a request takes a name: action and members, with `NAME` for the JSON text of the name, `PATH` for its
    /// content, and `ID` for the document's.
    private static let places: [(action: String, members: String)] = [
        ("find", #""filter":{"_id":"ID",NAME:7}"#),
        ("find", #""filter":{"_id":"ID","$or":[{NAME:7},{NAME:{"$exists":false}}]}"#),
        ("find", #""filter":{"_id":"ID",NAME:{"$elemMatch":{NAME:7}}}"#),
        ("find", #""filter":{"_id":"ID",NAME:{"$in":[7,NAME]}}"#),
        ("find", #""filter":{"_id":"ID",NAME:{"$type":"int"}}"#),
        ("find", #""filter":{"_id":"ID",NAME:{"$not":{"$gt":7}}}"#),
        ("find", #""filter":{"_id":"ID",NAME:{NAME:7}}"#),
        ("find", #""filter":{"_id":"ID","$expr":{"$eq":[{"$getField":NAME},7]}}"#),
        ("find", #""filter":{"_id":"ID"},"sort":{NAME:1}"#),
        ("find", #""filter":{"_id":"ID"},"projection":{NAME:1}"#),
        ("find", #""filter":{"_id":"ID"},"projection":{NAME:0}"#),
        ("updateOne", #""filter":{"_id":"ID"},"update":{"$set":{NAME:7}}"#),
        ("updateOne", #""filter":{"_id":"ID"},"update":{"$set":{"deep":{NAME:7}}}"#),
        ("updateOne", #""filter":{"_id":"ID"},"update":{"$inc":{NAME:1}}"#),
        ("updateOne", #""filter":{"_id":"ID"},"update":{"$mul":{NAME:1}}"#),
        ("updateOne", #""filter":{"_id":"ID"},"update":{"$min":{NAME:1}}"#),
        ("updateOne", #""filter":{"_id":"ID"},"update":{"$unset":{NAME:""}}"#),
        ("updateOne", #""filter":{"_id":"ID"},"update":{"$rename":{NAME:"other"}}"#),
        ("updateOne", #""filter":{"_id":"ID"},"update":{"$push":{NAME:NAME}}"#),
        ("updateOne", #""filter":{"_id":"ID"},"update":{"$addToSet":{NAME:NAME}}"#),
        ("updateOne", #""filter":{"_id":"ID"},"update":{"$pull":{NAME:{NAME:1}}}"#),
        ("updateOne", #""filter":{"_id":"ID"},"update":[{"$set":{NAME:1}}]"#),
        (
            "updateOne",
            #""filter":{"_id":"ID"},"update":{"$set":{"list.$[x].v":1}},"arrayFilters":[{"x.k":NAME}]"#
        ),
        (
            "updateOne",
            #""filter":{"_id":"ID"},"update":{"$set":{"list.$[x].v":1}},"arrayFilters":[{NAME:1}]"#
        ),
        ("updateOne", #""filter":{"_id":"ID2",NAME:7},"update":{"$set":{"a":1}},"upsert":true"#),
        ("updateMany", #""filter":{"_id":"ID"},"update":{"$set":{NAME:NAME}}"#),
        ("replaceOne", #""filter":{"_id":"ID"},"replacement":{NAME:NAME}"#),
        ("insertOne", #""document":{"_id":"ID3",NAME:NAME}"#),
        ("insertMany", #""documents":[{"_id":"ID4",NAME:NAME},{"_id":"ID5",NAME:[NAME]}]"#),
        ("deleteMany", #""filter":{"_id":"ID3",NAME:{"$exists":false}}"#),
        ("aggregate", #""pipeline":[{"$match":{"_id":"ID",NAME:7}},{"$sort":{NAME:1}}]"#),
        ("aggregate", #""pipeline":[{"$group":{"_id":{NAME:"$a"},"n":{"$sum":1}}}]"#),
        ("aggregate", #""pipeline":[{"$group":{"_id":null,NAME:{"$sum":1}}}]"#),
        ("aggregate", #""pipeline":[{"$project":{NAME:1}}]"#),
        ("aggregate", #""pipeline":[{"$project":{"x":{"$literal":NAME}}}]"#),
        ("aggregate", #""pipeline":[{"$addFields":{NAME:{"$concat":[NAME,"x"]}}}]"#),
        ("aggregate", #""pipeline":[{"$count":NAME}]"#),
        ("aggregate", #""pipeline":[{"$unset":NAME}]"#),
        ("aggregate", #""pipeline":[{"$unwind":{"path":"$list","includeArrayIndex":NAME}}]"#),
        ("aggregate", #""pipeline":[{"$sortByCount":{"$getField":NAME}}]"#),
        ("aggregate", #""pipeline":[{"$bucket":{"groupBy":"$n","boundaries":[0,9],"default":NAME}}]"#),
    ]

    @Test("a name stays a name in every place that takes one", arguments: HostileNames.all)
    func names(name: String) async throws {
        let (api, user) = try await AttackApp.user()
        let text = try AttackApp.json(name)
        // Its own: what other attackers store in a shared one would stand in the answers.
        let collection = "Names"
        try await AttackApp.put("Guard", #"{"_id":"\#(UUID().uuidString)","secret":"\#(AttackApp.marker)"}"#)
        let before = try await AttackApp.serverTables()
        let id = UUID().uuidString
        _ = try await api.attack(
            "insertOne",
            collection,
            #""document":{"_id":"\#(id)","n":1,"list":[{"k":1}]}"#,
            as: user.bearer
        )
        for place in Self.places {
            let members = place.members.replacingOccurrences(of: "ID", with: id)
                .replacingOccurrences(of: "NAME", with: text)
            let answer = try await api.attack(place.action, collection, members, as: user.bearer)
            // Served, or refused as the query language says; a server fault would be SQL that broke.
            #expect([200, 201, 400].contains(answer.status), "\(members): \(answer.status) \(answer.text)")
            #expect(answer.errorCode != "InternalServerError", "\(members): \(answer.text)")
            for word in ["syntax error", "SQLSTATE", "relation", "jsonb", "unterminated", AttackApp.marker] {
                #expect(!answer.text.contains(word), "\(members): \(answer.text)")
            }
            // Nobody but the document named by its id is looked at or touched.
            if place.action == "find" {
                #expect((answer.object["documents"] as? [Any])?.count ?? 0 <= 1, "\(members)")
            }
        }
        #expect(try await AttackApp.serverTables() == before)
        #expect(try await AttackApp.sql("select to_regclass('vault.\"Staff\"') is not null") == "t")
    }

    @Test(
        "a collection and a database by a hostile name get a table of their own, or none",
        arguments: HostileNames.all
    )
    func collections(name: String) async throws {
        let (api, user) = try await AttackApp.user()
        let text = try AttackApp.json(name)
        let before = try await AttackApp.serverTables()
        for members in [
            #""database":"hostile","collection":\#(text)"#, #""database":\#(text),"collection":"Open""#,
            #""database":"hostile","collection":"Open","dataSource":\#(text)"#,
        ] {
            for action in ["insertOne", "find", "updateMany", "deleteMany", "aggregate"] {
                let source = members.contains("dataSource") ? "" : #""dataSource":"mongodb-atlas","#
                let body = """
                    {\(source)\(members),"filter":{},"document":{"tag":"x"},"update":{"$set":{"a":1}},"pipeline":[]}
                    """
                let answer = try await api.act(action, raw: Data(body.utf8), as: user.bearer)
                #expect([200, 201, 400].contains(answer.status), "\(body): \(answer.status) \(answer.text)")
                #expect(answer.errorCode != "InternalServerError", "\(body): \(answer.text)")
                #expect(!answer.text.contains(AttackApp.marker))
            }
        }
        #expect(try await AttackApp.serverTables() == before)
        #expect(try await AttackApp.sql("select to_regclass('vault.\"Staff\"') is not null") == "t")
    }

    @Test("a hostile value comes back as it was, whatever it looks like", arguments: HostileNames.all)
    func values(value: String) async throws {
        let (api, user) = try await AttackApp.user()
        let text = try AttackApp.json(value)
        let id = try AttackApp.json("\(UUID().uuidString)\(value.prefix(40))")
        let inserted = try await api.attack(
            "insertOne",
            "Open",
            #""document":{"_id":\#(id),"v":\#(text)}"#,
            as: user.bearer
        )
        #expect(inserted.status == 201, "\(inserted.text)")
        let filters = [
            #"{"_id":\#(id)}"#, #"{"_id":\#(id),"v":\#(text)}"#,
            #"{"_id":{"$in":[\#(id)]},"v":{"$gte":\#(text)}}"#,
            #"{"_id":\#(id),"$expr":{"$eq":["$v",{"$literal":\#(text)}]}}"#,
            #"{"_id":\#(id),"v":{"$in":["none",\#(text)]}}"#, #"{"_id":\#(id),"v":{"$nin":["none"]}}"#,
        ]
        for filter in filters {
            let found = try await api.attack("find", "Open", "\"filter\":\(filter)", as: user.bearer)
            let documents = found.object["documents"] as? [[String: Any]]
            #expect(documents?.count == 1, "\(filter): \(found.text)")
            #expect(documents?.first?["v"] as? String == value, "\(filter): \(found.text)")
        }
        let changed = try await api.attack(
            "updateOne",
            "Open",
            #""filter":{"_id":\#(id),"v":\#(text)},"update":{"$set":{"w":\#(text)},"$push":{"l":\#(text)}}"#,
            as: user.bearer
        )
        #expect(changed.text == #"{"matchedCount":1,"modifiedCount":1}"#)
    }

    @Test("rules, schemas and names that administrators write stay data, too", arguments: HostileNames.all)
    func administration(name: String) async throws {
        let server = try await AttackApp.caller().server
        let app = "inj-\(UUID().uuidString.prefix(8))".lowercased()
        let api = APICaller(server: server, app: app)
        let collection = "Ruled-\(app)"
        let key = try AttackApp.json(name)
        let rules = """
            {"roles": [{"name": \(try AttackApp.json(String(name.prefix(90)))), "apply_when": {},
              "fields": {\(key): {"read": true, "write": true}, "_id": {"read": true, "write": true}}}]}
            """
        let schema = #"{"title": "T", "bsonType": "object", "properties": {\#(key): {"bsonType": "string"}}}"#
        let quoted = { (text: String) in "$quote$\(text)$quote$" }
        try await AttackApp.sql(
            """
            select tidegate.create_app('\(app)', '\(app)');
            select tidegate.set_provider('\(app)', 'anon-user',
              '{"name":"anon-user","type":"anon-user","disabled":false}');
            """
        )
        try await eventually {
            try await api.send("POST", "/api/client/v2.0/app/\(app)/auth/providers/anon-user/login").status
                == 200
        }
        let user = try await api.newUser()
        // A name that no path can say is refused as a whole, and the app stays as it was.
        try await AttackApp.sql(
            """
            select tidegate.set_rules('\(app)', 'mongodb-atlas', 'vault', '\(collection)', \(quoted(rules)));
            select tidegate.set_schema('\(app)', 'mongodb-atlas', 'vault', '\(collection)', \(quoted(schema)));
            """
        )
        let document = #""document":{\#(key):"x"}"#
        try await eventually {
            let refused = try await AttackApp.sql(
                "select count(*) from tidegate.list_config_errors('\(app)')"
            )
            let hidden = try await api.attack(
                "insertOne",
                collection,
                #""document":{"hidden":1}"#,
                as: user.bearer
            )
            return refused != "0" || hidden.status == 400
        }
        let answer = try await api.attack("insertOne", collection, document, as: user.bearer)
        #expect(answer.errorCode != "InternalServerError", "\(answer.text)")
        #expect([201, 400, 403].contains(answer.status), "\(answer.text)")
        try await AttackApp.sql("select tidegate.drop_app('\(app)')")
    }
}
