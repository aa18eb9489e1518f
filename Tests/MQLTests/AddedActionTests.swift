import BSON
import Errors
import MQL
import Testing

@Suite("Members that an action does not serve")
struct UnservedMemberTests {
    @Test(
        "are refused by name where they would change what happens",
        arguments: [
            ("updateMany", #"{"filter":{},"update":{"$set":{"a":1}},"sort":{"a":1}}"#, 9),
            ("updateOne", #"{"filter":{},"update":{"$set":{"a":1}},"explain":true}"#, 40415),
            ("deleteOne", #"{"filter":{},"sort":{"a":1}}"#, 40415),
            ("deleteMany", #"{"filter":{},"limit":1}"#, 40415),
            ("find", #"{"min":{"a":1}}"#, 40415), ("find", #"{"returnKey":true}"#, 40415),
            ("findOneAndDelete", #"{"filter":{},"skip":1}"#, 40415),
            (
                "bulkWrite", #"{"operations":[{"deleteOne":{"filter":{},"collation":{"locale":"en"}}}]}"#,
                40415
            ),
        ]
    )
    func refused(action: String, members: String, code: Int) throws {
        var body: BSONDocument = ["dataSource": "s", "database": "d", "collection": "c"]
        for field in try ExtendedJSON.readDocument(Array(members.utf8)) { body[field.key] = field.value }
        let error = #expect(throws: ServiceError.self) {
            _ = try OperationParser.parse(action: action, body: body)
        }
        #expect(error?.serverCode == ServerErrorCode(code))
    }

    @Test("are ignored where they are null, false or say nothing")
    func ignored() throws {
        let body: BSONDocument = [
            "dataSource": "s", "database": "d", "collection": "c", "filter": .document([:]), "sort": .null,
            "explain": .bool(false), "comment": "why",
        ]
        _ = try OperationParser.parse(action: "deleteOne", body: body)
    }
}

@Suite("Added actions: body → operation")
struct AddedActionTests {
    private func parse(_ action: String, _ members: String) throws -> DataAction {
        let body = "{dataSource:'s',database:'d',collection:'c'\(members.isEmpty ? "" : ",")\(members)}"
        return try OperationParser.parse(action: action, body: MQLText.document(body.json)).action
    }

    @Test("read their members")
    func members() throws {
        guard case .count(let count) = try parse("countDocuments", "filter:{a:1},skip:2,limit:3"),
            case .count(let all) = try parse("countDocuments", "limit:0"),
            case .estimatedCount = try parse("estimatedDocumentCount", ""),
            case .distinct(let distinct) = try parse("distinct", "key:'a.b',filter:{c:1}"),
            case .findAndModify(let update) = try parse(
                "findOneAndUpdate",
                "filter:{},update:{$set:{a:1}},sort:{a:-1},projection:{a:1},upsert:true,returnNewDocument:true"
            ),
            case .findAndModify(let replace) = try parse(
                "findOneAndReplace",
                "filter:{},replacement:{a:1},returnDocument:'after'"
            ), case .findAndModify(let delete) = try parse("findOneAndDelete", "filter:{a:1},sort:{a:1}"),
            case .insertMany(let unordered) = try parse("insertMany", "documents:[{}],ordered:false")
        else { return #expect(Bool(false)) }
        #expect(count.skip == 2 && count.limit == 3 && count.filter != .all)
        #expect(all.limit == nil && all.filter == .all)
        #expect(distinct.key.components == ["a", "b"])
        #expect(update.upsert && update.returnsNew && update.sort != nil && update.projection != nil)
        #expect(replace.returnsNew && !replace.upsert)
        guard case .update(.replacement) = replace.change, case .delete = delete.change else {
            return #expect(Bool(false))
        }
        #expect(!unordered.isOrdered)
    }

    @Test("read the operations of a bulkWrite")
    func bulk() throws {
        guard
            case .bulkWrite(let bulk) = try parse(
                "bulkWrite",
                """
                ordered:false,atomic:true,operations:[{insertOne:{document:{a:1}}},
                {updateOne:{filter:{},update:{$set:{a:1}},upsert:true}},{updateMany:{filter:{},update:[{$set:{a:1}}]}},
                {replaceOne:{filter:{},replacement:{}}},{deleteOne:{filter:{}}},{deleteMany:{filter:{a:1}}}]
                """
            )
        else { return #expect(Bool(false)) }
        #expect(!bulk.isOrdered && bulk.isAtomic && bulk.operations.count == 6)
        guard case .insertOne = bulk.operations[0], case .updateOne(let update) = bulk.operations[1],
            case .updateMany = bulk.operations[2], case .updateOne(let replace) = bulk.operations[3],
            case .deleteOne = bulk.operations[4], case .deleteMany = bulk.operations[5]
        else { return #expect(Bool(false)) }
        #expect(update.upsert)
        guard case .replacement = replace.update else { return #expect(Bool(false)) }
    }

    @Test(
        "name the member at fault",
        arguments: [
            ("countDocuments", "filter:1", "filter"), ("countDocuments", "limit:-1", "limit"),
            ("distinct", "", "key"), ("distinct", "key:[]", "key"), ("distinct", "key:1", "key"),
            ("findOneAndUpdate", "update:{}", "filter"), ("findOneAndUpdate", "filter:{}", "update"),
            ("findOneAndUpdate", "filter:{},update:{a:1},returnDocument:'later'", "returnDocument"),
            (
                "findOneAndUpdate", "filter:{},update:{a:1},returnNewDocument:true,returnDocument:'before'",
                "returnDocument"
            ), ("findOneAndReplace", "filter:{}", "replacement"),
            ("findOneAndReplace", "filter:{},replacement:{$set:{a:1}}", "replacement"),
            ("findOneAndDelete", "", "filter"), ("bulkWrite", "", "operations"),
            ("bulkWrite", "operations:[]", "operations"), ("bulkWrite", "operations:[5]", "operations[0]"),
            ("bulkWrite", "operations:[{}]", "operations[0]"),
            ("bulkWrite", "operations:[{insertOne:{document:{}},deleteOne:{filter:{}}}]", "operations[0]"),
            ("bulkWrite", "operations:[{insertOne:{document:{}}},{deleteOne:{}}]", "operations[1].filter"),
            ("bulkWrite", "operations:[{find:{filter:{}}}]", "operations[0].find"),
            ("bulkWrite", "operations:[{deleteOne:{filter:{}}}],ordered:1", "ordered"),
            ("bulkWrite", "operations:[{deleteOne:{filter:{}}}],atomic:'yes'", "atomic"),
            ("insertMany", "documents:[{}],ordered:0", "ordered"),
        ]
    )
    func faults(action: String, members: String, field: String) {
        let error = #expect(throws: ServiceError.self) { try parse(action, members) }
        #expect(error?.details[field] != nil, "\(String(describing: error))")
        #expect(error?.code == .invalidParameter || error?.code == .missingParameter)
    }

    @Test("an operation of a bulkWrite that MongoDB refuses keeps its code and names its place")
    func refused() {
        let error = #expect(throws: ServiceError.self) {
            try parse("bulkWrite", "operations:[{deleteOne:{filter:{}}},{deleteOne:{filter:{a:{$foo:1}}}}]")
        }
        #expect(error?.serverCode == .badValue)
        #expect(error?.message.hasPrefix("operations[1]: ") == true)
    }

    @Test(
        "distinct opens arrays once, along the path and at its end",
        arguments: [
            ("{a:1}", "a", "[1]"), ("{b:1}", "a", "[]"), ("{a:null}", "a", "[null]"),
            ("{a:[1,[2],3]}", "a", "[1,[2],3]"), ("{a:[]}", "a", "[]"), ("{a:{b:[1,2]}}", "a.b", "[1,2]"),
            ("{a:[{b:1},{b:[2,3]},5,{c:1}]}", "a.b", "[1,2,3]"), ("{a:[7,8]}", "a.1", "[8]"),
            ("{a:[[{b:1}]]}", "a.b", "[]"), ("{a:5}", "a.b", "[]"),
        ]
    )
    func distinctValues(document: String, path: String, expected: String) throws {
        let values = FieldPath(path).distinctValues(in: try MQLText.document(document.json))
        #expect(try MQLText.document("{v:\(expected)}".json)["v"] == .array(values))
    }
}
