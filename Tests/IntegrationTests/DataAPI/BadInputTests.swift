import Foundation
import TestSupport
import Testing

@Suite("Bad input to the Data API")
struct BadInputTests {
    private static let namespace = #""dataSource":"mongodb-atlas","database":"todo","collection":"Open""#

    /// Action, body, the field that the message must name, the status.
    static let cases: [(String, String, String)] = {
        var cases: [(String, String, String)] = []
        for field in ["dataSource", "database", "collection"] {
            for value in ["1", "null", "{}", "[]", "\"\"", #"{"$ne":"x"}"#, #""a\u0000b""#] {
                var members = [
                    "dataSource": "\"mongodb-atlas\"", "database": "\"todo\"", "collection": "\"Open\"",
                ]
                members[field] = value
                let body = members.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",")
                cases.append(("find", "{\(body)}", field))
            }
            var members = [
                "dataSource": "\"mongodb-atlas\"", "database": "\"todo\"", "collection": "\"Open\"",
            ]
            members[field] = nil
            let body = members.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",")
            cases.append(("find", "{\(body)}", field))
        }
        let wrongTypes: [(String, String, [String])] = [
            ("find", "filter", ["1", "\"x\"", "[]", "true"]),
            ("find", "projection", ["1", "\"x\"", "[1]"]),
            ("find", "sort", ["1", "\"x\"", "[1]"]),
            ("find", "limit", ["\"1\"", "{}", "-1", "[]", #"{"$numberDouble":"NaN"}"#]),
            ("find", "skip", ["\"1\"", "{}", "-1", "[]"]),
            ("findOne", "filter", ["1", "\"$where\"", "[]"]),
            ("insertOne", "document", ["1", "\"x\"", "[]", "null"]),
            ("insertMany", "documents", ["1", "{}", "[1]", "null"]),
            ("updateOne", "update", ["1", "\"x\"", "null"]),
            ("deleteOne", "filter", ["1", "[]", "null"]),
            ("deleteMany", "filter", ["1", "[]", "null"]),
            ("aggregate", "pipeline", ["1", "{}", "\"x\"", "null"]),
        ]
        for (action, field, values) in wrongTypes {
            for value in values {
                let filter = action == "updateOne" ? #","filter":{}"# : ""
                cases.append((action, "{\(namespace),\"\(field)\":\(value)\(filter)}", field))
            }
        }
        for (action, field) in [
            ("insertOne", "document"), ("insertMany", "documents"), ("deleteOne", "filter"),
            ("deleteMany", "filter"), ("updateOne", "filter"), ("replaceOne", "filter"),
            ("aggregate", "pipeline"),
        ] {
            cases.append((action, "{\(namespace)}", field))
        }
        cases.append(("updateOne", "{\(namespace),\"filter\":{}}", "update"))
        cases.append(("replaceOne", "{\(namespace),\"filter\":{}}", "replacement"))
        cases.append(
            (
                "updateOne", "{\(namespace),\"filter\":{},\"update\":{\"$set\":{}},\"upsert\":\"yes\"}",
                "upsert"
            )
        )
        return cases
    }()

    @Test("is refused with the field's name", arguments: cases)
    func namesTheField(action: String, body: String, field: String) async throws {
        let (api, user) = try await SharedServer.user()
        let answer = try await api.act(action, raw: Data(body.utf8), as: user.bearer)
        #expect(answer.status == 400, "\(action) \(body): \(answer.text)")
        #expect(answer.errorCode != nil)
        #expect(answer.error.contains(field), "\(action) \(body): \(answer.error)")
    }

    static let malformed: [Data] = {
        var bodies: [Data] = [
            "", "{", "[]", "null", "1", "\"x\"", "{\"a\":}", "{\"a\":1", "{\"a\":1}}", "{'a':1}",
            "{\"a\":1e400}",
            "{\(namespace),\"filter\":{\"a\":1e400}}",
            "{\(namespace),\"filter\":{\"_id\":{\"$oid\":\"zz\"}}}",
            "{\(namespace),\"filter\":{\"a\":1,\"a\":2}}",
            "{\(namespace),\"filter\":{\"a\\u0000b\":1}}",
            "{\(namespace),\"filter\":{\"a\":{\"$numberLong\":\"99999999999999999999\"}}}",
            "{\(namespace),\"filter\":{\"a\":\"\\ud800\"}}",
        ].map { Data($0.utf8) }
        bodies.append(
            Data("{\(namespace),\"filter\":{\"a\":\"".utf8) + Data([0xff, 0xfe]) + Data("\"}}".utf8)
        )
        let deep = String(repeating: "{\"a\":", count: 20_000) + "1" + String(repeating: "}", count: 20_000)
        bodies.append(Data("{\(namespace),\"filter\":\(deep)}".utf8))
        let brackets = String(repeating: "[", count: 200_000)
        bodies.append(Data("{\(namespace),\"filter\":{\"a\":\(brackets)".utf8))
        return bodies
    }()

    @Test("that is not EJSON is refused and changes nothing", arguments: malformed)
    func malformedBody(body: Data) async throws {
        let (api, user) = try await SharedServer.user()
        for action in ["find", "insertOne", "deleteMany", "updateMany", "aggregate"] {
            let answer = try await api.act(action, raw: body, as: user.bearer)
            #expect(answer.status == 400, "\(action): \(answer.status) \(answer.text.prefix(200))")
            #expect(answer.errorCode == "InvalidParameter" || answer.errorCode == "MissingParameter")
        }
    }

    static let hostileNames = [
        "a'b", "a\"b", "a\\b", "a;drop table x;--", "a b", "a{b}", "a,b", "ünïcode", "a%s", "$1",
        "a\u{2028}b",
        "__proto__", String(repeating: "x", count: 300),
    ]

    @Test("in names never reaches SQL as text", arguments: hostileNames)
    func names(name: String) async throws {
        let (api, user) = try await SharedServer.user()
        let text = try String(decoding: JSONEncoder().encode(name), as: UTF8.self)
        let id = UUID().uuidString
        // As a field: stored, filtered, sorted, projected, updated, grouped.
        // MongoDB stores such a name; no filter or update path can say it.
        let isOperator = name.hasPrefix("$")
        let inserted = try await api.act(
            "insertOne",
            "Open",
            #""document":{"_id":"\#(id)",\#(text):7}"#,
            as: user.bearer
        )
        #expect(inserted.status == 201, "\(inserted.text)")
        if !isOperator {
            let found = try await api.act(
                "find",
                "Open",
                #""filter":{"_id":"\#(id)",\#(text):7},"sort":{\#(text):1}"#,
                as: user.bearer
            )
            #expect((found.object["documents"] as? [Any])?.count == 1, "\(found.text)")
            let updated = try await api.act(
                "updateOne",
                "Open",
                #""filter":{"_id":"\#(id)"},"update":{"$inc":{\#(text):1}}"#,
                as: user.bearer
            )
            #expect(updated.text == #"{"matchedCount":1,"modifiedCount":1}"#)
            let again = try await api.act(
                "findOne",
                "Open",
                #""filter":{\#(text):8,"_id":"\#(id)"},"projection":{\#(text):1,"_id":0}"#,
                as: user.bearer
            )
            #expect(again.text == "{\"document\":{\(text):8}}")
        }
        // As a collection and as a database: served or refused, never a server fault.
        let collection = try await api.act("find", name, as: user.bearer)
        #expect([200, 400, 403].contains(collection.status), "\(collection.text)")
        let body = #"{"dataSource":"mongodb-atlas","database":\#(text),"collection":"Open"}"#
        let database = try await api.act("find", raw: Data(body.utf8), as: user.bearer)
        #expect([200, 400, 403].contains(database.status), "\(database.text)")
        #expect(try Shell.psql(api.server.database, "select count(*) from todo.\"Open\"") != "")
    }

    @Test("over the limit is refused")
    func tooLarge() async throws {
        let (api, user) = try await SharedServer.user()
        let body =
            Data("{\(Self.namespace),\"document\":{\"a\":\"".utf8) + Data(repeating: 0x61, count: 19 << 20)
        let answer = try await api.act("insertOne", raw: body, as: user.bearer)
        #expect(answer.status == 413)
        #expect(answer.errorCode == "ReadSizeLimitExceeded")
    }

    @Test(
        "names an operator that is not served",
        arguments: [
            (#""filter":{"$who":1}"#, "unknown top level operator: $who"),
            (#""filter":{"a":{"$foo":1}}"#, "unknown operator: $foo"),
            (#""filter":{"$where":"1"}"#, "$where"),
            (#""filter":{"a":{"$in":1}}"#, "$in needs an array"),
        ]
    )
    func operators(members: String, text: String) async throws {
        let (api, user) = try await SharedServer.user()
        let answer = try await api.act("find", "Open", members, as: user.bearer)
        #expect(answer.status == 400)
        #expect(answer.error.contains(text), "\(answer.text)")
    }

    @Test("in a pipeline or an update carries MongoDB's text")
    func mongoTexts() async throws {
        let (api, user) = try await SharedServer.user()
        let stage = try await api.act("aggregate", "Open", #""pipeline":[{"$who":1}]"#, as: user.bearer)
        #expect(stage.status == 400)
        #expect(stage.error.contains("Unrecognized pipeline stage name: '$who'"))
        #expect(stage.object["code"] as? Int == 40324)
        let modifier = try await api.act(
            "updateOne",
            "Open",
            #""filter":{},"update":{"$who":{"a":1}}"#,
            as: user.bearer
        )
        #expect(modifier.status == 400)
        #expect(modifier.error.contains("Unknown modifier: $who"))
        let lookup = try await api.act(
            "aggregate",
            "Open",
            #""pipeline":[{"$lookup":{"from":"Item","localField":"a","foreignField":"b","as":"c"}}]"#,
            as: user.bearer
        )
        #expect(lookup.status == 400)
        #expect(lookup.error.contains("$lookup"))
    }
}
