import BSON
import Errors
import MQL
import Testing

@Suite("Projection")
struct ProjectionTests {
    @Test(
        "shows what a find asks for",
        arguments: [
            ("{_id:1,a:1,b:2}", "{a:1}", "{_id:1,a:1}"), ("{_id:1,a:1,b:2}", "{a:1,_id:0}", "{a:1}"),
            ("{_id:1,a:1,b:2}", "{a:0}", "{_id:1,b:2}"), ("{_id:1,a:1,b:2}", "{_id:0}", "{a:1,b:2}"),
            ("{_id:1,a:1,b:2}", "{_id:1}", "{_id:1}"), ("{_id:1,a:1,b:2}", "{a:true}", "{_id:1,a:1}"),
            ("{_id:1,a:1,b:2}", "{b:5.5,a:-1}", "{_id:1,a:1,b:2}"), ("{_id:1,a:1}", "{}", "{_id:1,a:1}"),
            ("{_id:1,a:{b:1,c:2}}", "{'a.b':1}", "{_id:1,a:{b:1}}"),
            ("{_id:1,a:{b:1,c:2}}", "{a:{b:1}}", "{_id:1,a:{b:1}}"),
            ("{_id:1,a:{b:1,c:2}}", "{'a.b':0}", "{_id:1,a:{c:2}}"), ("{_id:1,a:5}", "{'a.b':1}", "{_id:1}"),
            ("{_id:1,a:5}", "{'a.b':0}", "{_id:1,a:5}"), ("{_id:1,a:{c:1}}", "{'a.b':1}", "{_id:1,a:{}}"),
            ("{_id:1,a:[{b:1,c:2},5,{c:3},[{b:4,d:1},6]]}", "{'a.b':1}", "{_id:1,a:[{b:1},{},[{b:4}]]}"),
            ("{_id:1,a:[{b:1,c:2},5,{c:3}]}", "{'a.b':0}", "{_id:1,a:[{c:2},5,{c:3}]}"),
            ("{c:3,_id:1,a:1}", "{a:1,c:1}", "{c:3,_id:1,a:1}"),
            ("{_id:1,a:1,b:2}", "{x:'$b',a:1}", "{_id:1,a:1,x:2}"),
            ("{_id:1,a:1,b:2}", "{a:'$b'}", "{_id:1,a:2}"),
            ("{_id:1,a:1}", "{x:'text'}", "{_id:1,x:'text'}"),
            ("{_id:1,a:1}", "{x:['$a',2]}", "{_id:1,x:[1,2]}"),
            ("{_id:1,a:1}", "{x:'$missing'}", "{_id:1}"), ("{_id:1,a:1}", "{_id:'$a',a:1}", "{_id:1,a:1}"),
            ("{_id:1,a:{b:1}}", "{'a.x':'$_id'}", "{_id:1,a:{x:1}}"),
            ("{_id:1,a:[1,{b:2}]}", "{'a.x':'$_id'}", "{_id:1,a:[{x:1},{x:1}]}"),
            ("{_id:1}", "{'a.x':'$_id'}", "{_id:1,a:{x:1}}"),
            ("{_id:1,a:[1,2,3,4],b:1}", "{a:{$slice:2}}", "{_id:1,a:[1,2],b:1}"),
            ("{_id:1,a:[1,2,3,4]}", "{a:{$slice:-3}}", "{_id:1,a:[2,3,4]}"),
            ("{_id:1,a:[1,2,3,4]}", "{a:{$slice:[1,2]}}", "{_id:1,a:[2,3]}"),
            ("{_id:1,a:[1,2,3,4]}", "{a:{$slice:[-3,2]}}", "{_id:1,a:[2,3]}"),
            ("{_id:1,a:[1,2,3,4]}", "{a:{$slice:[-9,1]}}", "{_id:1,a:[1]}"),
            ("{_id:1,a:[1,2,3,4]}", "{a:{$slice:[9,2.9]}}", "{_id:1,a:[]}"),
            ("{_id:1,a:[1,2],b:1,c:1}", "{a:{$slice:1},b:1}", "{_id:1,a:[1],b:1}"),
            ("{_id:1,a:5}", "{a:{$slice:1}}", "{_id:1,a:5}"),
            ("{_id:1,a:[1,2]}", "{_id:0,a:{$slice:1}}", "{a:[1]}"),
            ("{_id:1,a:[1,2],b:1}", "{b:0,a:{$slice:1}}", "{_id:1,a:[1]}"),
            ("{_id:1,a:[1,2]}", "{a:{$slice:{$numberLong:'9223372036854775807'}}}", "{_id:1,a:[1,2]}"),
            ("{_id:1,a:[{b:1},{b:2,c:1},{b:2}],z:1}", "{a:{$elemMatch:{b:2}}}", "{_id:1,a:[{b:2,c:1}]}"),
            ("{_id:1,a:[1,5,7],z:1}", "{a:{$elemMatch:{$gt:4}},z:1}", "{_id:1,z:1,a:[5]}"),
            ("{_id:1,a:[1],z:1}", "{a:{$elemMatch:{$gt:4}}}", "{_id:1}"),
            ("{_id:1,a:7}", "{a:{$elemMatch:{$gt:4}}}", "{_id:1}"),
            ("{_id:1,a:[5,7],z:1,y:2}", "{a:{$elemMatch:{$gt:6}},z:0}", "{_id:1,a:[7],y:2}"),
        ]
    )
    func find(document: String, projection: String, expected: String) throws {
        let original = try MQLText.document(document.json)
        let projection = try ProjectionParser.parse(MQLText.document(projection.json), inPipeline: false)
        let result = try projection?.apply(original, filter: nil, MQLText.context) ?? original
        #expect(ExtendedJSON.canonical(.document(result)) == (try MQLText.canonical(expected.json)))
    }

    @Test(
        "shows the element that the filter matched",
        arguments: [
            ("{_id:1,a:[1,5,7],b:1}", "{a:{$gt:4}}", "{'a.$':1}", "{_id:1,a:[5]}"),
            ("{_id:1,a:[{b:1},{b:2,c:1}]}", "{'a.b':2}", "{'a.$':1}", "{_id:1,a:[{b:2,c:1}]}"),
            ("{_id:1,a:[{b:1},{b:2}]}", "{a:{$elemMatch:{b:2}}}", "{'a.$':1}", "{_id:1,a:[{b:2}]}"),
            ("{_id:1,a:[1,2,3]}", "{a:{$all:[3,2]}}", "{'a.$':1}", "{_id:1,a:[2]}"),
            ("{_id:1,a:[1,2],b:[3,4]}", "{a:2,b:3}", "{'a.$':1}", "{_id:1,a:[2]}"),
            ("{_id:1,a:[1,2,3]}", "{$or:[{a:9},{a:3},{a:1}]}", "{'a.$':1}", "{_id:1,a:[3]}"),
            ("{_id:1,x:{a:[1,2,3]}}", "{'x.a':3}", "{'x.a.$':1}", "{_id:1,x:{a:[3]}}"),
            ("{_id:1,a:[1,2]}", "{a:[1,2]}", "{'a.$':1}", "51246"),
            ("{_id:1,a:[1,2]}", "{a:{$not:{$gt:5}}}", "{'a.$':1}", "51246"),
            ("{_id:1,a:[1,2]}", "{}", "{'a.$':1}", "51246"),
            ("{_id:1,a:5}", "{a:5}", "{'a.$':1}", "{_id:1,a:5}"),
        ]
    )
    func positional(document: String, filter: String, projection: String, expected: String) throws {
        let projection = try #require(
            try ProjectionParser.parse(MQLText.document(projection.json), inPipeline: false)
        )
        let filter = try MQLText.filter(filter.json)
        let outcome: String
        do {
            let result = try projection.apply(
                MQLText.document(document.json),
                filter: filter,
                MQLText.context
            )
            outcome = ExtendedJSON.canonical(.document(result))
        } catch let error as ServiceError {
            outcome = String(error.serverCode?.number ?? 0)
        }
        #expect(outcome == (try MQLText.canonical(expected.json)) || outcome == expected)
    }

    @Test(
        "refuses what does not go together",
        arguments: [
            ("{a:1,b:0}", 31254, "Cannot do exclusion on field b in inclusion projection"),
            ("{a:0,b:1}", 31253, "Cannot do inclusion on field b in exclusion projection"),
            ("{a:0,b:'$x'}", 31310, "Cannot use an expression"),
            ("{a:0,b:{$add:[1,2]}}", 31252, "Cannot use expression other than $meta in exclusion projection"),
            ("{a:'$x',b:0}", 31254, "Cannot do exclusion"),
            ("{a:1,'a.b':1}", 31249, "Path collision at a.b remaining portion b"),
            ("{'a.b':1,a:1}", 31250, "Path collision at a"),
            ("{a:{b:1},'a.b':1}", 31250, "Path collision at a.b"),
            ("{a:{}}", 51270, "An empty sub-projection"),
            ("{'':1}", 40352, "FieldPath"), ("{'a.':1}", 40353, "FieldPath"),
            ("{'a..b':1}", 15998, "FieldPath"), ("{$a:1}", 16410, "FieldPath"),
            ("{a:{$foo:1}}", 31325, ""), ("{a:{$slice:'x'}}", 28667, "Invalid $slice syntax"),
            ("{a:{$slice:[1,0]}}", 28724, ""), ("{a:{$slice:[1]}}", 28667, ""),
            ("{a:{$elemMatch:1}}", 31274, "elemMatch: Invalid argument"),
            ("{'a.b':{$elemMatch:{c:1}}}", 31275, "Cannot use $elemMatch projection on a nested field."),
            ("{'a.$':1,'b.$':1}", 31276, "Cannot specify more than one positional projection per query."),
            ("{'a.$.b':1}", 31394, "As of 4.4"),
            ("{'a.$':1,b:{$elemMatch:{c:1}}}", 31255, "Cannot specify positional"),
            ("{b:{$elemMatch:{c:1}},'a.$':1}", 31256, "Cannot specify positional"),
            ("{'a.$':0}", 31395, "positional"), ("{'a.$':'x'}", 31308, "positional"),
        ]
    )
    func refusals(text: String, code: Int, message: String) throws {
        let error = #expect(throws: ServiceError.self) {
            try ProjectionParser.parse(MQLText.document(text.json), inPipeline: false)
        }
        #expect(error?.serverCode?.number == code, "\(String(describing: error))")
        #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
    }

    @Test(
        "refuses the forms of find in a pipeline",
        arguments: [
            ("{}", 51272), ("{'a.$':1}", 31324), ("{a:{$elemMatch:{b:1}}}", 168), ("{a:{$foo:1}}", 31325),
        ]
    )
    func pipelineRefusals(text: String, code: Int) {
        #expect(
            MQLText.code { _ = try ProjectionParser.parse(MQLText.document(text.json), inPipeline: true) }
                == code
        )
    }
}
