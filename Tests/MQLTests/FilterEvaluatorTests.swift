import BSON
import Errors
import MQL
import Testing

@Suite("Filter on a document")
struct FilterEvaluatorTests {
    @Test(
        "visits the candidates of a path",
        arguments: [
            ("{a:[1,2,3]}", "{a:2}", true),
            ("{a:[1,2,3]}", "{a:[1,2,3]}", true),
            ("{a:[[1,2],[3]]}", "{a:[1,2]}", true),
            ("{a:[[1,2]]}", "{a:1}", false),
            ("{a:[{b:1},{b:2}]}", "{'a.b':2}", true),
            ("{a:[[{b:1}]]}", "{'a.b':1}", false),
            ("{a:[7,8,9]}", "{'a.1':8}", true),
            ("{a:{'1':8}}", "{'a.1':8}", true),
            ("{a:[0,{'1':2},3]}", "{'a.1':2}", true),
            ("{a:[70,95]}", "{a:{$gte:80,$lte:90}}", true),
            ("{a:[70,95]}", "{a:{$elemMatch:{$gte:80,$lte:90}}}", false),
            ("{a:[1,2]}", "{a:{$ne:2}}", false),
            // An index leads to an array as a whole.
            ("{a:[[1,2],3]}", "{'a.0':[1,2]}", true),
            ("{a:[[1,2],3]}", "{'a.0':1}", false),
            ("{a:[[{b:1}]]}", "{'a.0.b':1}", true),
            ("{a:[{b:[4,5]}]}", "{'a.0.b':5}", true),
            ("{a:{'0':[1,2]}}", "{'a.0':1}", true),
            // Empty components match nothing.
            ("{a:{b:1}}", "{'a..b':1}", false),
            ("{a:[7,8]}", "{'a.01':8}", false),
            ("{a:[7,8]}", "{'a.99999999999999999999':8}", false),
        ]
    )
    func candidates(document: String, filter: String, expected: Bool) throws {
        #expect(try MQLText.matches(document.json, filter.json) == expected)
    }

    @Test(
        "tells null from missing",
        arguments: [
            ("{}", true, true), ("{a:5}", true, true), ("{a:null}", true, true), ("{a:{}}", true, true),
            ("{a:[{b:1},{c:2}]}", true, false),
            ("{a:[{b:1},5]}", false, false), ("{a:[{b:1},[]]}", false, false),
            ("{a:[1]}", false, true), ("{a:[]}", false, true), ("{a:[[{b:1}]]}", false, true),
        ]
    )
    func nullAndMissing(document: String, equalsNull: Bool, isAbsent: Bool) throws {
        #expect(try MQLText.matches(document.json, "{'a.b':null}".json) == equalsNull)
        #expect(try MQLText.matches(document.json, "{'a.b':{$in:[null]}}".json) == equalsNull)
        #expect(try MQLText.matches(document.json, "{'a.b':{$gte:null}}".json) == equalsNull)
        #expect(try MQLText.matches(document.json, "{'a.b':{$lte:null}}".json) == equalsNull)
        #expect(try MQLText.matches(document.json, "{'a.b':{$ne:null}}".json) != equalsNull)
        #expect(try MQLText.matches(document.json, "{'a.b':{$gt:null}}".json) == false)
        #expect(try MQLText.matches(document.json, "{'a.b':{$lt:null}}".json) == false)
        #expect(try MQLText.matches(document.json, "{'a.b':{$exists:false}}".json) == isAbsent)
        #expect(try MQLText.matches(document.json, "{'a.b':{$exists:true}}".json) != isAbsent)
    }

    @Test(
        "compares within one bracket of types",
        arguments: [
            ("{a:[1,null]}", "{a:null}", true), ("{a:[]}", "{a:null}", false),
            ("{a:null}", "{a:{$exists:true}}", true), ("{a:null}", "{a:{$exists:0}}", false),
            ("{a:1}", "{a:{$exists:''}}", true),
            ("{a:5}", "{a:{$eq:5.0}}", true), ("{a:5}", "{a:{$gt:4.5,$lt:6}}", true),
            ("{a:'5'}", "{a:{$gt:4}}", false), ("{a:true}", "{a:1}", false),
            ("{a:'b'}", "{a:{$gt:'a'}}", true), ("{a:{x:1,y:2}}", "{a:{y:2,x:1}}", false),
            ("{a:{x:1,y:2}}", "{a:{x:1,y:2.0}}", true), ("{a:{x:2}}", "{a:{$gt:{x:1}}}", true),
            ("{a:[2]}", "{a:{$gt:[1]}}", true), ("{a:1}", "{a:{$gt:[0]}}", false),
            ("{a:{$numberDouble:'NaN'}}", "{a:{$gte:{$numberDouble:'NaN'}}}", true),
            ("{a:{$numberDouble:'NaN'}}", "{a:{$lt:5}}", false),
            ("{a:5}", "{a:{$gte:{$numberDouble:'NaN'}}}", false),
            ("{a:{$numberDouble:'NaN'}}", "{a:{$numberDecimal:'NaN'}}", true),
            ("{a:{$numberDouble:'NaN'}}", "{a:{$gt:{$numberDouble:'NaN'}}}", false),
            ("{a:1}", "{a:{$gt:{$minKey:1}}}", true), ("{a:'x'}", "{a:{$lt:{$maxKey:1}}}", true),
            ("{a:1}", "{a:{$gt:{$maxKey:1}}}", false), ("{}", "{a:{$gte:{$minKey:1}}}", true),
            ("{a:{$numberLong:'9007199254740993'}}", "{a:{$gt:9007199254740992.0}}", true),
            ("{a:{$numberDecimal:'0.1'}}", "{a:0.1}", false),
            ("{a:{$undefined:true}}", "{a:null}", false),
            ("{a:{b:1}}", "{a:{$eq:{$gt:5}}}", false),
        ]
    )
    func comparisons(document: String, filter: String, expected: Bool) throws {
        #expect(try MQLText.matches(document.json, filter.json) == expected)
    }

    @Test(
        "serves every operator on elements and wholes",
        arguments: [
            ("{a:2}", "{a:{$in:[1,2]}}", true), ("{a:[5,2]}", "{a:{$in:[1,2]}}", true),
            ("{a:[1,2]}", "{a:{$in:[[1,2]]}}", true), ("{a:1}", "{a:{$in:[]}}", false),
            ("{}", "{a:{$nin:[1]}}", true), ("{a:[1,2]}", "{a:{$nin:[2]}}", false),
            ("{a:'xyz'}", "{a:{$in:[{$regularExpression:{pattern:'Y',options:'i'}}]}}", true),
            ("{a:1,b:2}", "{$and:[{a:1},{b:2}]}", true), ("{a:1,b:2}", "{$or:[{a:2},{b:2}]}", true),
            ("{a:1,b:2}", "{$nor:[{a:2},{b:2}]}", false), ("{a:1}", "{$nor:[{a:2},{b:2}]}", true),
            ("{a:5}", "{a:{$not:{$gt:3}}}", false), ("{}", "{a:{$not:{$gt:3}}}", true),
            ("{a:[1,5]}", "{a:{$not:{$gt:3}}}", false),
            ("{a:'abc'}", "{a:{$not:{$regularExpression:{pattern:'b',options:''}}}}", false),
            ("{a:[1,'x']}", "{a:{$type:'string'}}", true), ("{a:[1]}", "{a:{$type:'array'}}", true),
            ("{a:1}", "{a:{$type:['string','number']}}", true), ("{a:1}", "{a:{$type:18}}", false),
            ("{a:1}", "{a:{$type:16.0}}", true), ("{}", "{a:{$type:'null'}}", false),
            ("{a:-7}", "{a:{$mod:[4,-3]}}", true), ("{a:-7}", "{a:{$mod:[4,1]}}", false),
            ("{a:7.9}", "{a:{$mod:[4.7,3.2]}}", true), ("{a:'7'}", "{a:{$mod:[4,3]}}", false),
            ("{a:{$numberLong:'-9223372036854775808'}}", "{a:{$mod:[-1,0]}}", true),
            ("{a:{$numberDouble:'Infinity'}}", "{a:{$mod:[4,0]}}", false),
            ("{a:[1,2,3]}", "{a:{$all:[1,2]}}", true), ("{a:[1,3]}", "{a:{$all:[1,2]}}", false),
            ("{a:1}", "{a:{$all:[1]}}", true), ("{a:[1]}", "{a:{$all:[]}}", false),
            ("{a:[1,2]}", "{a:{$all:[[1,2]]}}", true), ("{a:[[1,2]]}", "{a:{$all:[[1,2]]}}", true),
            ("{a:[{b:1},{b:2}]}", "{a:{$all:[{$elemMatch:{b:1}},{$elemMatch:{b:2}}]}}", true),
            ("{a:[{b:1},{b:3}]}", "{a:{$all:[{$elemMatch:{b:1}},{$elemMatch:{b:2}}]}}", false),
            ("{a:[{b:1,c:2},{b:2,c:1}]}", "{a:{$elemMatch:{b:1,c:1}}}", false),
            ("{a:[{b:1,c:2},{b:2,c:1}]}", "{a:{$elemMatch:{b:2,c:1}}}", true),
            ("{a:[1,2]}", "{a:{$elemMatch:{}}}", false), ("{a:[{}]}", "{a:{$elemMatch:{}}}", true),
            ("{a:[[]]}", "{a:{$elemMatch:{}}}", true), ("{a:{b:1}}", "{a:{$elemMatch:{b:1}}}", false),
            ("{a:[[5]]}", "{a:{$elemMatch:{'0':5}}}", true), ("{a:[[5]]}", "{a:{$elemMatch:{$gt:1}}}", false),
            ("{a:[{b:1}]}", "{a:{$elemMatch:{$or:[{b:1},{c:1}]}}}", true),
            ("{a:{b:[1,5]}}", "{'a.b':{$elemMatch:{$gt:4}}}", true),
            ("{a:[[1],[5]]}", "{a:{$elemMatch:{$elemMatch:{$gt:4}}}}", true),
            ("{a:[1,2]}", "{a:{$size:2}}", true), ("{a:[[1,2]]}", "{a:{$size:2}}", false),
            ("{a:[[1,2]]}", "{a:{$size:1.0}}", true), ("{a:'xy'}", "{a:{$size:2}}", false),
            ("{a:[[1,2]]}", "{'a.0':{$size:2}}", true),
            ("{a:5}", "{a:{$bitsAllSet:5}}", true), ("{a:5}", "{a:{$bitsAllSet:[1]}}", false),
            ("{a:5}", "{a:{$bitsAnyClear:[0,1]}}", true), ("{a:-1}", "{a:{$bitsAllSet:[500]}}", true),
            ("{a:5}", "{a:{$bitsAllClear:2}}", true), ("{a:5}", "{a:{$bitsAnySet:0}}", false),
            ("{a:5}", "{a:{$bitsAllSet:0}}", true), ("{a:5.5}", "{a:{$bitsAllSet:0}}", false),
            ("{a:{$binary:{base64:'AQ==',subType:'00'}}}", "{a:{$bitsAllSet:[0]}}", true),
            ("{a:{$binary:{base64:'AQ==',subType:'00'}}}", "{a:{$bitsAllClear:[8,900]}}", true),
            ("{a:1,b:2}", "{$expr:{$gt:['$b','$a']}}", true),
            ("{a:1}", "{$comment:'x',a:{$eq:1,$comment:'y'}}", true),
            ("{a:1}", "{a:{$ref:'c',$id:1}}", false),
        ]
    )
    func operators(document: String, filter: String, expected: Bool) throws {
        #expect(try MQLText.matches(document.json, filter.json) == expected)
    }

    @Test("keeps a large $in over a large array proportional")
    func largeMembership() throws {
        let many = (0..<20_000).map { BSONValue.int32(Int32($0)) }
        let filter = try FilterParser.parse(["a": ["$in": .array(many)]])
        let others = (0..<20_000).map { BSONValue.double(Double($0) + 0.5) }
        #expect(try !filter.matches(["a": .array(others)], MQLText.context))
        #expect(try filter.matches(["a": .array(others + [.int64(19_999)])], MQLText.context))
        #expect(try !filter.matches(["a": .array(others + [.undefined])], MQLText.context))
    }

    @Test("tells names apart by their bytes")
    func bytewiseNames() throws {
        let filter = try FilterParser.parse(["e\u{301}": 1])
        #expect(try !filter.matches(["\u{e9}": 1], MQLText.context))
        let split = try FilterParser.parse(["a.\u{301}b": 1])
        #expect(try split.matches(["a": ["\u{301}b": 1]], MQLText.context))
    }
}

extension String {
    /// JavaScript-like text of the tables as JSON: single quotes become double, bare names get quotes.
    var json: String {
        var out = ""
        var quoted = false
        var word = ""
        func flush() {
            guard !word.isEmpty else { return }
            let literal =
                ["true", "false", "null"].contains(word)
                || word.first.map { $0.isNumber || $0 == "-" } == true
            out += literal ? word : "\"\(word)\""
            word = ""
        }
        for character in self {
            if character == "'" {
                flush()
                quoted.toggle()
                out.append("\"")
            } else if quoted {
                out.append(character)
            } else if character.isLetter || character.isNumber || "$_.-+".contains(character) {
                word.append(character)
            } else {
                flush()
                out.append(character)
            }
        }
        flush()
        return out
    }
}
