// The rows of `reference/mql.md` as cases: what §6 says of upserts, and the rows of §§8, 9 say besides, point by point.
extension ReferenceTables {
    /// Nothing matches; what is there afterwards, or a code.
    static let upserts: [(action: String, members: String, expected: String)] = [
        (
            "updateOne",
            #"{"filter":{"_id":1,"a":1,"b":{"$eq":2},"c":{"$in":[3]},"d":{"$all":[4]},"e":{"$gt":5},"$or":[{"f":6}]},"update":{"$set":{"z":1}}}"#,
            #"{"_id":1,"a":1,"b":2,"c":3,"d":4,"f":6,"z":1}"#
        ),
        (
            "updateOne", #"{"filter":{"_id":1,"$or":[{"a":1},{"b":2}]},"update":{"$set":{"z":1}}}"#,
            #"{"_id":1,"z":1}"#
        ),
        (
            "updateOne", #"{"filter":{"_id":1,"$and":[{"a.b":1},{"a.c":2}]},"update":{"$set":{"z":1}}}"#,
            #"{"_id":1,"a":{"b":1,"c":2},"z":1}"#
        ),
        (
            "updateOne",
            #"{"filter":{"_id":1,"a":{"$regularExpression":{"pattern":"x","options":""}},"c":{"$in":[1,2]}},"update":{"$set":{"z":1}}}"#,
            #"{"_id":1,"z":1}"#
        ),
        (
            "updateOne", #"{"filter":{"_id":1,"$and":[{"a":1},{"a":1}]},"update":{"$set":{"z":1}}}"#,
            "error 54"
        ),
        ("replaceOne", #"{"filter":{"_id":1,"a":1},"replacement":{"b":2}}"#, #"{"_id":1,"b":2}"#),
        (
            "updateOne",
            #"{"filter":{"_id":1,"a":1},"update":{"$setOnInsert":{"b":2},"$inc":{"a":1},"$unset":{"c":""}}}"#,
            #"{"_id":1,"a":2,"b":2}"#
        ),
        ("updateOne", #"{"filter":{"_id":1,"a":5},"update":{"$set":{"a.$":1}}}"#, "error 2"),
        (
            "updateOne", #"{"filter":{"_id":1,"a":[1,2]},"update":{"$inc":{"a.$[]":1}}}"#,
            #"{"_id":1,"a":[2,3]}"#
        ),
        (
            "updateOne", #"{"filter":{"_id":1,"a":1},"update":[{"$set":{"b":{"$add":["$a",1]}}}]}"#,
            #"{"_id":1,"a":1,"b":2}"#
        ),
        (
            "updateOne", #"{"filter":{"_id":1},"update":{"$setOnInsert":{"$a":1}}}"#,
            #"{"_id":1,"$a":1}"#
        ),
        ("updateOne", #"{"filter":{"_id":1},"update":{"$set":{"_id":2}}}"#, "error 66"),
        ("updateOne", #"{"filter":{"a":1},"update":{"$set":{"_id":7}}}"#, #"{"_id":7,"a":1}"#),
        ("replaceOne", #"{"filter":{"_id":1},"replacement":{"_id":2}}"#, "error 66"),
    ]

    /// One expression on one document.
    private static func value(_ expression: String, _ expected: String, _ document: String = #"{"_id":1}"#)
        -> Row
    {
        R(
            document,
            #"[{"$project":{"_id":0,"r":\#(expression)}}]"#,
            expected.hasPrefix("error") || expected == "{}" ? expected : "{\"r\":\(expected)}"
        )
    }

    private static func group(_ documents: String, _ accumulator: String, _ expected: String) -> Row {
        R(
            documents,
            #"[{"$group":{"_id":null,"r":\#(accumulator)}}]"#,
            expected.hasPrefix("error") ? expected : "{\"_id\":null,\"r\":\(expected)}"
        )
    }

    private static let some =
        #"{"_id":1,"a":1},{"_id":2,"a":{"$numberDecimal":"2.5"}},{"_id":3,"a":"x"},{"_id":4,"a":null},{"_id":5}"#

    static let remainingPipelines: [Row] = [
        // §8
        R(some, #"[{"$group":1}]"#, "error 15947"),
        R(some, #"[{"$group":{"_id":1,"a.b":{"$sum":1}}}]"#, "error 40235"),
        R(some, #"[{"$group":{"_id":1,"a":{"$sum":[1,2]}}}]"#, "error 40237"),
        R(some, #"[{"$group":{"_id":1,"a":{"$sum":1,"$avg":1}}}]"#, "error 40238"),
        R(
            #"{"_id":1,"a":1,"b":"x"},{"_id":2,"a":1.0,"b":"x"},{"_id":3,"a":2,"b":"x"}"#,
            #"[{"$group":{"_id":{"k":"$a","l":"$b"},"n":{"$sum":1}}},{"$sort":{"n":-1}}]"#,
            #"{"_id":{"k":1,"l":"x"},"n":2},{"_id":{"k":2,"l":"x"},"n":1}"#
        ),
        R(#"{"_id":1,"a":{"x":1}}"#, #"[{"$set":{"a":{}}}]"#, #"{"_id":1,"a":{}}"#),
        R(#"{"_id":1,"a":1}"#, #"[{"$set":{"a":"$$REMOVE"}}]"#, #"{"_id":1}"#),
        R(#"{"_id":1,"a":[{"b":[1,2]}]}"#, #"[{"$unwind":"$a.b"}]"#, ""),
        R(
            #"{"_id":1,"a":{"b":[1,2]}}"#,
            #"[{"$unwind":"$a.b"}]"#,
            #"{"_id":1,"a":{"b":1}},{"_id":1,"a":{"b":2}}"#
        ),
        R(
            #"{"_id":1,"a":[]},{"_id":2,"a":null}"#,
            #"[{"$unwind":{"path":"$a","preserveNullAndEmptyArrays":true}}]"#,
            #"{"_id":1},{"_id":2,"a":null}"#
        ),
        R(
            #"{"_id":1,"a":{"$regularExpression":{"pattern":"x","options":""}}},{"_id":2,"b":"x"},{"_id":3,"b":{"$regularExpression":{"pattern":"x","options":""}}}"#,
            #"[{"$match":{"_id":1}},{"$lookup":{"from":"Open","localField":"a","foreignField":"b","as":"x.y"}},{"$project":{"x.y._id":1}}]"#,
            #"{"_id":1,"x":{"y":[{"_id":3}]}}"#
        ),
        R(some, #"[{"$match":{"_id":9}},{"$facet":{"a":[{"$count":"n"}]}}]"#, #"{"a":[]}"#),
        R(some, #"[{"$facet":{"a":[{"$facet":{"b":[]}}]}}]"#, "error 40600"),
        R(
            #"{"_id":1,"a":0},{"_id":2,"a":5},{"_id":3,"a":9}"#,
            #"[{"$bucket":{"groupBy":"$a","boundaries":[0,5,10],"output":{"ids":{"$push":"$_id"}}}}]"#,
            #"{"_id":0,"ids":[1]},{"_id":5,"ids":[2,3]}"#
        ),
        R(
            #"{"_id":1,"a":1},{"_id":2,"a":1},{"_id":3,"a":1},{"_id":4,"a":2}"#,
            #"[{"$bucketAuto":{"groupBy":"$a","buckets":3}}]"#,
            #"{"_id":{"min":1,"max":2},"count":3},{"_id":{"min":2,"max":2},"count":1}"#
        ),
        R(
            #"{"_id":1,"a":{"b":1}}"#,
            #"[{"$redact":{"$cond":[{"$eq":["$_id",1]},"$$KEEP","$$PRUNE"]}}]"#,
            #"{"_id":1,"a":{"b":1}}"#
        ),
        R(some, #"[{"$changeStream":{}}]"#, "error 238"), R(some, #"[{"$currentOp":{}}]"#, "error 238"),
        R(some, #"[{"$listSessions":{}}]"#, "error 238"),
        R(some, #"[{"$lookup":{"from":"Open","as":"x"}}]"#, "error 9"),
        R(some, #"[{"$sort":{}}]"#, "error 15976"), R(some, #"[{"$count":""}]"#, "error 40157"),
        // §8.1
        group(some, #"{"$sum":"$a"}"#, #"{"$numberDecimal":"3.5"}"#),
        group(some, #"{"$avg":"$a"}"#, #"{"$numberDecimal":"1.75"}"#),
        group(some, #"{"$max":"$a"}"#, #""x""#), group(some, #"{"$min":"$a"}"#, "1"),
        group(some, #"{"$min":"$b"}"#, "null"), group(some, #"{"$last":"$a"}"#, "null"),
        group(some, #"{"$mergeObjects":"$b"}"#, "{}"), group(some, #"{"$stdDevPop":"$b"}"#, "null"),
        R(
            #"{"_id":1,"a":{"$numberLong":"9223372036854775807"}},{"_id":2,"a":1}"#,
            #"[{"$group":{"_id":null,"r":{"$sum":"$a"}}},{"$project":{"_id":0,"r":{"$type":"$r"}}}]"#,
            #"{"r":"double"}"#
        ),
        group(#"{"_id":1,"a":2147483647},{"_id":2,"a":1}"#, #"{"$sum":"$a"}"#, "2147483648"),
        group(some, #"{"$firstN":{"n":0,"input":"$a"}}"#, "error 7548606"),
        group(#"{"_id":1,"a":[1,2]},{"_id":2,"a":[1,2]}"#, #"{"$addToSet":"$a"}"#, "[[1,2]]"),
        R(
            #"{"_id":1,"a":[1,2]},{"_id":2,"a":[2,3]}"#,
            #"[{"$group":{"_id":null,"r":{"$setUnion":"$a"}}},{"$project":{"_id":0,"r":{"$sortArray":{"input":"$r","sortBy":1}}}}]"#,
            #"{"r":[1,2,3]}"#
        ),
        group(
            some,
            #"{"$accumulator":{"init":"f","accumulate":"f","accumulateArgs":[],"merge":"f","lang":"js"}}"#,
            "error 238"
        ),
    ]

    static let remainingExpressions: [Row] = [
        // §2: paths; §9: variables, and what holds of all operators.
        value(#""$a.""#, "error 40353"), value(#""$a..b""#, "error 15998"), value(#""$a.$b""#, "error 16410"),
        value(#""$$ROOT""#, #"{"_id":1,"a":2}"#, #"{"_id":1,"a":2}"#),
        value(#""$$CURRENT.a""#, "2", #"{"_id":1,"a":2}"#),
        value(#""$$NOW""#, #"{"$date":"2023-11-14T22:13:20.123Z"}"#), value(#""$$x""#, "error 17276"),
        value(#"{"$let":{"vars":{"X":1},"in":1}}"#, "error 9"), value(#"{"$foo":1}"#, "error 31325"),
        value(#"{"$add":[1,{"$foo":1}]}"#, "error 168"),
        value(#"{"x":"$a","y":["$a",1]}"#, #"{"x":2,"y":[2,1]}"#, #"{"_id":1,"a":2}"#),
        value(#"{"$type":{"$add":["$a",1]}}"#, #""null""#), value(#"{"$toUpper":"$a"}"#, #""""#),
        // Types of results, and where they end.
        value(#"{"$type":{"$add":[{"$numberLong":"9223372036854775807"},1]}}"#, #""double""#),
        value(#"{"$type":{"$multiply":[{"$numberLong":"9223372036854775807"},2]}}"#, #""double""#),
        value(#"{"$type":{"$add":[1,{"$numberLong":"1"}]}}"#, #""long""#),
        value(#"{"$type":{"$add":[1.5,{"$numberLong":"1"}]}}"#, #""double""#),
        value(#"{"$type":{"$add":[1.5,{"$numberDecimal":"1"}]}}"#, #""decimal""#),
        value(#"{"$type":{"$divide":[4,2]}}"#, #""double""#),
        value(#"{"$type":{"$avg":[2,4]}}"#, #""double""#),
        value(#"{"$type":{"$sqrt":4}}"#, #""double""#),
        value(#"{"$type":{"$ceil":{"$numberLong":"4"}}}"#, #""long""#),
        value(
            #"{"$add":["$d","$d"]}"#,
            "error 16612",
            #"{"_id":1,"d":{"$date":"2024-01-02T00:00:00Z"}}"#
        ), value(#"{"$round":[1250,-2]}"#, "1200"), value(#"{"$round":[1,101]}"#, "error 51083"),
        value(#"{"$asin":0}"#, "0.0"), value(#"{"$acos":1}"#, "0.0"), value(#"{"$atan":0}"#, "0.0"),
        value(#"{"$sinh":0}"#, "0.0"), value(#"{"$cosh":0}"#, "1.0"), value(#"{"$tanh":0}"#, "0.0"),
        value(#"{"$asinh":0}"#, "0.0"), value(#"{"$acosh":1}"#, "0.0"), value(#"{"$atanh":0}"#, "0.0"),
        value(#"{"$acos":2}"#, "error 50989"),
        value(#"{"$cond":{"if":true,"then":1,"else":2}}"#, "1"),
        value(#"{"$switch":{"branches":[{"case":false,"then":1}]}}"#, "error 40069"),
        value(#"{"$trim":{"input":"xax","chars":"x"}}"#, #""a""#),
        value(#"{"$dateToString":{"date":null,"onNull":"none"}}"#, #""none""#),
        value(#"{"$dateFromString":{"dateString":"x"}}"#, "error 241"),
        value(#"{"$toObjectId":"x"}"#, "error 241"), value(#"{"$toInt":null}"#, "null"),
        value(#"{"$toBool":0.0}"#, "false"), value(#"{"$and":[{"$numberDecimal":"0"}]}"#, "false"),
        value(#"{"$or":[{"$numberDouble":"NaN"}]}"#, "true"),
        value(
            #"{"$toUUID":"0e3b9063-8abd-4eb3-9f9f-f4c59fd30a60"}"#,
            #"{"$binary":{"base64":"DjuQY4q9TrOfn/TFn9MKYA==","subType":"04"}}"#
        ),
        value(
            #"{"$convert":{"input":"Bg==","to":{"type":"binData","subtype":0},"format":"base64"}}"#,
            #"{"$binary":{"base64":"Bg==","subType":"00"}}"#
        ), value(#"{"$meta":"textScore"}"#, "error 40218"),
        value(
            #"{"$filter":{"input":"$a","as":"n","cond":{"$gt":["$$n",1]},"limit":1}}"#,
            "[2]",
            #"{"_id":1,"a":[1,2,3]}"#
        ),
        value(#"{"$sortArray":{"input":[{"a":2},{"a":1}],"sortBy":{"a":1}}}"#, #"[{"a":1},{"a":2}]"#),
        value(#"{"$zip":{"inputs":[[1],[2,3]],"useLongestLength":true,"defaults":[0,0]}}"#, "[[1,2],[0,3]]"),
        value(#"{"$slice":[[1,2,3],-2]}"#, "[2,3]"),
        value(#"{"$arrayToObject":[[{"k":"a","v":1}]]}"#, #"{"a":1}"#),
        value(#"{"$function":{"body":"f","args":[],"lang":"js"}}"#, "error 238"),
    ]
}
