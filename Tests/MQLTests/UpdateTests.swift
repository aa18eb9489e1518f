import BSON
import Errors
import MQL
import Testing

@Suite("Update of a document")
struct UpdateTests {
    @Test(
        "applies each operator",
        arguments: [
            ("{_id:1}", "{$set:{a:1}}", "{_id:1,a:1}"),
            ("{_id:1,a:1,b:2}", "{$set:{a:5}}", "{_id:1,a:5,b:2}"),
            ("{_id:1}", "{$set:{'a.b.c':1}}", "{_id:1,a:{b:{c:1}}}"),
            ("{_id:1}", "{$set:{'arr.0':1}}", "{_id:1,arr:{'0':1}}"),
            ("{_id:1,a:[1,2]}", "{$set:{'a.1':9}}", "{_id:1,a:[1,9]}"),
            ("{_id:1,a:[1]}", "{$set:{'a.3':9}}", "{_id:1,a:[1,null,null,9]}"),
            ("{_id:1,a:[]}", "{$set:{'a.1.b':9}}", "{_id:1,a:[null,{b:9}]}"),
            ("{_id:1}", "{$set:{}}", "{_id:1}"),
            ("{_id:1}", "{$set:{b:1,a:1,'c.10':1,'c.9':1}}", "{_id:1,a:1,b:1,c:{'9':1,'10':1}}"),
            ("{_id:1}", "{$set:{z:1},$inc:{a:1}}", "{_id:1,a:1,z:1}"),
            ("{_id:1,a:1,b:{c:1,d:2}}", "{$unset:{a:'','b.c':''}}", "{_id:1,b:{d:2}}"),
            ("{_id:1,a:[1,2,3]}", "{$unset:{'a.1':''}}", "{_id:1,a:[1,null,3]}"),
            ("{_id:1,a:[1]}", "{$unset:{'a.5':''}}", "{_id:1,a:[1]}"),
            ("{_id:1,a:5}", "{$unset:{'a.b':'','c.d':''}}", "{_id:1,a:5}"),
            ("{_id:1,a:[1]}", "{$unset:{'a.b':''}}", "{_id:1,a:[1]}"),
            ("{_id:1,a:1}", "{$inc:{a:2,b:3}}", "{_id:1,a:3,b:3}"),
            ("{_id:1,a:2147483647}", "{$inc:{a:1}}", "{_id:1,a:{$numberLong:'2147483648'}}"),
            ("{_id:1,a:{$numberLong:'1'}}", "{$inc:{a:1}}", "{_id:1,a:{$numberLong:'2'}}"),
            ("{_id:1,a:1}", "{$inc:{a:1.5}}", "{_id:1,a:2.5}"),
            (
                "{_id:1,a:{$numberDouble:'-0.0'}}", "{$inc:{a:{$numberDouble:'0.0'}}}",
                "{_id:1,a:{$numberDouble:'-0.0'}}"
            ),
            (
                "{_id:1,a:{$numberDecimal:'-0'}}", "{$mul:{a:{$numberInt:'-1'}}}",
                "{_id:1,a:{$numberDecimal:'-0'}}"
            ),
            ("{_id:1,a:1}", "{$inc:{a:{$numberDecimal:'0.1'}}}", "{_id:1,a:{$numberDecimal:'1.1'}}"),
            ("{_id:1,a:3}", "{$mul:{a:2}}", "{_id:1,a:6}"),
            ("{_id:1,a:-0.0}", "{$inc:{a:0.0}}", "{_id:1,a:-0.0}"),
            ("{_id:1,a:-0.0}", "{$mul:{a:-0.0}}", "{_id:1,a:-0.0}"),
            ("{_id:1,a:1}", "{$inc:{a:0.0}}", "{_id:1,a:1.0}"),
            ("{_id:1}", "{$mul:{a:2,b:2.5,c:{$numberLong:'3'}}}", "{_id:1,a:0,b:0.0,c:{$numberLong:'0'}}"),
            ("{_id:1,a:3}", "{$min:{a:2.0,b:1}}", "{_id:1,a:2.0,b:1}"),
            ("{_id:1,a:3}", "{$min:{a:3.0}}", "{_id:1,a:3}"),
            ("{_id:1,a:3}", "{$max:{a:'x'}}", "{_id:1,a:'x'}"),
            ("{_id:1,a:null}", "{$max:{a:-1}}", "{_id:1,a:-1}"),
            ("{_id:1,a:1}", "{$rename:{a:'b'}}", "{_id:1,b:1}"),
            ("{_id:1,a:1,b:2,c:3}", "{$rename:{a:'b'}}", "{_id:1,b:1,c:3}"),
            ("{_id:1}", "{$rename:{a:'b'}}", "{_id:1}"), ("{_id:1,b:2}", "{$rename:{a:'b'}}", "{_id:1,b:2}"),
            ("{_id:1,a:{b:null}}", "{$rename:{'a.b':'c.d'}}", "{_id:1,a:{},c:{d:null}}"),
            ("{_id:1,a:1}", "{$setOnInsert:{a:2,b:3}}", "{_id:1,a:1}"),
            (
                "{_id:1}", "{$currentDate:{a:true,b:{$type:'date'},c:{$type:'timestamp'}}}",
                "{_id:1,a:{$date:{$numberLong:'1700000000000'}},b:{$date:{$numberLong:'1700000000000'}},c:{$timestamp:{t:1700000000,i:1}}}"
            ),
            ("{_id:1,a:[1]}", "{$push:{a:2,b:3}}", "{_id:1,a:[1,2],b:[3]}"),
            ("{_id:1,a:[1]}", "{$push:{a:[2,3]}}", "{_id:1,a:[1,[2,3]]}"),
            ("{_id:1,a:[1]}", "{$push:{a:{$each:[2,3]}}}", "{_id:1,a:[1,2,3]}"),
            ("{_id:1,a:[1,2]}", "{$push:{a:{$each:[9],$position:0}}}", "{_id:1,a:[9,1,2]}"),
            ("{_id:1,a:[1,2]}", "{$push:{a:{$each:[9],$position:-1}}}", "{_id:1,a:[1,9,2]}"),
            ("{_id:1,a:[1,2]}", "{$push:{a:{$each:[9],$position:-99}}}", "{_id:1,a:[9,1,2]}"),
            (
                "{_id:1,a:[1,2]}", "{$push:{a:{$each:[9],$position:{$numberLong:'9223372036854775807'}}}}",
                "{_id:1,a:[1,2,9]}"
            ),
            ("{_id:1,a:[3,1]}", "{$push:{a:{$each:[2],$sort:-1,$slice:2}}}", "{_id:1,a:[3,2]}"),
            ("{_id:1,a:[3,1]}", "{$push:{a:{$each:[2],$slice:-2}}}", "{_id:1,a:[1,2]}"),
            ("{_id:1,a:[3]}", "{$push:{a:{$each:[],$slice:0}}}", "{_id:1,a:[]}"),
            ("{_id:1,a:[{n:2},{n:1},5]}", "{$push:{a:{$each:[],$sort:{n:1}}}}", "{_id:1,a:[5,{n:1},{n:2}]}"),
            ("{_id:1,a:[1]}", "{$push:{a:{$slice:2}}}", "{_id:1,a:[1,{$slice:2}]}"),
            ("{_id:1,a:[1]}", "{$addToSet:{a:1.0,b:{x:1}}}", "{_id:1,a:[1],b:[{x:1}]}"),
            ("{_id:1,a:[{x:1,y:2}]}", "{$addToSet:{a:{y:2,x:1}}}", "{_id:1,a:[{x:1,y:2},{y:2,x:1}]}"),
            ("{_id:1,a:[1]}", "{$addToSet:{a:{$each:[2,2,1,null]}}}", "{_id:1,a:[1,2,null]}"),
            ("{_id:1}", "{$addToSet:{a:{$each:[]}}}", "{_id:1,a:[]}"),
            ("{_id:1,a:[1,2,3]}", "{$pop:{a:1}}", "{_id:1,a:[1,2]}"),
            ("{_id:1,a:[1,2,3]}", "{$pop:{a:-1.0,b:1}}", "{_id:1,a:[2,3]}"),
            ("{_id:1,a:[]}", "{$pop:{a:1}}", "{_id:1,a:[]}"),
            ("{_id:1,a:[1,2,1.0,[1]]}", "{$pull:{a:1}}", "{_id:1,a:[2,[1]]}"),
            ("{_id:1,a:[1,5,9]}", "{$pull:{a:{$gte:5}}}", "{_id:1,a:[1]}"),
            ("{_id:1,a:[{x:1,y:2},{y:3,x:1},{x:2}]}", "{$pull:{a:{x:1}}}", "{_id:1,a:[{x:2}]}"),
            ("{_id:1,a:[{y:2,x:1,z:1},5]}", "{$pull:{a:{x:1,y:2}}}", "{_id:1,a:[5]}"),
            ("{_id:1,a:[{},{x:1},5,null]}", "{$pull:{a:{}}}", "{_id:1,a:[5,null]}"),
            (
                "{_id:1,a:['abc','x']}", "{$pull:{a:{$regularExpression:{pattern:'b',options:''}}}}",
                "{_id:1,a:['x']}"
            ),
            ("{_id:1,a:[{b:[1]},[{b:5}]]}", "{$pull:{a:{$elemMatch:{b:5}}}}", "{_id:1,a:[{b:[1]}]}"),
            ("{_id:1,a:[{x:1},{y:1}]}", "{$pull:{a:{$or:[{x:1},{z:1}]}}}", "{_id:1,a:[{y:1}]}"),
            ("{_id:1,a:[1,[6]]}", "{$pull:{a:{$gt:5}}}", "{_id:1,a:[1]}"),
            ("{_id:1,a:[1,2]}", "{$pull:{a:{$in:[2,3]},b:1}}", "{_id:1,a:[1]}"),
            ("{_id:1,a:[1,2,2.0,{x:1,y:1}]}", "{$pullAll:{a:[2,{y:1,x:1}]}}", "{_id:1,a:[1,{x:1,y:1}]}"),
            ("{_id:1,a:13}", "{$bit:{a:{and:10},b:{or:5}}}", "{_id:1,a:8,b:5}"),
            ("{_id:1,a:1}", "{$bit:{a:{xor:{$numberLong:'3'},or:4}}}", "{_id:1,a:{$numberLong:'6'}}"),
            ("{_id:1,a:1}", "{$set:{_id:1.0,a:2}}", "{_id:1,a:2}"), ("{_id:1,a:1}", "{b:2}", "{_id:1,b:2}"),
            ("{_id:1,a:1}", "{b:2,_id:1}", "{_id:1,b:2}"),
        ]
    )
    func operators(document: String, update: String, expected: String) throws {
        #expect(try MQLText.updated(document.json, update.json) == MQLText.canonical(expected.json))
    }

    @Test(
        "reaches array elements",
        arguments: [
            ("{_id:1,a:[1,5]}", "{a:5}", "{$set:{'a.$':9}}", [], "{_id:1,a:[1,9]}"),
            ("{_id:1,a:[{b:1},{b:2}]}", "{'a.b':2}", "{$set:{'a.$.c':9}}", [], "{_id:1,a:[{b:1},{b:2,c:9}]}"),
            (
                "{_id:1,a:[{b:1},{b:2}]}", "{a:{$elemMatch:{b:2}}}", "{$inc:{'a.$.b':1}}", [],
                "{_id:1,a:[{b:1},{b:3}]}"
            ),
            ("{_id:1,a:[1,5]}", "{}", "{$inc:{'a.$[]':1}}", [], "{_id:1,a:[2,6]}"),
            ("{_id:1,a:[]}", "{}", "{$inc:{'a.$[]':1}}", [], "{_id:1,a:[]}"),
            (
                "{_id:1,a:[{b:[1,2]},{b:[3]}]}", "{}", "{$mul:{'a.$[].b.$[]':2}}", [],
                "{_id:1,a:[{b:[2,4]},{b:[6]}]}"
            ),
            ("{_id:1,a:[1,5,9]}", "{}", "{$set:{'a.$[x]':0}}", ["{x:{$gt:4}}"], "{_id:1,a:[1,0,0]}"),
            (
                "{_id:1,a:[{n:1},{n:5}]}", "{}", "{$set:{'a.$[x].m':0}}", ["{'x.n':5}"],
                "{_id:1,a:[{n:1},{n:5,m:0}]}"
            ),
            (
                "{_id:1,a:[{n:1},{n:5}]}", "{}", "{$set:{'a.$[x].n':0,'a.$[y].m':1}}",
                ["{'x.n':5}", "{'y.n':{$gte:1}}"], "{_id:1,a:[{n:1,m:1},{n:0,m:1}]}"
            ),
            (
                "{_id:1,a:[{n:1},{n:5}]}", "{}", "{$set:{'a.$[].m':0,'a.1.k':1,'a.3':7}}", [],
                "{_id:1,a:[{n:1,m:0},{n:5,k:1,m:0},null,7]}"
            ),
            ("{_id:1,a:[1,2]}", "{}", "{$unset:{'a.$[x]':1}}", ["{$or:[{x:2},{x:3}]}"], "{_id:1,a:[1,null]}"),
            ("{_id:1,a:[1,2]}", "{}", "{$set:{'a.$[x]':1}}", ["{x:9}"], "{_id:1,a:[1,2]}"),
        ] as [(String, String, String, [String], String)]
    )
    func positional(document: String, filter: String, update: String, filters: [String], expected: String)
        throws
    {
        let result = try MQLText.updated(
            document.json,
            update.json,
            filter: filter.json,
            arrayFilters: filters.map(\.json)
        )
        #expect(try result == MQLText.canonical(expected.json))
    }

    @Test("gives a wide document a wide update in time")
    func wide() throws {
        let fields = (0..<20_000).map { BSONDocument.Field(key: "k\($0)", value: .int32(1)) }
        let update = try UpdateParser.parse(
            [
                "$inc": .document(BSONDocument(fields)),
                "$unset": .document(BSONDocument((0..<20_000).map { .init(key: "u\($0)", value: 1) })),
            ],
            multi: true
        )
        var document = BSONDocument(fields)
        document.fields += (0..<20_000).map { .init(key: "u\($0)", value: 1) }
        let result = try update.apply(to: document, filter: .all, isUpsertInsert: false, MQLText.context)
        #expect(result.count == 20_000)
        #expect(result.fields.allSatisfy { $0.value == .int32(2) })
        let array = BSONValue.array((0..<20_000).map { .int32($0) })
        let each = try UpdateParser.parse(
            ["$set": ["a.$[].x": 1, "a.$[x].y": 1]],
            arrayFilters: [["x.z": .null]],
            multi: true
        )
        let objects = BSONValue.array((0..<20_000).map { _ in .document([:]) })
        _ = try each.apply(to: ["a": objects], filter: .all, isUpsertInsert: false, MQLText.context)
        let added = try UpdateParser.parse(
            ["$addToSet": ["a": ["$each": array]], "$pullAll": ["b": array]],
            multi: true
        )
        let both = try added.apply(
            to: ["a": array, "b": array],
            filter: .all,
            isUpsertInsert: false,
            MQLText.context
        )
        #expect(both["b"]?.array?.count == 0)
        #expect(both["a"]?.array?.count == 20_000)
    }
}
