// The rows of `reference/mql.md` as cases: what the other files leave of §§8, 9.
extension ReferenceTables {
    private static let three = #"{"_id":1,"n":1},{"_id":2,"n":2},{"_id":3,"n":4}"#
    private static let day = #"{"_id":1,"d":{"$date":"2024-02-29T12:34:56.789Z"}}"#

    private static func group(_ accumulator: String, _ expected: String) -> Row {
        R(three, #"[{"$group":{"_id":null,"r":\#(accumulator)}}]"#, "{\"_id\":null,\"r\":\(expected)}")
    }

    /// What a window function gives for each of three documents.
    private static func window(_ function: String, _ expected: String...) -> Row {
        R(
            three,
            #"[{"$setWindowFields":{"sortBy":{"n":1},"output":{"r":\#(function)}}},{"$project":{"_id":0,"r":1}}]"#,
            expected.map { "{\"r\":\($0)}" }.joined(separator: ",")
        )
    }

    /// An expression on one document.
    private static func value(_ expression: String, _ expected: String, _ document: String = #"{"_id":1}"#)
        -> Row
    {
        R(
            document,
            #"[{"$project":{"_id":0,"r":\#(expression)}}]"#,
            expected.hasPrefix("error") ? expected : "{\"r\":\(expected)}"
        )
    }

    private static func date(_ expression: String, _ expected: String) -> Row {
        value(expression, expected, day)
    }

    static let furtherPipelines: [Row] =
        [
            R(three, #"[{"$skip":-1}]"#, "error 5107200"), R(three, #"[{"$limit":"x"}]"#, "error 5107201"),
            R(three, #"[{"$group":{"_id":null,"a":1}}]"#, "error 40234"),
            R(three, #"[{"$unset":["a",1]}]"#, "error 31120"),
            R(three, #"[{"$unset":["$a","b\u0000"]}]"#, "error 9527900"),
            R(three, #"[{"$facet":{"a":[{"$out":"x"}]}}]"#, "error 40600"),
            R(three, #"[{"$out":"x"},{"$limit":1}]"#, "error 40601"),
            R(three, #"[{"$match":{}},{"$collStats":{}}]"#, "error 40602"),
            R(
                #"{"_id":1,"a":null},{"_id":2}"#,
                #"[{"$match":{"_id":2}},{"$lookup":{"from":"Open","localField":"x","foreignField":"a","as":"r"}},{"$project":{"c":{"$size":"$r"}}}]"#,
                #"{"_id":2,"c":2}"#
            ),
            R(three, #"[{"$bucket":{"groupBy":"$n","boundaries":[0,2]}}]"#, "error 40066"),
            R(three, #"[{"$set":{"a":"$$CLUSTER_TIME"}}]"#, "error 10071200"),
            R(three, #"[{"$out":{"db":"d","coll":"c","timeseries":{}}}]"#, "error 40414"),
            R(
                three,
                #"[{"$out":{"db":"d","coll":"c","timeseries":{"timeField":"t","x":1}}}]"#,
                "error 40415"
            ),
            R(three, #"[{"$out":{"db":"d","coll":"c","timeseries":{"timeField":1}}}]"#, "error 14"),
            R(
                three,
                #"[{"$out":{"db":"d","coll":"c","timeseries":{"timeField":"t","granularity":"days"}}}]"#,
                "error 2"
            ),
            R(
                three,
                #"[{"$out":{"db":"d","coll":"c","timeseries":{"timeField":"t","bucketMaxSpanSeconds":5}}}]"#,
                "error 72"
            ),
            R(three, #"[{"$out":{"db":"d","coll":"c","timeseries":{"timeField":"t"}}}]"#, "error 238"),
            group(#"{"$count":{}}"#, "3"), group(#"{"$maxN":{"n":2,"input":"$n"}}"#, "[4,2]"),
            group(#"{"$lastN":{"n":2,"input":"$n"}}"#, "[2,4]"),
            group(#"{"$top":{"sortBy":{"n":-1},"output":"$_id"}}"#, "3"),
            group(#"{"$bottom":{"sortBy":{"n":-1},"output":"$_id"}}"#, "1"),
            group(#"{"$bottomN":{"n":2,"sortBy":{"n":1},"output":"$_id"}}"#, "[2,3]"),
            group(#"{"$percentile":{"input":"$n","p":[0.5],"method":"approximate"}}"#, "[2.0]"),
            group(#"{"$concatArrays":{"$range":[0,"$n",2]}}"#, "[0,0,0,2]"),
            window(#"{"$rank":{}}"#, "1", "2", "3"), window(#"{"$denseRank":{}}"#, "1", "2", "3"),
            window(#"{"$documentNumber":{}}"#, "1", "2", "3"),
            window(#"{"$shift":{"output":"$n","by":1,"default":0}}"#, "2", "4", "0"),
            window(#"{"$expMovingAvg":{"input":"$n","N":1}}"#, "1.0", "2.0", "4.0"),
            window(
                #"{"$derivative":{"input":"$_id"},"window":{"documents":[-1,0]}}"#,
                "null",
                "1.0",
                "0.5"
            ),
            window(
                #"{"$integral":{"input":"$_id"},"window":{"documents":["unbounded","current"]}}"#,
                "0",
                "1.5",
                "6.5"
            ),
            window(
                #"{"$covariancePop":["$_id","$_id"],"window":{"documents":["unbounded","current"]}}"#,
                "0.0",
                "0.25",
                "0.6666666666666666"
            ),
            window(
                #"{"$covarianceSamp":["$_id","$_id"],"window":{"documents":["unbounded","current"]}}"#,
                "null",
                "0.5",
                "1.0"
            ),
            R(
                #"{"_id":1,"n":1},{"_id":2},{"_id":3,"n":3}"#,
                #"[{"$setWindowFields":{"sortBy":{"_id":1},"output":{"a":{"$linearFill":"$n"},"b":{"$locf":"$n"}}}},{"$project":{"_id":0,"a":1,"b":1}}]"#,
                #"{"a":1,"b":1},{"a":2.0,"b":1},{"a":3,"b":3}"#
            ),
        ]
        + [
            "$geoNear", "$search", "$searchMeta", "$vectorSearch", "$collStats", "$indexStats",
            "$planCacheStats",
        ]
        .map { R(three, "[{\"\($0)\":{}}]", "error 238") }

    static let furtherExpressions: [Row] = [
        value(#"{"$exp":0}"#, "1.0"), value(#"{"$ln":1}"#, "0.0"), value(#"{"$log":[8,2]}"#, "3.0"),
        value(#"{"$sigmoid":0}"#, "0.5"), value(#"{"$bitAnd":[6,3]}"#, "2"), value(#"{"$bitOr":[6,3]}"#, "7"),
        value(#"{"$bitNot":0}"#, "-1"), value(#"{"$sin":0}"#, "0.0"), value(#"{"$cos":0}"#, "1.0"),
        value(#"{"$tan":0}"#, "0.0"), value(#"{"$atan2":[0,1]}"#, "0.0"),
        value(#"{"$radiansToDegrees":0}"#, "0.0"),
        value(#"{"$gte":[2,2]}"#, "true"), value(#"{"$lte":[3,2]}"#, "false"),
        value(#"{"$substr":["hello",1,2]}"#, #""el""#), value(#"{"$substrBytes":["hello",1,2]}"#, #""el""#),
        value(#"{"$substrBytes":["é",1,1]}"#, "error 28656"),
        value(#"{"$substrBytes":["é",0,1]}"#, "error 28657"),
        value(#"{"$ltrim":{"input":"  a "}}"#, #""a ""#), value(#"{"$rtrim":{"input":"  a "}}"#, #""  a""#),
        value(#"{"$regexFind":{"input":"xab","regex":"(a)b"}}"#, #"{"match":"ab","idx":1,"captures":["a"]}"#),
        value(
            #"{"$regexFindAll":{"input":"aa","regex":"a"}}"#,
            #"[{"match":"a","idx":0,"captures":[]},{"match":"a","idx":1,"captures":[]}]"#
        ),
        value(#"{"$replaceOne":{"input":"aa","find":"a","replacement":"b"}}"#, #""ba""#),
        value(#"{"$indexOfBytes":["éa","a"]}"#, "2"), value(#"{"$strLenBytes":"é"}"#, "2"),
        value(#"{"$toString":{"$numberLong":"7"}}"#, #""7""#), value(#"{"$concat":[1]}"#, "error 16702"),
        value(#"{"$first":[[1,2]]}"#, "1"), value(#"{"$last":[[1,2]]}"#, "2"),
        value(#"{"$firstN":{"n":1,"input":[3,4]}}"#, "[3]"),
        value(#"{"$lastN":{"n":1,"input":[3,4]}}"#, "[4]"),
        value(#"{"$minN":{"n":1,"input":[3,4]}}"#, "[3]"), value(#"{"$maxN":{"n":1,"input":[3,4]}}"#, "[4]"),
        value(#"{"$arrayElemAt":[1,0]}"#, "error 28689"),
        value(#"{"$arrayElemAt":[[1],"x"]}"#, "error 28690"),
        value(#"{"$size":{"$setUnion":[[1,2],[2,3]]}}"#, "3"),
        value(#"{"$unsetField":{"field":"x","input":{"x":1,"y":2}}}"#, #"{"y":2}"#),
        date(#"{"$year":"$d"}"#, "2024"), date(#"{"$month":"$d"}"#, "2"),
        date(#"{"$dayOfMonth":"$d"}"#, "29"),
        date(#"{"$hour":"$d"}"#, "12"), date(#"{"$minute":"$d"}"#, "34"), date(#"{"$second":"$d"}"#, "56"),
        date(#"{"$millisecond":"$d"}"#, "789"), date(#"{"$dayOfWeek":"$d"}"#, "5"),
        date(#"{"$week":"$d"}"#, "8"),
        date(#"{"$isoWeekYear":"$d"}"#, "2024"), date(#"{"$isoDayOfWeek":"$d"}"#, "4"),
        date(
            #"{"$dateSubtract":{"startDate":"$d","unit":"day","amount":1}}"#,
            #"{"$date":"2024-02-28T12:34:56.789Z"}"#
        ),
        date(
            #"{"$dateDiff":{"startDate":"$d","endDate":{"$add":["$d",86400000]},"unit":"day"}}"#,
            "1"
        ),
        date(
            #"{"$dateToParts":{"date":"$d"}}"#,
            #"{"year":2024,"month":2,"day":29,"hour":12,"minute":34,"second":56,"millisecond":789}"#
        ),
        value(#"{"$dateFromParts":{"year":2024,"month":14}}"#, #"{"$date":"2025-02-01T00:00:00Z"}"#),
        value(#"{"$tsSecond":{"$timestamp":{"t":5,"i":6}}}"#, "5"),
        value(#"{"$tsIncrement":{"$timestamp":{"t":5,"i":6}}}"#, "6"),
        value(#"{"$toDouble":"2.5"}"#, "2.5"), value(#"{"$toLong":"5"}"#, "5"),
        value(#"{"$toDate":0}"#, "error 241"),
        value(#"{"$toDate":{"$numberLong":"0"}}"#, #"{"$date":"1970-01-01T00:00:00Z"}"#),
        value(#"{"$toDecimal":"1.10"}"#, #"{"$numberDecimal":"1.10"}"#),
        value(#"{"$toObjectId":"65f0c0ffee0000000000aaaa"}"#, #"{"$oid":"65f0c0ffee0000000000aaaa"}"#),
        value(#"{"$convert":{"input":null,"to":"int","onNull":7}}"#, "7"),
        value(#"{"$lt":[{"$rand":{}},1]}"#, "true"),
        value(#"{"$binarySize":"é"}"#, "2"), value(#"{"$bsonSize":{}}"#, "5"),
        value(#"{"$function":{}}"#, "error 238"), value(#"{"$toHashedIndexKey":1}"#, "error 238"),
        value(#"{"$min":[2,1]}"#, "1"), value(#"{"$stdDevPop":[2,4]}"#, "1.0"),
        value(#"{"$stdDevSamp":[1]}"#, "null"),
        value(#"{"$median":{"input":[1,2,3],"method":"approximate"}}"#, "2.0"),
        value(#"{"$percentile":{"input":[1,2,3],"p":[1],"method":"approximate"}}"#, "[3.0]"),
        value(#"{"$and":[1,"",[]]}"#, "true"), value(#"{"$or":[0,null,"$x"]}"#, "false"),
        value(#"{"$subtract":[{"$toDate":{"$numberLong":"5"}},{"$toDate":{"$numberLong":"2"}}]}"#, "3"),
    ]
}
