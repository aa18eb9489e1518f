import BSON
import Errors
import MQL
import Testing

@Suite("Data API body → operation")
struct OperationParserTests {
    private func parse(_ action: String, _ members: String) throws -> DataAction {
        let body = "{dataSource:'s',database:'d',collection:'c'\(members.isEmpty ? "" : ",")\(members)}"
        return try OperationParser.parse(action: action, body: MQLText.document(body.json)).action
    }

    @Test(
        "bounds limit and skip",
        arguments: [
            ("", 1000, 0), ("limit:0", 1000, 0), ("limit:7", 7, 0),
            ("limit:{$numberLong:'9999999999999'}", 50000, 0), ("limit:2.0,skip:3", 2, 3),
            ("limit:null,skip:null", 1000, 0), ("limit:50001,foo:1", 50000, 0),
        ]
    )
    func bounds(members: String, limit: Int, skip: Int) throws {
        guard case .find(let find) = try parse("find", members) else { return #expect(Bool(false)) }
        #expect(find.limit == limit)
        #expect(find.skip == skip)
        #expect(find.filter == .all)
        #expect(find.sort == nil)
        #expect(find.projection == nil)
    }

    @Test("serves the ten actions")
    func actions() throws {
        guard
            case .findOne(let one) = try parse("findOne", "filter:{a:1},sort:{a:-1},projection:{a:1},limit:5")
        else { return #expect(Bool(false)) }
        #expect(one.limit == 1)
        #expect(one.sort?.keys.count == 1)
        #expect(one.projection != nil)
        guard case .insertOne(let document) = try parse("insertOne", "document:{x:1}") else {
            return #expect(Bool(false))
        }
        #expect(document == ["x": 1])
        guard case .insertMany(let many) = try parse("insertMany", "documents:[{x:1},{}]") else {
            return #expect(Bool(false))
        }
        #expect(many.documents.count == 2)
        #expect(many.isOrdered)
        guard
            case .updateOne(let update) = try parse(
                "updateOne",
                "filter:{},update:{$set:{'a.$[x]':1}},arrayFilters:[{x:1}],upsert:true"
            )
        else { return #expect(Bool(false)) }
        #expect(update.upsert)
        guard case .operators(_, let filters) = update.update else { return #expect(Bool(false)) }
        #expect(filters.count == 1)
        guard case .updateOne(let bare) = try parse("updateOne", "filter:{},update:{a:1}"),
            case .replacement = bare.update
        else { return #expect(Bool(false)) }
        guard case .updateMany(let updates) = try parse("updateMany", "filter:{},update:[{$set:{a:1}}]"),
            case .pipeline = updates.update
        else { return #expect(Bool(false)) }
        guard case .updateOne(let replace) = try parse("replaceOne", "filter:{},replacement:{}"),
            case .replacement = replace.update
        else { return #expect(Bool(false)) }
        guard case .deleteOne(.all) = try parse("deleteOne", "filter:{}") else { return #expect(Bool(false)) }
        guard case .deleteMany(.field) = try parse("deleteMany", "filter:{a:1}") else {
            return #expect(Bool(false))
        }
        guard case .aggregate(let pipeline) = try parse("aggregate", "pipeline:[{$match:{a:1}}]") else {
            return #expect(Bool(false))
        }
        #expect(pipeline.stages.count == 1)
    }

    @Test(
        "names the member at fault",
        arguments: [
            ("find", "filter:1", "filter", "'filter' must be an object", false),
            ("find", "filter:[]", "filter", "'filter' must be an object", false),
            ("find", "sort:'a'", "sort", "'sort' must be an object", false),
            ("find", "projection:1", "projection", "'projection' must be an object", false),
            ("find", "limit:'5'", "limit", "'limit' must be a number", false),
            ("find", "limit:-1", "limit", "'limit' must not be negative", false),
            ("find", "limit:1.5", "limit", "'limit' must be a whole number", false),
            ("find", "limit:{$numberDouble:'NaN'}", "limit", "'limit' must be a whole number", false),
            ("find", "limit:1e300", "limit", "'limit' must be a whole number", false),
            ("find", "limit:{a:1}", "limit", "'limit' must be a number", false),
            ("find", "skip:-1", "skip", "'skip' must not be negative", false),
            ("find", "skip:true", "skip", "'skip' must be a number", false),
            ("findOne", "filter:'{}'", "filter", "'filter' must be an object", false),
            ("insertOne", "", "document", "must provide a 'document' field", true),
            ("insertOne", "document:null", "document", "must provide a 'document' field", true),
            ("insertOne", "document:[]", "document", "'document' must be an object", false),
            ("insertMany", "", "documents", "must provide a 'documents' field", true),
            ("insertMany", "documents:[]", "documents", "must provide at least one element", false),
            ("insertMany", "documents:{}", "documents", "'documents' must be an array", false),
            ("insertMany", "documents:[{},5]", "documents[1]", "'documents[1]' must be an object", false),
            ("updateOne", "update:{}", "filter", "must provide a 'filter' field", true),
            ("updateOne", "filter:{}", "update", "must provide a 'update' field", true),
            ("updateOne", "filter:{},update:5", "update", "'update' must be an object or an array", false),
            (
                "updateOne", "filter:{},update:{$set:{a:1}},upsert:1", "upsert", "'upsert' must be a boolean",
                false
            ), ("updateOne", "filter:{},update:[5]", "update[0]", "'update[0]' must be an object", false),
            (
                "updateMany", "filter:{},update:{$set:{a:1}},arrayFilters:{}", "arrayFilters",
                "'arrayFilters' must be an array", false
            ),
            (
                "updateMany", "filter:{},update:{$set:{a:1}},arrayFilters:[1]", "arrayFilters[0]",
                "'arrayFilters[0]' must be an object", false
            ),
            ("replaceOne", "filter:{}", "replacement", "must provide a 'replacement' field", true),
            (
                "replaceOne", "filter:{},replacement:{$set:{a:1}}", "replacement",
                "the replace operation document must not contain atomic operators", false
            ),
            (
                "replaceOne", "filter:{},replacement:[]", "replacement", "'replacement' must be an object",
                false
            ), ("deleteOne", "", "filter", "must provide a 'filter' field", true),
            ("deleteMany", "filter:null", "filter", "must provide a 'filter' field", true),
            ("aggregate", "", "pipeline", "must provide a 'pipeline' field", true),
            ("aggregate", "pipeline:{}", "pipeline", "'pipeline' must be an array", false),
            ("aggregate", "pipeline:[1]", "pipeline[0]", "'pipeline[0]' must be an object", false),
        ]
    )
    func members(action: String, members: String, field: String, message: String, isMissing: Bool) throws {
        let error = #expect(throws: ServiceError.self) { try parse(action, members) }
        #expect(error?.code == (isMissing ? .missingParameter : .invalidParameter))
        #expect(error?.message == message)
        #expect(error?.details[field] != nil)
    }

    @Test(
        "names the part of the namespace at fault",
        arguments: [
            ("{database:'d',collection:'c'}", "dataSource"), ("{dataSource:'s',collection:'c'}", "database"),
            ("{dataSource:'s',database:'d'}", "collection"),
            ("{dataSource:1,database:'d',collection:'c'}", "dataSource"),
            ("{dataSource:'',database:'d',collection:'c'}", "dataSource"),
            ("{dataSource:'s',database:{a:1},collection:'c'}", "database"),
            ("{dataSource:'s',database:'a.b',collection:'c'}", "database"),
            ("{dataSource:'s',database:'a b',collection:'c'}", "database"),
            ("{dataSource:'s',database:'a$b',collection:'c'}", "database"),
            ("{dataSource:'s',database:'d',collection:'system.users'}", "collection"),
            ("{dataSource:'s',database:'d',collection:'$x'}", "collection"),
            ("{dataSource:'s',database:'d',collection:'.x'}", "collection"),
            ("{dataSource:'s',database:'d',collection:''}", "collection"),
            ("{dataSource:'s',database:'d',collection:['c']}", "collection"),
        ]
    )
    func namespace(body: String, field: String) throws {
        let error = #expect(throws: ServiceError.self) {
            try OperationParser.parse(action: "find", body: MQLText.document(body.json))
        }
        #expect([.missingParameter, .invalidParameter].contains(error?.code))
        #expect(error?.details[field] != nil)
        #expect(error?.message.contains("'\(field)'") == true)
    }

    @Test("bounds names, whatever characters they have")
    func names() throws {
        func parse(_ database: String, _ collection: String) throws -> DataOperation {
            try OperationParser.parse(
                action: "find",
                body: ["dataSource": "s", "database": .string(database), "collection": .string(collection)]
            )
        }
        #expect(try parse("d'\u{e9};--", "it's \"a\" .. b").namespace.name == "d'\u{e9};--.it's \"a\" .. b")
        #expect(throws: ServiceError.self) { try parse(String(repeating: "d", count: 64), "c") }
        #expect(throws: ServiceError.self) { try parse("d", String(repeating: "c", count: 254)) }
        #expect(throws: ServiceError.self) { try parse("d\0", "c") }
        #expect(throws: ServiceError.self) { try parse("d", "c\0") }
        for character in "/\\. \"$" {
            #expect(throws: ServiceError.self) { try parse("a\(character)b", "c") }
        }
        #expect(
            try parse(String(repeating: "d", count: 63), String(repeating: "c", count: 191)).namespace
                .dataSource == "s"
        )
    }

    @Test("passes on MongoDB's code for what MongoDB refuses, and knows no other action")
    func others() {
        #expect(MQLText.code { _ = try parse("find", "filter:{$who:1}") } == 2)
        #expect(MQLText.code { _ = try parse("find", "sort:{a:'x'}") } == 15974)
        #expect(MQLText.code { _ = try parse("find", "projection:{a:1,b:0}") } == 31254)
        #expect(MQLText.code { _ = try parse("updateMany", "filter:{},update:{a:1}") } == 9)
        #expect(MQLText.code { _ = try parse("replaceOne", "filter:{},replacement:{a:1,$b:1}") } == 52)
        #expect(MQLText.code { _ = try parse("insertOne", "document:{_id:[1]}") } == 53)
        let error = #expect(throws: ServiceError.self) { try parse("dropDatabase", "") }
        #expect(error?.code == .endpointNotFound)
    }
}
