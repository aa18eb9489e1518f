/// The rows of `reference/mql.md` as cases: §§2–6.
enum ReferenceTables {
    struct FilterRow {
        let document: String
        let filter: String
        let matches: Bool

        init(_ document: String, _ filter: String, _ matches: Bool) {
            (self.document, self.filter, self.matches) = (document, filter, matches)
        }
    }

    /// Documents, the members of a request, and the documents that come, or a code.
    struct Row {
        let documents: String
        let members: String
        let expected: String

        init(_ documents: String, _ members: String, _ expected: String) {
            (self.documents, self.members, self.expected) = (documents, members, expected)
        }
    }

    typealias F = FilterRow
    typealias R = Row

    // §2: paths, null and missing. §3.1: an operator a line.
    static let filters: [FilterRow] = [
        F(#"{"a":[1,2,3]}"#, #"{"a":2}"#, true), F(#"{"a":[1,2,3]}"#, #"{"a":[1,2,3]}"#, true),
        F(#"{"a":[[1,2],[3]]}"#, #"{"a":[1,2]}"#, true), F(#"{"a":[[1,2]]}"#, #"{"a":1}"#, false),
        F(#"{"a":[{"b":1},{"b":2}]}"#, #"{"a.b":2}"#, true), F(#"{"a":[[{"b":1}]]}"#, #"{"a.b":1}"#, false),
        F(#"{"a":[7,8,9]}"#, #"{"a.1":8}"#, true), F(#"{"a":{"1":8}}"#, #"{"a.1":8}"#, true),
        F(#"{"a":[0,{"1":2},3]}"#, #"{"a.1":2}"#, true),
        F(#"{"a":[70,95]}"#, #"{"a":{"$gte":80,"$lte":90}}"#, true),
        F(#"{"a":[70,95]}"#, #"{"a":{"$elemMatch":{"$gte":80,"$lte":90}}}"#, false),
        F(#"{"a":[1,2]}"#, #"{"a":{"$ne":2}}"#, false), F(#"{"a":[1,null]}"#, #"{"a":null}"#, true),
        F(#"{"a":[]}"#, #"{"a":null}"#, false), F(#"{"a":null}"#, #"{"a":{"$exists":true}}"#, true),
        F("{}", #"{"a.b":null}"#, true), F("{}", #"{"a.b":{"$exists":false}}"#, true),
        F(#"{"a":5}"#, #"{"a.b":null}"#, true), F(#"{"a":5}"#, #"{"a.b":{"$exists":false}}"#, true),
        F(#"{"a":{}}"#, #"{"a.b":null}"#, true), F(#"{"a":{}}"#, #"{"a.b":{"$exists":false}}"#, true),
        F(#"{"a":[{"b":1},{"c":2}]}"#, #"{"a.b":null}"#, true),
        F(#"{"a":[{"b":1},{"c":2}]}"#, #"{"a.b":{"$exists":false}}"#, false),
        F(#"{"a":[{"b":1},5]}"#, #"{"a.b":null}"#, false),
        F(#"{"a":[{"b":1},[]]}"#, #"{"a.b":{"$exists":false}}"#, false),
        F(#"{"a":[1]}"#, #"{"a.b":null}"#, false), F(#"{"a":[]}"#, #"{"a.b":{"$exists":false}}"#, true),
        F(#"{"a":[[{"b":1}]]}"#, #"{"a.b":null}"#, false),
        F(#"{"a":[[{"b":1}]]}"#, #"{"a.b":{"$exists":false}}"#, true),
        F(#"{"a":1}"#, #"{"a":{"$eq":1.0}}"#, true),
        F(#"{"a":{"x":1,"y":2}}"#, #"{"a":{"y":2,"x":1}}"#, false),
        F(#"{"a":true}"#, #"{"a":1}"#, false), F(#"{"a":{"$numberDecimal":"1.00"}}"#, #"{"a":1}"#, true),
        F(#"{"a":0.1}"#, #"{"a":{"$numberDecimal":"0.1"}}"#, false), F("{}", #"{"a":{"$ne":5}}"#, true),
        F("{}", #"{"a":{"$ne":null}}"#, false), F(#"{"a":"x"}"#, #"{"a":{"$gt":5}}"#, false),
        F("{}", #"{"a":{"$gte":null}}"#, true), F(#"{"a":null}"#, #"{"a":{"$gt":null}}"#, false),
        F(#"{"a":{"$numberDouble":"NaN"}}"#, #"{"a":{"$gte":{"$numberDouble":"NaN"}}}"#, true),
        F(#"{"a":{"$numberDouble":"NaN"}}"#, #"{"a":{"$lt":5}}"#, false),
        F(#"{"a":5}"#, #"{"a":{"$gt":{"$minKey":1}}}"#, true),
        F(#"{"a":[1,2]}"#, #"{"a":{"$lt":[1,3]}}"#, true),
        F(#"{"a":"b1"}"#, #"{"a":{"$in":[{"$regularExpression":{"pattern":"^b","options":""}}]}}"#, true),
        F("{}", #"{"a":{"$in":[null]}}"#, true), F(#"{"a":1}"#, #"{"a":{"$in":[]}}"#, false),
        F(#"{"a":3}"#, #"{"a":{"$nin":[1,2]}}"#, true),
        F(#"{"a":1,"b":2}"#, #"{"$and":[{"a":1},{"b":2}]}"#, true),
        F(#"{"a":1}"#, #"{"$or":[{"a":2},{"a":1}]}"#, true),
        F(#"{"a":1}"#, #"{"$nor":[{"a":2},{"b":1}]}"#, true),
        F("{}", #"{"a":{"$not":{"$gt":1}}}"#, true), F(#"{"a":""}"#, #"{"a":{"$exists":""}}"#, true),
        F(#"{"a":1}"#, #"{"a":{"$exists":0}}"#, false),
        F(#"{"a":[1,"x"]}"#, #"{"a":{"$type":"string"}}"#, true),
        F(#"{"a":[1]}"#, #"{"a":{"$type":"array"}}"#, true),
        F(#"{"a":{"$numberLong":"5"}}"#, #"{"a":{"$type":"int"}}"#, false),
        F(#"{"a":2.5}"#, #"{"a":{"$type":["number"]}}"#, true), F("{}", #"{"a":{"$type":"null"}}"#, false),
        F(#"{"a":1,"b":0}"#, #"{"$expr":{"$gt":["$a","$b"]}}"#, true),
        F(#"{"b":null}"#, #"{"$expr":{"$lt":["$a","$b"]}}"#, true),
        F(#"{"a":-7}"#, #"{"a":{"$mod":[4,-3]}}"#, true), F(#"{"a":7.9}"#, #"{"a":{"$mod":[4,3]}}"#, true),
        F(#"{"a":{"$numberDouble":"Infinity"}}"#, #"{"a":{"$mod":[4,3]}}"#, false),
        F(#"{"a":"Straße\n"}"#, #"{"a":{"$regex":"^str.*e$","$options":"i"}}"#, true),
        F(#"{"a":["x","ab"]}"#, #"{"a":{"$regex":"B","$options":"i"}}"#, true),
        F(#"{"a":[1,2,3]}"#, #"{"a":{"$all":[3,1]}}"#, true), F(#"{"a":1}"#, #"{"a":{"$all":[1]}}"#, true),
        F(#"{"a":[1]}"#, #"{"a":{"$all":[]}}"#, false),
        F(#"{"a":[[1,2]]}"#, #"{"a":{"$all":[[1,2]]}}"#, true),
        F(#"{"a":[{"b":1,"c":1},{"b":2}]}"#, #"{"a":{"$elemMatch":{"b":2,"c":1}}}"#, false),
        F(#"{"a":[{"b":1,"c":1}]}"#, #"{"a":{"$all":[{"$elemMatch":{"b":1,"c":1}}]}}"#, true),
        F(#"{"a":5}"#, #"{"a":{"$elemMatch":{"$gt":1}}}"#, false),
        F(#"{"a":[1,2]}"#, #"{"a":{"$size":2.0}}"#, true),
        F(#"{"a":6}"#, #"{"a":{"$bitsAllSet":[1,2]}}"#, true),
        F(#"{"a":6}"#, #"{"a":{"$bitsAnySet":1}}"#, false),
        F(#"{"a":6}"#, #"{"a":{"$bitsAllClear":9}}"#, true),
        F(#"{"a":-1}"#, #"{"a":{"$bitsAnyClear":[63]}}"#, false),
        F(
            #"{"a":"x"}"#,
            #"{"$jsonSchema":{"required":["a"],"properties":{"a":{"bsonType":"string"}}}}"#,
            true
        ),
        F(#"{"a":1}"#, #"{"a":1,"$comment":"why"}"#, true),
    ]

    static let filterErrors: [(filter: String, code: Int)] = [
        (#"{"a":{"$ne":{"$regularExpression":{"pattern":"a","options":""}}}}"#, 2), (#"{"a":{"$in":1}}"#, 2),
        (#"{"$and":[]}"#, 2), (#"{"a":{"$not":{}}}"#, 2), (#"{"a":{"$type":true}}"#, 14),
        (#"{"a":{"$type":[]}}"#, 9),
        (#"{"a":{"$mod":[0,1]}}"#, 2), (#"{"a":{"$regex":"(","$options":""}}"#, 51091),
        (#"{"a":{"$regex":"a","$options":"q"}}"#, 51108), (#"{"a":{"$options":"i"}}"#, 2),
        (#"{"a":{"$all":1}}"#, 2),
        (#"{"a":{"$elemMatch":1}}"#, 2), (#"{"a":{"$size":-1}}"#, 2), (#"{"a":{"$foo":1}}"#, 2),
        (#"{"$foo":1}"#, 2),
    ]

    // §4: order, skip, limit. §5: projections.
    static let finds: [Row] = [
        R(
            #"{"_id":1,"a":[3,0]},{"_id":2,"a":1},{"_id":3,"a":[]},{"_id":4}"#,
            #"{"sort":{"a":1},"projection":{"_id":1}}"#,
            #"{"_id":3},{"_id":4},{"_id":1},{"_id":2}"#
        ),
        R(
            #"{"_id":1,"a":[3,0]},{"_id":2,"a":1},{"_id":3,"a":[]},{"_id":4}"#,
            #"{"sort":{"a":-1},"projection":{"_id":1}}"#,
            #"{"_id":1},{"_id":2},{"_id":4},{"_id":3}"#
        ),
        R(
            #"{"_id":1,"a":[{"b":5},{"b":1}]},{"_id":2,"a":{"b":3}}"#,
            #"{"sort":{"a.b":1},"skip":1,"projection":{"_id":1}}"#,
            #"{"_id":2}"#
        ),
        R(
            #"{"_id":1,"a":"x"},{"_id":2,"a":true},{"_id":3,"a":{}},{"_id":4,"a":7}"#,
            #"{"sort":{"a":1},"limit":3,"projection":{"_id":1}}"#,
            #"{"_id":4},{"_id":1},{"_id":3}"#
        ),
        R(#"{"_id":1}"#, #"{"sort":{"a":2}}"#, "error 15975"),
        R(#"{"_id":1}"#, #"{"sort":{"a":"asc"}}"#, "error 15974"),
        R(#"{"_id":1}"#, #"{"skip":-1}"#, "error 2"), R(#"{"_id":1}"#, #"{"limit":"1"}"#, "error 14"),
        R(#"{"_id":1,"a":1,"b":2}"#, #"{"projection":{"_id":0}}"#, #"{"a":1,"b":2}"#),
        R(#"{"_id":1,"a":1,"b":2}"#, #"{"projection":{"_id":1}}"#, #"{"_id":1}"#),
        R(
            #"{"_id":1,"a":1,"b":2}"#,
            #"{"projection":{"b":1,"x":"$a","y":"lit"}}"#,
            #"{"_id":1,"b":2,"x":1,"y":"lit"}"#
        ),
        R(
            #"{"_id":1,"a":[{"b":1,"c":2},5,{"c":3}]}"#,
            #"{"projection":{"a.b":1}}"#,
            #"{"_id":1,"a":[{"b":1},{}]}"#
        ),
        R(
            #"{"_id":1,"a":[{"b":1,"c":2},5]}"#,
            #"{"projection":{"a":{"b":0}}}"#,
            #"{"_id":1,"a":[{"c":2},5]}"#
        ),
        R(
            #"{"_id":1,"a":[1,2,3],"b":1}"#,
            #"{"projection":{"a":{"$slice":-2}}}"#,
            #"{"_id":1,"a":[2,3],"b":1}"#
        ),
        R(
            #"{"_id":1,"a":[1,2,3],"b":1}"#,
            #"{"projection":{"a":{"$slice":[1,1]},"b":1}}"#,
            #"{"_id":1,"a":[2],"b":1}"#
        ),
        R(
            #"{"_id":1,"b":1,"a":[1,5,9]}"#,
            #"{"projection":{"a":{"$elemMatch":{"$gt":4}},"b":1}}"#,
            #"{"_id":1,"b":1,"a":[5]}"#
        ),
        R(
            #"{"_id":1,"a":[1,5,9]}"#,
            #"{"filter":{"a":{"$gt":4}},"projection":{"a.$":1}}"#,
            #"{"_id":1,"a":[5]}"#
        ),
        R(#"{"_id":1}"#, #"{"projection":{"a":1,"b":0}}"#, "error 31254"),
        R(#"{"_id":1}"#, #"{"projection":{"a":0,"b":1}}"#, "error 31253"),
        R(#"{"_id":1}"#, #"{"projection":{"a":1,"a.b":1}}"#, "error 31249"),
        R(#"{"_id":1}"#, #"{"projection":{"a":{"$foo":1}}}"#, "error 31325"),
        R(#"{"_id":1}"#, #"{"projection":{"a.b":{"$elemMatch":{}}}}"#, "error 31275"),
    ]

    // §6: an operator a line, then positional forms and conflicts.
    static let updates: [Row] = [
        R(#"{"_id":1,"a":[1]}"#, #"{"update":{"$set":{"a.3":4}}}"#, #"{"_id":1,"a":[1,null,null,4]}"#),
        R(#"{"_id":1}"#, #"{"update":{"$set":{"arr.0":1}}}"#, #"{"_id":1,"arr":{"0":1}}"#),
        R(#"{"_id":1,"a":5}"#, #"{"update":{"$set":{"a.b":1}}}"#, "error 28"),
        R(
            #"{"_id":1,"a":[1,2],"b":1}"#,
            #"{"update":{"$unset":{"a.0":"","b":""}}}"#,
            #"{"_id":1,"a":[null,2]}"#
        ),
        R(
            #"{"_id":1,"a":2147483647}"#,
            #"{"update":{"$inc":{"a":1,"n":5}}}"#,
            #"{"_id":1,"a":2147483648,"n":5}"#
        ),
        R(#"{"_id":1,"a":"x"}"#, #"{"update":{"$inc":{"a":1}}}"#, "error 14"),
        R(#"{"_id":1,"a":3}"#, #"{"update":{"$mul":{"a":2,"m":4}}}"#, #"{"_id":1,"a":6,"m":0}"#),
        R(
            #"{"_id":1,"a":3,"b":3}"#,
            #"{"update":{"$min":{"a":2.5},"$max":{"b":"x","c":1}}}"#,
            #"{"_id":1,"a":2.5,"b":"x","c":1}"#
        ),
        R(#"{"_id":1,"a":3,"b":4}"#, #"{"update":{"$rename":{"a":"b","x":"y"}}}"#, #"{"_id":1,"b":3}"#),
        R(#"{"_id":1}"#, #"{"update":{"$setOnInsert":{"a":1}}}"#, #"{"_id":1}"#),
        R(
            #"{"_id":1}"#,
            #"{"update":{"$currentDate":{"d":true}}}"#,
            #"{"_id":1,"d":{"$date":"2023-11-14T22:13:20.123Z"}}"#
        ),
        R(
            #"{"_id":1,"a":[3,1]}"#,
            #"{"update":{"$push":{"a":{"$each":[2,5],"$position":0,"$sort":1,"$slice":-3}}}}"#,
            #"{"_id":1,"a":[2,3,5]}"#
        ),
        R(
            #"{"_id":1,"a":[1]}"#,
            #"{"update":{"$push":{"a":[2,3],"n":1}}}"#,
            #"{"_id":1,"a":[1,[2,3]],"n":[1]}"#
        ),
        R(
            #"{"_id":1,"a":[1,{"x":1,"y":2}]}"#,
            #"{"update":{"$addToSet":{"a":{"$each":[1.0,{"y":2,"x":1}]}}}}"#,
            #"{"_id":1,"a":[1,{"x":1,"y":2},{"y":2,"x":1}]}"#
        ),
        R(#"{"_id":1,"a":[1,2,3]}"#, #"{"update":{"$pop":{"a":-1}}}"#, #"{"_id":1,"a":[2,3]}"#),
        R(#"{"_id":1,"a":[1]}"#, #"{"update":{"$pop":{"a":2}}}"#, "error 9"),
        R(
            #"{"_id":1,"a":[{"x":1,"y":1},{"x":2},3]}"#,
            #"{"update":{"$pull":{"a":{"x":1}}}}"#,
            #"{"_id":1,"a":[{"x":2},3]}"#
        ),
        R(#"{"_id":1,"a":[1,5,9]}"#, #"{"update":{"$pull":{"a":{"$gte":5}}}}"#, #"{"_id":1,"a":[1]}"#),
        R(#"{"_id":1,"a":[1,2,1]}"#, #"{"update":{"$pullAll":{"a":[1]}}}"#, #"{"_id":1,"a":[2]}"#),
        R(
            #"{"_id":1,"a":6}"#,
            #"{"update":{"$bit":{"a":{"xor":3},"b":{"or":4}}}}"#,
            #"{"_id":1,"a":5,"b":4}"#
        ),
        R(
            #"{"_id":1,"a":[1,5,9]}"#,
            #"{"filter":{"a":{"$gte":5}},"update":{"$set":{"a.$":0}}}"#,
            #"{"_id":1,"a":[1,0,9]}"#
        ),
        R(#"{"_id":1,"a":[1]}"#, #"{"update":{"$set":{"a.$":0}}}"#, "error 2"),
        R(#"{"_id":1,"a":[1,2]}"#, #"{"update":{"$inc":{"a.$[]":1}}}"#, #"{"_id":1,"a":[2,3]}"#),
        R(
            #"{"_id":1,"a":[{"x":1},{"x":5}]}"#,
            #"{"update":{"$set":{"a.$[e].x":0}},"arrayFilters":[{"e.x":{"$gt":3}}]}"#,
            #"{"_id":1,"a":[{"x":1},{"x":0}]}"#
        ),
        R(#"{"_id":1,"a":[1]}"#, #"{"update":{"$set":{"b":1}},"arrayFilters":[{"e":1}]}"#, "error 9"),
        R(#"{"_id":1,"a":[1]}"#, #"{"update":{"$set":{"a.$[e]":1}}}"#, "error 2"),
        R(#"{"_id":1}"#, #"{"update":{"$set":{"a":1,"a.b":2}}}"#, "error 40"),
        R(#"{"_id":1}"#, #"{"update":{"$set":{"_id":2}}}"#, "error 66"),
        R(#"{"_id":1}"#, #"{"update":{"$set":{"a.":1}}}"#, "error 56"),
        R(#"{"_id":1}"#, #"{"update":{"$foo":{"a":1}}}"#, "error 9"),
        R(#"{"_id":1}"#, #"{"update":{"$set":{"c":1,"b":2,"a":3}}}"#, #"{"_id":1,"a":3,"b":2,"c":1}"#),
        R(
            #"{"_id":1,"a":2}"#,
            #"{"update":[{"$set":{"b":{"$multiply":["$a",3]}}},{"$unset":"a"}]}"#,
            #"{"_id":1,"b":6}"#
        ),
        R(#"{"_id":1,"a":2}"#, #"{"update":{"$set":{}}}"#, #"{"_id":1,"a":2}"#),
    ]
}
