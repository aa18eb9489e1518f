import BSON
import Errors
import MQL
import Testing

@Suite("Document of an upsert")
struct UpsertTests {
    private static let newID = ObjectID(seconds: 1, unique: 2)

    private func upserted(_ filter: String, _ update: String) throws -> BSONDocument {
        try UpdateParser.parse(MQLText.value(update.json), multi: false)
            .upsertDocument(filter: MQLText.filter(filter.json), MQLText.context) { Self.newID }
    }

    @Test(
        "starts from the equalities of the filter",
        arguments: [
            ("{_id:1,a:1}", "{$set:{b:2}}", "{_id:1,a:1,b:2}"),
            ("{_id:1,b:1,a:{$eq:2}}", "{$inc:{n:1}}", "{_id:1,a:2,b:1,n:1}"),
            ("{_id:1,a:{$in:[5]}}", "{$set:{}}", "{_id:1,a:5}"),
            ("{_id:1,a:{$in:[5,6]}}", "{$set:{}}", "{_id:1}"),
            ("{_id:1,a:{$all:[5]}}", "{$set:{}}", "{_id:1,a:5}"),
            ("{$and:[{_id:1},{a:2}]}", "{$set:{}}", "{_id:1,a:2}"),
            ("{_id:1,$or:[{a:2}]}", "{$set:{}}", "{_id:1,a:2}"),
            ("{_id:1,$or:[{a:2},{b:2}]}", "{$set:{}}", "{_id:1}"),
            ("{_id:1,'a.b':2,'a.c':3}", "{$set:{}}", "{_id:1,a:{b:2,c:3}}"),
            ("{_id:1,a:{$gt:2},b:{$ne:1},c:{$regex:'x'}}", "{$set:{}}", "{_id:1}"),
            ("{_id:1,a:{$eq:{$regularExpression:{pattern:'x',options:''}}}}", "{$set:{}}", "{_id:1}"),
            ("{_id:1,a:2}", "{$inc:{a:3}}", "{_id:1,a:5}"),
            ("{_id:1,a:2}", "{$setOnInsert:{b:1},$set:{a:3}}", "{_id:1,a:3,b:1}"),
            ("{a:2}", "{$setOnInsert:{_id:7}}", "{_id:7,a:2}"),
            ("{a:1}", "{$set:{b:1}}", "{_id:{$oid:'000000010000000000000002'},a:1,b:1}"),
            ("{_id:1,a:2}", "{b:3}", "{_id:1,b:3}"), ("{a:2}", "{b:3,_id:4}", "{_id:4,b:3}"),
            ("{_id:1,a:[1,2]}", "{$set:{'a.$[]':0}}", "{_id:1,a:[0,0]}"),
            ("{'_id.x':1}", "{$set:{}}", "{_id:{x:1}}"), ("{_id:1,a:null}", "{$set:{}}", "{_id:1,a:null}"),
            ("{$nor:[{a:1}],_id:1}", "{$unset:{a:1}}", "{_id:1}"),
        ]
    )
    func seeds(filter: String, update: String, expected: String) throws {
        let result = ExtendedJSON.canonical(.document(try upserted(filter, update)))
        #expect(try result == MQLText.canonical(expected.json))
    }

    @Test(
        "refuses what is contradictory",
        arguments: [
            (
                "{$and:[{a:1},{a:1}]}", "{$set:{b:1}}", 54,
                "cannot infer query fields to set, path 'a' is matched twice"
            ), ("{a:1,'a.b':1}", "{$set:{b:1}}", 54, "cannot infer query fields to set"),
            ("{_id:1}", "{$set:{_id:2}}", 66, "Performing"), ("{_id:1}", "{_id:2}", 66, "After applying"),
            ("{_id:1,a:5}", "{$set:{'a.$':1}}", 2, "The positional operator did not find"),
            ("{a:[1]}", "{$set:{'a.$':1}}", 2, "The positional operator did not find"),
            ("{a:5}", "{$set:{'a.b':1}}", 28, "Cannot create field 'b' in element {a: 5}"),
            ("{_id:[1]}", "{$set:{a:1}}", 53, "The '_id' value cannot be of type array"),
            ("{'a.':1}", "{$set:{b:1}}", 56, "The update path 'a.'"),
            ("{}", "{$set:{'a.$[]':1}}", 2, "The path 'a' must exist"),
        ]
    )
    func refusals(filter: String, update: String, code: Int, message: String) throws {
        let error = #expect(throws: ServiceError.self) { try upserted(filter, update) }
        #expect(error?.serverCode?.number == code, "\(String(describing: error))")
        #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
    }
}
