// The rows of `reference/mql.md` as cases: what the other files leave of §§2–6.
extension ReferenceTables {
    static let furtherFilters: [FilterRow] = [
        // §2: an array that an index names is seen as a whole; empty components match nothing.
        F(#"{"a":[[1,2]]}"#, #"{"a.0":[1,2]}"#, true), F(#"{"a":[[1,2]]}"#, #"{"a.0":1}"#, false),
        F(#"{"a":{"b":1}}"#, #"{"a..b":1}"#, false), F(#"{"a":null}"#, #"{"a.b":null}"#, true),
        F(#"{"a":null}"#, #"{"a.b":{"$exists":false}}"#, true),
        F(#"{"a":[{"b":1},5]}"#, #"{"a.b":{"$exists":false}}"#, false),
        F("{}", #"{"a":{"$lte":null}}"#, true), F(#"{"a":1}"#, #"{"a":{"$lt":null}}"#, false),
        // §3.1
        F(#"{"a":{"$gt":5}}"#, #"{"a":{"$eq":{"$gt":5}}}"#, true),
        F(#"{"a":"b1"}"#, #"{"a":{"$eq":{"$regularExpression":{"pattern":"^b","options":""}}}}"#, false),
        F(#"{"a":[1,[2]]}"#, #"{"a":{"$in":[[2]]}}"#, true), F("{}", #"{"a":{"$nin":[1]}}"#, true),
        F(#"{"a":[]}"#, #"{"a":{"$exists":true}}"#, true), F("{}", #"{"a":{"$exists":false}}"#, true),
        F(#"{"a":[{"b":[5]}]}"#, #"{"a":{"$elemMatch":{"b":5}}}"#, true),
        F(#"{"a":[1,null]}"#, #"{"a":{"$elemMatch":{}}}"#, false),
        F(#"{"a":[{}]}"#, #"{"a":{"$elemMatch":{}}}"#, true),
        F(#"{"a":"x"}"#, #"{"a":{"$size":1}}"#, false),
        F(#"{"a":{"$binary":{"base64":"Bg==","subType":"00"}}}"#, #"{"a":{"$bitsAllSet":6}}"#, true),
        F(#"{"a":0}"#, #"{"a":{"$bitsAllSet":[]}}"#, true),
        F(#"{"a":7}"#, #"{"a":{"$bitsAnySet":[]}}"#, false),
        F("{}", #"{"$sampleRate":1}"#, true), F("{}", #"{"$sampleRate":0}"#, false),
        F("{}", #"{"$expr":{"$lt":[{"$rand":{}},1]}}"#, true),
    ]

    static let furtherFilterErrors: [(filter: String, code: Int)] = [
        (#"{"$eq":1}"#, 2), (#"{"a":{"$and":[{"b":1}]}}"#, 2), (#"{"$or":[1]}"#, 2), (#"{"$nor":{}}"#, 2),
        (#"{"a":{"$gt":{"$regularExpression":{"pattern":"a","options":""}}}}"#, 2),
        (#"{"a":{"$in":[{"$gt":1}]}}"#, 2), (#"{"a":{"$nin":1}}"#, 2), (#"{"a":{"$not":1}}"#, 2),
        (#"{"a":{"$type":"foo"}}"#, 2), (#"{"a":{"$type":2.5}}"#, 2), (#"{"a":{"$mod":[1]}}"#, 2),
        (#"{"a":{"$mod":["x",1]}}"#, 2), (#"{"a":{"$regex":1}}"#, 2), (#"{"a":{"$regex":"a\u0000"}}"#, 2),
        (#"{"a":{"$regex":{"$regularExpression":{"pattern":"a","options":"i"}},"$options":"m"}}"#, 51075),
        (#"{"a":{"$options":"m","$regex":{"$regularExpression":{"pattern":"a","options":"i"}}}}"#, 51074),
        (#"{"a":{"$all":[{"$elemMatch":{"b":1}},1]}}"#, 2), (#"{"a":{"$all":[{"$gt":1}]}}"#, 2),
        (#"{"a":{"$size":1.5}}"#, 2), (#"{"a":{"$size":"1"}}"#, 2), (#"{"a":{"$bitsAllSet":-1}}"#, 9),
        (#"{"a":{"$bitsAnySet":"x"}}"#, 2), (#"{"$jsonSchema":{"foo":1}}"#, 9), (#"{"$jsonSchema":1}"#, 14),
        (#"{"$expr":{"$foo":1}}"#, 168), (#"{"$where":"1"}"#, 2), (#"{"$text":{"$search":"x"}}"#, 27),
        (#"{"a":{"$geoWithin":{"$box":[[0,0],[1,1]]}}}"#, 2), (#"{"a":{"$near":[0,0]}}"#, 2),
    ]

    static let furtherFinds: [Row] = [
        // §4
        R(
            #"{"_id":1,"a":2,"b":1},{"_id":2,"a":1,"b":1},{"_id":3,"a":1,"b":2}"#,
            #"{"sort":{"a":1,"b":-1},"projection":{"_id":1}}"#,
            #"{"_id":3},{"_id":2},{"_id":1}"#
        ),
        R(#"{"_id":1}"#, #"{"limit":-1}"#, "error 2"), R(#"{"_id":1}"#, #"{"skip":"1"}"#, "error 14"),
        R(#"{"_id":1},{"_id":2}"#, #"{"limit":0}"#, #"{"_id":1},{"_id":2}"#),
        R(
            #"{"_id":1}"#,
            "{\"sort\":{\((0...32).map { "\"f\($0)\":1" }.joined(separator: ","))}}",
            "error 13103"
        ),
        // §5
        R(#"{"_id":1,"a":1}"#, #"{"projection":{}}"#, #"{"_id":1,"a":1}"#),
        R(#"{"_id":1,"b":1,"a":2}"#, #"{"projection":{"a":1,"b":1,"_id":0}}"#, #"{"b":1,"a":2}"#),
        R(#"{"_id":1,"a":1}"#, #"{"projection":{"a":{"$literal":7}}}"#, #"{"_id":1,"a":7}"#),
        R(#"{"_id":1,"a":1}"#, #"{"projection":{"a":0,"b":"$a"}}"#, "error 31310"),
        R(#"{"_id":1}"#, #"{"projection":{"a.b":1,"a":1}}"#, "error 31250"),
        R(#"{"_id":1}"#, #"{"projection":{"a.":1}}"#, "error 40353"),
        R(#"{"_id":1}"#, #"{"projection":{"":1}}"#, "error 40352"),
        R(#"{"_id":1}"#, #"{"projection":{"a..b":1}}"#, "error 15998"),
        R(#"{"_id":1}"#, #"{"projection":{"$a":1}}"#, "error 16410"),
        R(#"{"_id":1,"a":[1,2,3]}"#, #"{"projection":{"a":{"$slice":2}}}"#, #"{"_id":1,"a":[1,2]}"#),
        R(#"{"_id":1}"#, #"{"projection":{"a":{"$slice":[1,0]}}}"#, "error 28724"),
        R(#"{"_id":1}"#, #"{"projection":{"a":{"$elemMatch":1}}}"#, "error 31274"),
        R(#"{"_id":1,"a":5}"#, #"{"projection":{"a":{"$elemMatch":{"$gt":1}}}}"#, #"{"_id":1}"#),
        R(#"{"_id":1}"#, #"{"projection":{"a.$":1,"b.$":1}}"#, "error 31276"),
        R(#"{"_id":1}"#, #"{"projection":{"a.$.b":1}}"#, "error 31394"),
        R(#"{"_id":1}"#, #"{"projection":{"a.$":1,"b":{"$elemMatch":{"x":1}}}}"#, "error 31255"),
        R(#"{"_id":1}"#, #"{"projection":{"b":{"$elemMatch":{"x":1}},"a.$":1}}"#, "error 31256"),
        R(#"{"_id":1,"a":[1],"b":2}"#, #"{"filter":{"b":2},"projection":{"a.$":1}}"#, "error 51246"),
    ]

    static let furtherUpdates: [Row] = [
        R(
            #"{"_id":1,"a":{"$numberLong":"9223372036854775807"}}"#,
            #"{"update":{"$inc":{"a":1}}}"#,
            "error 2"
        ),
        R(
            #"{"_id":1,"a":1}"#,
            #"{"update":{"$inc":{"a":0.5,"b":{"$numberDecimal":"2"}}}}"#,
            #"{"_id":1,"a":1.5,"b":{"$numberDecimal":"2"}}"#
        ),
        R(#"{"_id":1}"#, #"{"update":{"$mul":{"a":"x"}}}"#, "error 14"),
        R(#"{"_id":1}"#, #"{"update":{"$min":{"a":3}}}"#, #"{"_id":1,"a":3}"#),
        R(#"{"_id":1,"a":1}"#, #"{"update":{"$rename":{"a":"a"}}}"#, "error 2"),
        R(#"{"_id":1,"a":[{"b":1}]}"#, #"{"update":{"$rename":{"a.b":"c"}}}"#, "error 2"),
        R(#"{"_id":1}"#, #"{"update":{"$currentDate":{"d":"date"}}}"#, "error 2"),
        R(#"{"_id":1,"a":5}"#, #"{"update":{"$push":{"a":1}}}"#, "error 2"),
        R(#"{"_id":1}"#, #"{"update":{"$push":{"a":{"$each":1}}}}"#, "error 2"),
        R(#"{"_id":1}"#, #"{"update":{"$push":{"a":{"$each":[1],"$foo":1}}}}"#, "error 2"),
        R(
            #"{"_id":1,"a":[{"n":3},{"n":1}]}"#,
            #"{"update":{"$push":{"a":{"$each":[{"n":2}],"$sort":{"n":-1},"$slice":2}}}}"#,
            #"{"_id":1,"a":[{"n":3},{"n":2}]}"#
        ),
        R(
            #"{"_id":1,"a":[1]}"#,
            #"{"update":{"$push":{"a":{"$each":[2,3],"$slice":0}}}}"#,
            #"{"_id":1,"a":[]}"#
        ),
        R(
            #"{"_id":1,"a":[1,2]}"#,
            #"{"update":{"$push":{"a":{"$each":[9],"$position":-1}}}}"#,
            #"{"_id":1,"a":[1,9,2]}"#
        ),
        R(#"{"_id":1,"a":5}"#, #"{"update":{"$addToSet":{"a":1}}}"#, "error 2"),
        R(#"{"_id":1}"#, #"{"update":{"$addToSet":{"a":{"$each":1}}}}"#, "error 14"),
        R(#"{"_id":1,"a":5}"#, #"{"update":{"$pop":{"a":1}}}"#, "error 14"),
        R(#"{"_id":1,"a":[1,{"x":1},{}]}"#, #"{"update":{"$pull":{"a":{}}}}"#, #"{"_id":1,"a":[1]}"#),
        R(#"{"_id":1,"a":5}"#, #"{"update":{"$pull":{"a":1}}}"#, "error 2"),
        R(#"{"_id":1,"a":[1]}"#, #"{"update":{"$pullAll":{"a":1}}}"#, "error 2"),
        R(
            #"{"_id":1,"a":6}"#,
            #"{"update":{"$bit":{"a":{"and":{"$numberLong":"3"}}}}}"#,
            #"{"_id":1,"a":2}"#
        ),
        R(#"{"_id":1,"a":6.0}"#, #"{"update":{"$bit":{"a":{"and":3}}}}"#, "error 2"),
        R(#"{"_id":1,"a":5}"#, #"{"update":{"$set":{"a.$[]":1}}}"#, "error 2"),
        R(#"{"_id":1}"#, #"{"update":{"$set":{"a":1},"b":2}}"#, "error 9"),
        R(
            #"{"_id":1}"#,
            #"{"update":[{"$set":{"t":{"$type":"$$CLUSTER_TIME"}}}]}"#,
            #"{"_id":1,"t":"timestamp"}"#
        ),
        R(#"{"_id":1,"a":{"x":1}}"#, #"{"update":[{"$replaceWith":"$a"}]}"#, #"{"_id":1,"x":1}"#),
    ]
}
