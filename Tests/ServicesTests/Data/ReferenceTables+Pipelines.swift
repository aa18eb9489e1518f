// The rows of `reference/mql.md` as cases: §§8, 9.
extension ReferenceTables {
    private static let three =
        #"{"_id":1,"k":"a","n":1},{"_id":2,"k":"b","n":2},{"_id":3,"k":"a","n":{"$numberLong":"4"}}"#

    /// `$group` of everything by one accumulator.
    private static func group(_ documents: String, _ accumulator: String, _ expected: String) -> Row {
        R(
            documents,
            #"[{"$group":{"_id":null,"r":\#(accumulator)}}]"#,
            expected.hasPrefix("error") ? expected : "{\"_id\":null,\"r\":\(expected)}"
        )
    }

    /// One expression on one document.
    private static func value(_ document: String, _ expression: String, _ expected: String) -> Row {
        R(
            document == "{}" ? #"{"_id":1}"# : "{\"_id\":1,\(document.dropFirst())",
            #"[{"$project":{"_id":0,"r":\#(expression)}}]"#,
            expected.hasPrefix("error") || expected == "{}" ? expected : "{\"r\":\(expected)}"
        )
    }

    static let pipelines: [Row] = [
        R(three, #"[{"$match":{"n":{"$gte":2}}},{"$project":{"n":1}}]"#, #"{"_id":2,"n":2},{"_id":3,"n":4}"#),
        R(three, #"[{"$project":{}}]"#, "error 51272"),
        R(
            #"{"_id":1,"a":{"x":1}}"#,
            #"[{"$set":{"a":{"y":2},"b.c":3}}]"#,
            #"{"_id":1,"a":{"x":1,"y":2},"b":{"c":3}}"#
        ),
        R(
            #"{"_id":1,"a":[1,{"b":2}]}"#,
            #"[{"$addFields":{"a.c":5}}]"#,
            #"{"_id":1,"a":[{"c":5},{"b":2,"c":5}]}"#
        ),
        R(
            three,
            #"[{"$group":{"_id":"$k","s":{"$sum":"$n"}}},{"$sort":{"_id":1}}]"#,
            #"{"_id":"a","s":5},{"_id":"b","s":2}"#
        ),
        R(
            #"{"_id":1,"k":1},{"_id":2,"k":1.0},{"_id":3},{"_id":4,"k":null}"#,
            #"[{"$group":{"_id":"$k","c":{"$count":{}}}},{"$sort":{"_id":1}},{"$project":{"_id":0}}]"#,
            #"{"c":2},{"c":2}"#
        ),
        R(three, #"[{"$group":{"a":{"$sum":1}}}]"#, "error 15955"),
        R(three, #"[{"$group":{"_id":1,"a":{"$foo":1}}}]"#, "error 15952"),
        R(three, #"[{"$sort":{"k":1,"n":-1}},{"$limit":2},{"$project":{"_id":1}}]"#, #"{"_id":3},{"_id":1}"#),
        R(three, #"[{"$skip":1},{"$limit":1},{"$project":{"_id":1}}]"#, #"{"_id":2}"#),
        R(three, #"[{"$limit":0}]"#, "error 15958"),
        R(three, #"[{"$count":"n"}]"#, #"{"n":3}"#), R(three, #"[{"$match":{"n":9}},{"$count":"n"}]"#, ""),
        R(
            #"{"_id":1,"a":[5,6]},{"_id":2,"a":7},{"_id":3,"a":[]},{"_id":4}"#,
            #"[{"$unwind":{"path":"$a","includeArrayIndex":"i","preserveNullAndEmptyArrays":true}}]"#,
            #"{"_id":1,"a":5,"i":0},{"_id":1,"a":6,"i":1},{"_id":2,"a":7,"i":null},{"_id":3,"i":null},{"_id":4,"i":null}"#
        ),
        R(
            #"{"_id":1,"a":[5,6]},{"_id":3,"a":[]},{"_id":4}"#,
            #"[{"$unwind":"$a"}]"#,
            #"{"_id":1,"a":5},{"_id":1,"a":6}"#
        ),
        R(
            #"{"_id":1,"a":[2,3]},{"_id":2,"b":2},{"_id":3}"#,
            #"[{"$lookup":{"from":"Open","localField":"a","foreignField":"b","as":"r"}},{"$match":{"_id":1}}]"#,
            #"{"_id":1,"a":[2,3],"r":[{"_id":2,"b":2}]}"#
        ),
        R(
            #"{"_id":1,"a":2}"#,
            #"[{"$lookup":{"from":"Open","let":{"x":"$a"},"pipeline":[{"$project":{"_id":0,"s":{"$add":["$$x","$a"]}}}],"as":"r"}}]"#,
            #"{"_id":1,"a":2,"r":[{"s":4}]}"#
        ),
        R(#"{"_id":1,"a":{"x":1}}"#, #"[{"$replaceRoot":{"newRoot":"$a"}}]"#, #"{"x":1}"#),
        R(#"{"_id":1,"a":5}"#, #"[{"$replaceWith":"$a"}]"#, "error 40228"),
        R(#"{"_id":1,"a":{"x":1,"y":2}}"#, #"[{"$unset":["a.x","b"]}]"#, #"{"_id":1,"a":{"y":2}}"#),
        R(
            three,
            #"[{"$facet":{"c":[{"$count":"n"}],"m":[{"$match":{"n":9}}]}}]"#,
            #"{"c":[{"n":3}],"m":[]}"#
        ),
        R(
            three,
            #"[{"$bucket":{"groupBy":"$n","boundaries":[0,2,3],"default":"x"}}]"#,
            #"{"_id":0,"count":1},{"_id":2,"count":1},{"_id":"x","count":1}"#
        ),
        R(three, #"[{"$sortByCount":"$k"}]"#, #"{"_id":"a","count":2},{"_id":"b","count":1}"#),
        R(three, #"[{"$sample":{"size":9}},{"$count":"n"}]"#, #"{"n":3}"#),
        R(three, #"[{"$sample":{"size":0}}]"#, "error 28747"),
        R(three, #"[{"$unionWith":"Open"},{"$count":"n"}]"#, #"{"n":6}"#),
        R(
            three,
            #"[{"$bucketAuto":{"groupBy":"$n","buckets":2}}]"#,
            #"{"_id":{"min":1,"max":4},"count":2},{"_id":{"min":4,"max":4},"count":1}"#
        ),
        R(
            #"{"_id":1,"p":2},{"_id":2,"p":3},{"_id":3}"#,
            #"[{"$match":{"_id":1}},{"$graphLookup":{"from":"Open","startWith":"$p","connectFromField":"p","connectToField":"_id","as":"r","maxDepth":0}}]"#,
            #"{"_id":1,"p":2,"r":[{"_id":2,"p":3}]}"#
        ),
        R(
            three,
            #"[{"$setWindowFields":{"sortBy":{"_id":1},"output":{"s":{"$sum":"$n","window":{"documents":["unbounded","current"]}}}}},{"$project":{"s":1}}]"#,
            #"{"_id":1,"s":1},{"_id":2,"s":3},{"_id":3,"s":7}"#
        ),
        R(
            #"{"_id":1,"l":1,"a":{"l":5,"x":1},"b":{"l":1,"y":2}}"#,
            #"[{"$redact":{"$cond":[{"$gt":["$l",2]},"$$PRUNE","$$DESCEND"]}}]"#,
            #"{"_id":1,"l":1,"b":{"l":1,"y":2}}"#
        ),
        R(
            #"{"_id":1,"n":1},{"_id":2,"n":3}"#,
            #"[{"$densify":{"field":"n","range":{"step":1,"bounds":"full"}}},{"$project":{"_id":0}}]"#,
            #"{"n":1},{"n":2},{"n":3}"#
        ),
        R(
            #"{"_id":1,"n":1},{"_id":2},{"_id":3,"n":3}"#,
            #"[{"$fill":{"sortBy":{"_id":1},"output":{"n":{"method":"linear"}}}}]"#,
            #"{"_id":1,"n":1},{"_id":2,"n":2.0},{"_id":3,"n":3}"#
        ),
        R(three, #"[{"$foo":1}]"#, "error 40324"), R(three, #"[{"$match":{},"$limit":1}]"#, "error 40323"),
        group(three, #"{"$sum":"$k"}"#, "0"), group(three, #"{"$avg":"$n"}"#, "2.3333333333333335"),
        group(three, #"{"$avg":"$k"}"#, "null"),
        group(#"{"_id":1,"a":null},{"_id":2,"a":"x"},{"_id":3,"a":5}"#, #"{"$max":"$a"}"#, #""x""#),
        group(#"{"_id":1},{"_id":2,"a":5}"#, #"{"$min":"$a"}"#, "5"),
        group(#"{"_id":1},{"_id":2,"a":5}"#, #"{"$first":"$a"}"#, "null"),
        group(#"{"_id":1},{"_id":2,"a":5}"#, #"{"$last":"$a"}"#, "5"),
        group(#"{"_id":1},{"_id":2,"a":null},{"_id":3,"a":1}"#, #"{"$push":"$a"}"#, "[null,1]"),
        group(#"{"_id":1,"a":1},{"_id":2,"a":1.0},{"_id":3}"#, #"{"$addToSet":"$a"}"#, "[1]"),
        group(
            #"{"_id":1,"a":{"x":1}},{"_id":2,"a":null},{"_id":3,"a":{"x":2,"y":1}}"#,
            #"{"$mergeObjects":"$a"}"#,
            #"{"x":2,"y":1}"#
        ),
        // 40400 as an expression; in a group MongoDB 8 has another code.
        group(#"{"_id":1,"a":5}"#, #"{"$mergeObjects":"$a"}"#, "error 5911200"),
        group(three, #"{"$stdDevSamp":"$k"}"#, "null"),
        group(#"{"_id":1,"a":2},{"_id":2,"a":4}"#, #"{"$stdDevPop":"$a"}"#, "1.0"),
        group(three, #"{"$topN":{"n":2,"sortBy":{"n":-1},"output":"$_id"}}"#, "[3,2]"),
        group(three, #"{"$firstN":{"n":2,"input":"$_id"}}"#, "[1,2]"),
        group(three, #"{"$minN":{"n":1,"input":"$n"}}"#, "[1]"),
        group(three, #"{"$median":{"input":"$n","method":"approximate"}}"#, "2.0"),
    ]

    static let expressions: [Row] = [
        value(#"{"a":2147483647}"#, #"{"$add":["$a",1]}"#, "2147483648"),
        value("{}", #"{"$add":[1,null]}"#, "null"),
        value(#"{"a":"x"}"#, #"{"$add":["$a",1]}"#, "error 14"),
        value(
            #"{"d":{"$date":"2024-01-02T00:00:00Z"}}"#,
            #"{"$add":["$d",1000]}"#,
            #"{"$date":"2024-01-02T00:00:01Z"}"#
        ),
        value("{}", #"{"$subtract":[5,2.5]}"#, "2.5"), value("{}", #"{"$multiply":[3,4]}"#, "12"),
        value("{}", #"{"$divide":[7,2]}"#, "3.5"), value(#"{"z":0}"#, #"{"$divide":[1,"$z"]}"#, "error 2"),
        value("{}", #"{"$mod":[-7,3]}"#, "-1"), value("{}", #"{"$round":[2.5]}"#, "2.0"),
        value("{}", #"{"$trunc":[-2.7]}"#, "-2.0"), value("{}", #"{"$pow":[2,10]}"#, "1024"),
        value("{}", #"{"$sqrt":9}"#, "3.0"),
        value("{}", #"{"$abs":-3}"#, "3"), value("{}", #"{"$ceil":2.1}"#, "3.0"),
        value("{}", #"{"$floor":-2.1}"#, "-3.0"), value("{}", #"{"$bitXor":[6,3]}"#, "5"),
        value("{}", #"{"$log10":100}"#, "2.0"),
        value("{}", #"{"$eq":[1,1.0]}"#, "true"), value("{}", #"{"$lt":["$x",null]}"#, "true"),
        value("{}", #"{"$gt":["a",5]}"#, "true"), value("{}", #"{"$cmp":[2,1]}"#, "1"),
        value("{}", #"{"$ne":[1,2]}"#, "true"),
        value("{}", #"{"$and":[]}"#, "true"), value("{}", #"{"$or":[]}"#, "false"),
        value("{}", #"{"$not":[0]}"#, "true"),
        value("{}", #"{"$cond":["",1,2]}"#, "1"), value("{}", #"{"$ifNull":["$x",null,3]}"#, "3"),
        value("{}", #"{"$switch":{"branches":[{"case":false,"then":1}],"default":2}}"#, "2"),
        value(#"{"a":1}"#, #"{"$switch":{"branches":[{"case":{"$eq":["$a",2]},"then":1}]}}"#, "error 40066"),
        value("{}", #"{"$concat":["a",null]}"#, "null"), value("{}", #"{"$toUpper":"aé"}"#, #""Aé""#),
        value("{}", #"{"$toLower":null}"#, #""""#), value("{}", #"{"$substrCP":["héllo",1,3]}"#, #""éll""#),
        value("{}", #"{"$strLenCP":"é🙂"}"#, "2"), value("{}", #"{"$trim":{"input":"  a "}}"#, #""a""#),
        value("{}", #"{"$split":["a-b","-"]}"#, #"["a","b"]"#),
        value("{}", #"{"$indexOfCP":["abc","c"]}"#, "2"),
        value("{}", #"{"$regexMatch":{"input":"aB","regex":"b","options":"i"}}"#, "true"),
        value("{}", #"{"$replaceAll":{"input":"aa","find":"a","replacement":"b"}}"#, #""bb""#),
        value("{}", #"{"$strcasecmp":["A","a"]}"#, "0"),
        value(#"{"a":[1,2,3]}"#, #"{"$size":"$a"}"#, "3"),
        value(#"{"a":5}"#, #"{"$size":"$a"}"#, "error 17124"),
        value(#"{"a":[1,2]}"#, #"{"$arrayElemAt":["$a",-1]}"#, "2"),
        value(#"{"a":[1]}"#, #"{"$arrayElemAt":["$a",5]}"#, "{}"),
        value(#"{"a":[1,2]}"#, #"{"$in":[2,"$a"]}"#, "true"),
        value(#"{"a":[1,2,3]}"#, #"{"$filter":{"input":"$a","cond":{"$gt":["$$this",1]}}}"#, "[2,3]"),
        value(#"{"a":[1,2]}"#, #"{"$map":{"input":"$a","in":{"$add":["$$this",1]}}}"#, "[2,3]"),
        value(#"{"a":[1,2,3]}"#, #"{"$slice":["$a",1,1]}"#, "[2]"),
        value("{}", #"{"$concatArrays":[[1],[2]]}"#, "[1,2]"),
        value(
            #"{"a":[1,2]}"#,
            #"{"$reduce":{"input":"$a","initialValue":0,"in":{"$add":["$$value","$$this"]}}}"#,
            "3"
        ),
        value("{}", #"{"$range":[0,5,2]}"#, "[0,2,4]"),
        value("{}", #"{"$zip":{"inputs":[[1,2],["a","b"]]}}"#, #"[[1,"a"],[2,"b"]]"#),
        value("{}", #"{"$reverseArray":[[1,2]]}"#, "[2,1]"),
        value("{}", #"{"$sortArray":{"input":[3,1,2],"sortBy":-1}}"#, "[3,2,1]"),
        value(#"{"a":{"x":1}}"#, #"{"$objectToArray":"$a"}"#, #"[{"k":"x","v":1}]"#),
        value("{}", #"{"$arrayToObject":[[["a",1]]]}"#, #"{"a":1}"#),
        value("{}", #"{"$indexOfArray":[[1,2],2]}"#, "1"), value("{}", #"{"$isArray":[[1]]}"#, "true"),
        value("{}", #"{"$setIntersection":[[1,2],[2,3]]}"#, "[2]"),
        value("{}", #"{"$setEquals":[[1,2],[2,1,1]]}"#, "true"),
        value("{}", #"{"$setIsSubset":[[1],[1,2]]}"#, "true"),
        value("{}", #"{"$setDifference":[[1,2],[2]]}"#, "[1]"),
        value("{}", #"{"$anyElementTrue":[[0,1]]}"#, "true"),
        value("{}", #"{"$allElementsTrue":[[0,1]]}"#, "false"),
        value("{}", #"{"$mergeObjects":[{"a":1},{"a":2}]}"#, #"{"a":2}"#),
        value(#"{"a":{"$x":3}}"#, #"{"$getField":{"field":{"$literal":"$x"},"input":"$a"}}"#, "3"),
        value(#"{"a":{"x":1}}"#, #"{"$setField":{"field":"y","input":"$a","value":2}}"#, #"{"x":1,"y":2}"#),
        value(
            #"{"d":{"$date":"2024-02-29T12:34:56Z"}}"#,
            #"{"$dateToString":{"date":"$d","format":"%Y-%m-%d %H:%M","timezone":"+02:00"}}"#,
            #""2024-02-29 14:34""#
        ), value(#"{"d":{"$date":"2024-02-29T12:34:56Z"}}"#, #"{"$dayOfYear":"$d"}"#, "60"),
        value(
            "{}",
            #"{"$dateFromString":{"dateString":"2024-02-29"}}"#,
            #"{"$date":"2024-02-29T00:00:00Z"}"#
        ),
        value(
            #"{"d":{"$date":"2024-01-31T00:00:00Z"}}"#,
            #"{"$dateAdd":{"startDate":"$d","unit":"month","amount":1}}"#,
            #"{"$date":"2024-02-29T00:00:00Z"}"#
        ),
        value(
            #"{"d":{"$date":"2024-02-29T12:34:56Z"}}"#,
            #"{"$dateTrunc":{"date":"$d","unit":"hour"}}"#,
            #"{"$date":"2024-02-29T12:00:00Z"}"#
        ), value(#"{"d":{"$date":"2024-02-29T12:34:56Z"}}"#, #"{"$isoWeek":"$d"}"#, "9"),
        value("{}", #"{"$type":"$x"}"#, #""missing""#), value("{}", #"{"$toInt":"5"}"#, "5"),
        value(#"{"a":"x"}"#, #"{"$toInt":"$a"}"#, "error 241"),
        value("{}", #"{"$convert":{"input":"x","to":"int","onError":-1}}"#, "-1"),
        value("{}", #"{"$toString":1.5}"#, #""1.5""#), value("{}", #"{"$toBool":""}"#, "true"),
        value("{}", #"{"$isNumber":"5"}"#, "false"), value("{}", #"{"$literal":"$a"}"#, #""$a""#),
        value(#"{"a":2}"#, #"{"$let":{"vars":{"x":"$a"},"in":{"$add":["$$x",1]}}}"#, "3"),
        value(#"{"a":[{"b":1},{"c":2},{"b":3}]}"#, #""$a.b""#, "[1,3]"),
        value(#"{"a":[5]}"#, #""$a.0""#, "[]"),
        value("{}", #""$$REMOVE""#, "{}"), R(#"{"_id":1}"#, #"[{"$set":{"r":{"$foo":1}}}]"#, "error 168"),
        value("{}", #"{"$gt":[1]}"#, "error 16020"),
        value(#"{"a":[1,3]}"#, #"{"$sum":"$a"}"#, "4"), value("{}", #"{"$avg":[1,2]}"#, "1.5"),
        value("{}", #"{"$max":[1,"x"]}"#, #""x""#), value("{}", #"{"$degreesToRadians":0}"#, "0.0"),
    ]
}
