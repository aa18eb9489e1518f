// The rows of `reference/mql.md` as cases: what the rows of §§2–6 say besides, point by point.
extension ReferenceTables {
    private static func regex(_ text: String, _ pattern: String, _ matches: Bool, _ options: String = "")
        -> FilterRow
    {
        F("{\"a\":\"\(text)\"}", #"{"a":{"$regex":"\#(pattern)","$options":"\#(options)"}}"#, matches)
    }

    static let remainingFilters: [FilterRow] = [
        // §3.1: NaN, the ends of the order, objects and arrays in ranges.
        F(#"{"a":{"$numberDouble":"NaN"}}"#, #"{"a":{"$lte":{"$numberDouble":"NaN"}}}"#, true),
        F(#"{"a":{"$numberDouble":"NaN"}}"#, #"{"a":{"$gt":{"$numberDouble":"NaN"}}}"#, false),
        F(#"{"a":5}"#, #"{"a":{"$lte":{"$numberDouble":"NaN"}}}"#, false),
        F(#"{"a":"x"}"#, #"{"a":{"$lt":{"$maxKey":1}}}"#, true),
        F(#"{"a":{"$maxKey":1}}"#, #"{"a":{"$gte":{"$maxKey":1}}}"#, true),
        F(#"{"a":{"x":1}}"#, #"{"a":{"$lt":{"x":2}}}"#, true),
        F(#"{"a":{"x":1}}"#, #"{"a":{"$lt":[9]}}"#, false), F(#"{"a":[1,2]}"#, #"{"a":{"$gt":[1]}}"#, true),
        F(#"{"a":[[1,2]]}"#, #"{"a":{"$in":[[1,2]]}}"#, true), F(#"{"a":1}"#, #"{"a":{"$nin":[]}}"#, true),
        F(
            #"{"a":"bx"}"#,
            #"{"a":{"$nin":[{"$regularExpression":{"pattern":"^b","options":""}}]}}"#,
            false
        ),
        F(
            #"{"a":"x"}"#,
            #"{"a":{"$not":{"$regularExpression":{"pattern":"^b","options":""}}}}"#,
            true
        ),
        // What counts as false, and what as true.
        F("{}", #"{"a":{"$exists":{"$numberDouble":"-0.0"}}}"#, true),
        F("{}", #"{"a":{"$exists":{"$numberDecimal":"0"}}}"#, true),
        F("{}", #"{"a":{"$exists":null}}"#, true),
        F(#"{"a":1}"#, #"{"a":{"$exists":{"$numberDouble":"NaN"}}}"#, true),
        F(#"{"a":1}"#, #"{"a":{"$exists":[]}}"#, true),
        // Types by code, by several names, of numbers.
        F(#"{"a":"x"}"#, #"{"a":{"$type":2}}"#, true),
        F(#"{"a":{"$numberDecimal":"1"}}"#, #"{"a":{"$type":"number"}}"#, true),
        F(#"{"a":{"$numberLong":"1"}}"#, #"{"a":{"$type":["int","string"]}}"#, false),
        F(#"{"a":{"$numberLong":"1"}}"#, #"{"a":{"$type":["string","long"]}}"#, true),
        F(#"{"a":{"$minKey":1}}"#, #"{"a":{"$type":-1}}"#, true),
        F(#"{"a":{"$maxKey":1}}"#, #"{"a":{"$type":127}}"#, true),
        F(#"{"a":null}"#, #"{"a":{"$type":"null"}}"#, true),
        // In an expression, missing is not null and an array is one value.
        F("{}", #"{"$expr":{"$eq":["$a",null]}}"#, false),
        F(#"{"a":[1,2]}"#, #"{"$expr":{"$eq":["$a",1]}}"#, false),
        F(#"{"a":7}"#, #"{"a":{"$mod":[4.9,3.9]}}"#, true),
        F(#"{"a":1e30}"#, #"{"a":{"$mod":[4,0]}}"#, false),
        F(#"{"a":{"$numberDouble":"NaN"}}"#, #"{"a":{"$mod":[4,0]}}"#, false),
        F(
            #"{"a":{"$regularExpression":{"pattern":"^b","options":"i"}}}"#,
            #"{"a":{"$regularExpression":{"pattern":"^b","options":"i"}}}"#,
            true
        ),
        F(
            #"{"a":["xb","c"]}"#,
            #"{"a":{"$all":[{"$regularExpression":{"pattern":"b$","options":""}},"c"]}}"#,
            true
        ),
        F(#"{"a":[[5,6]]}"#, #"{"a":{"$elemMatch":{"1":6}}}"#, true),
        F(#"{"a":[1,2]}"#, #"{"a":{"$size":{"$numberLong":"2"}}}"#, true),
        F(
            #"{"a":6}"#,
            #"{"a":{"$bitsAllSet":{"$binary":{"base64":"Bg==","subType":"00"}}}}"#,
            true
        ),
        F(#"{"a":6.0}"#, #"{"a":{"$bitsAllSet":6}}"#, true),
        F(#"{"a":6.5}"#, #"{"a":{"$bitsAllSet":6}}"#, false),
        F(#"{"a":-1}"#, #"{"a":{"$bitsAllSet":[200]}}"#, true),
        F(#"{"a":"x"}"#, #"{"a":{"$bitsAllClear":[0]}}"#, false),
        // §3.2: what PostgreSQL's patterns do not say.
        regex("one two", #"\\btwo\\b"#, true), regex("onetwo", #"\\btwo\\b"#, false),
        regex("aBC", "a(?i:bc)", true), regex("ABC", "a(?i:bc)", false),
        regex(#"x\ny"#, "x.y", false), regex(#"x\ny"#, "x.y", true, "s"), regex(#"x\ny"#, "x(?s).y", true),
        regex(#"x\ny"#, "^y$", false), regex(#"x\ny"#, "^y$", true, "m"), regex(#"x\ny"#, "(?m)^y$", true),
        regex("xy", "x y # why", true, "x"), regex("xy", "x y", false), regex("é", "^.$", true, "u"),
        regex("\u{663}", #"\\d"#, false), regex("\u{663}", #"(*UCP)\\d"#, true), regex("é", #"^\\w$"#, false),
        regex("é", #"^\\p{L}$"#, true), regex("ab", "^(a)?(?(1)b|c)$", true),
        regex("b", "^(a)?(?(1)b|c)$", false),
        regex("aaa", "a++a", false), regex("aaa", "a+a", true), regex("x", "(*UTF)x", true),
        regex(#"x\n"#, "x$", true), regex(#"x\n"#, #"x\\z"#, false), regex("ab", "(?<=a)b", true),
        regex("aa", #"(a)\\1"#, true),
    ]

    static let remainingFilterErrors: [(filter: String, code: Int)] = [
        (#"{"a":{"$type":null}}"#, 14), (#"{"a":{"$type":{}}}"#, 14),
        (#"{"a":{"$type":{"$date":"2024-01-01T00:00:00Z"}}}"#, 14), (#"{"a":{"$type":99}}"#, 2),
        (#"{"a":{"$mod":[{"$numberDouble":"NaN"},1]}}"#, 2),
        (#"{"a":{"$mod":[{"$numberDouble":"Infinity"},1]}}"#, 2), (#"{"a":{"$mod":[0.5,1]}}"#, 2),
        (#"{"a":{"$size":{"$numberLong":"2147483648"}}}"#, 2), (#"{"a":{"$size":-1.0}}"#, 2),
        (#"{"$jsonSchema":{"bsonType":"foo"}}"#, 2), (#"{"$jsonSchema":{"required":[]}}"#, 9),
        (#"{"$jsonSchema":{"minimum":"x"}}"#, 14), (#"{"a":{"$nearSphere":[0,0]}}"#, 2),
        (#"{"a":{"$geoIntersects":{"$geometry":{"type":"Point","coordinates":[0,0]}}}}"#, 2),
        (#"{"a":{"$not":{"$foo":1}}}"#, 2), (#"{"$and":{"a":1}}"#, 2),
        (#"{"a":{"$regex":"a","$options":1}}"#, 2),
    ]

    static let remainingFinds: [Row] = [
        // §4: a missing field sorts as null; a path through an array takes the values of all its objects.
        R(
            #"{"_id":1,"a":1},{"_id":2},{"_id":3,"a":null},{"_id":4,"a":{"$minKey":1}}"#,
            #"{"sort":{"a":1,"_id":1},"projection":{"_id":1}}"#,
            #"{"_id":4},{"_id":2},{"_id":3},{"_id":1}"#
        ),
        R(
            #"{"_id":1,"a":[{"b":5},{"b":1}]},{"_id":2,"a":{"b":3}},{"_id":3,"a":[{"b":2},7]}"#,
            #"{"sort":{"a.b":-1},"projection":{"_id":1}}"#,
            #"{"_id":1},{"_id":2},{"_id":3}"#
        ),
        R(#"{"_id":1}"#, #"{"sort":{"a":true}}"#, "error 15974"),
        R(
            #"{"_id":1,"a":1},{"_id":2,"a":2},{"_id":3,"a":3},{"_id":4,"a":4}"#,
            #"{"filter":{"a":{"$gt":1}},"sort":{"a":-1},"skip":1,"limit":1}"#,
            #"{"_id":3,"a":3}"#
        ),
        // §5: what inclusion drops and keeps, in which order.
        R(#"{"_id":1,"a":5}"#, #"{"projection":{"a.b":1}}"#, #"{"_id":1}"#),
        R(#"{"_id":1,"a":{"c":1}}"#, #"{"projection":{"a.b":1}}"#, #"{"_id":1,"a":{}}"#),
        R(#"{"_id":1,"a":{"b":1,"c":2}}"#, #"{"projection":{"a":{"b":1}}}"#, #"{"_id":1,"a":{"b":1}}"#),
        R(#"{"a":1,"_id":1,"b":2}"#, #"{"projection":{"b":1}}"#, #"{"_id":1,"b":2}"#),
        R(#"{"_id":1,"a":1,"b":2}"#, #"{"projection":{"a":2.5}}"#, #"{"_id":1,"a":1}"#),
        R(#"{"_id":1,"a":1,"b":2}"#, #"{"projection":{"a":false}}"#, #"{"_id":1,"b":2}"#),
        R(#"{"_id":1,"a":1,"b":2}"#, #"{"projection":{"a":0,"_id":0}}"#, #"{"b":2}"#),
        R(#"{"_id":1,"a":1,"b":2}"#, #"{"projection":{"_id":0,"x":["$a",7]}}"#, #"{"x":[1,7]}"#),
        R(#"{"_id":1,"a":[1,2,3]}"#, #"{"projection":{"a":{"$slice":1.9}}}"#, #"{"_id":1,"a":[1]}"#),
        R(#"{"_id":1,"a":[1,2,3]}"#, #"{"projection":{"a":{"$slice":[-2,1]}}}"#, #"{"_id":1,"a":[2]}"#),
        R(#"{"_id":1,"a":1}"#, #"{"projection":{"b":0,"a":{"$add":["$a",1]}}}"#, "error 31252"),
        R(
            #"{"_id":1,"a":[{"x":1},{"x":2}]}"#,
            #"{"filter":{"$or":[{"a.x":2},{"a.x":1}]},"projection":{"a.$":1}}"#,
            #"{"_id":1,"a":[{"x":2}]}"#
        ),
        R(
            #"{"_id":1,"a":[1,5,9]}"#,
            #"{"filter":{"a":{"$gt":4}},"projection":{"a.$":1,"a":{"$slice":1}}}"#,
            "error 28667"
        ),
        // The order in which documents lie.
        R(#"{"_id":1},{"_id":2}"#, #"{"sort":{"$natural":-1}}"#, #"{"_id":2},{"_id":1}"#),
        R(#"{"_id":1},{"_id":2}"#, #"{"sort":{"$natural":1}}"#, #"{"_id":1},{"_id":2}"#),
        R(#"{"_id":1}"#, #"{"sort":{"$natural":1,"a":1}}"#, "error 2"),
        R(#"{"_id":1}"#, #"{"sort":{"$natural":2}}"#, "error 2"),
    ]

    static let remainingUpdates: [Row] = [
        // §2: an update's path opens no array by itself.
        R(#"{"_id":1,"a":[1]}"#, #"{"update":{"$set":{"a.b":1}}}"#, "error 28"),
        R(#"{"_id":1}"#, #"{"update":{"$set":{"":1}}}"#, "error 56"),
        R(#"{"_id":1}"#, #"{"update":{"$set":{"a.b.c":1}}}"#, #"{"_id":1,"a":{"b":{"c":1}}}"#),
        R(#"{"_id":1}"#, #"{"update":{"$unset":{"a":""}}}"#, #"{"_id":1}"#),
        R(#"{"_id":1,"a":null}"#, #"{"update":{"$inc":{"a":1}}}"#, "error 14"),
        R(#"{"_id":1}"#, #"{"update":{"$inc":{"a":"x"}}}"#, "error 14"),
        R(
            #"{"_id":1,"a":{"$numberLong":"9223372036854775807"}}"#,
            #"{"update":{"$mul":{"a":2}}}"#,
            "error 2"
        ),
        R(#"{"_id":1,"a":3}"#, #"{"update":{"$max":{"a":3.0}}}"#, #"{"_id":1,"a":3}"#),
        R(#"{"_id":1,"a":3}"#, #"{"update":{"$rename":{"_id":"b"}}}"#, "error 66"),
        R(#"{"_id":1,"a":3}"#, #"{"update":{"$rename":{"a":"b.$[]"}}}"#, "error 2"),
        R(
            #"{"_id":1}"#,
            #"{"update":[{"$set":{"t":{"$type":"$$NOW"}}}]}"#,
            #"{"_id":1,"t":"date"}"#
        ),
        R(
            #"{"_id":1}"#,
            #"{"update":{"$currentDate":{"d":{"$type":"date"}}}}"#,
            #"{"_id":1,"d":{"$date":"2023-11-14T22:13:20.123Z"}}"#
        ),
        R(#"{"_id":1}"#, #"{"update":{"$currentDate":{"d":{"$type":"string"}}}}"#, "error 2"),
        R(
            #"{"_id":1,"a":[3]}"#,
            #"{"update":{"$push":{"a":{"$slice":1}}}}"#,
            #"{"_id":1,"a":[3,{"$slice":1}]}"#
        ),
        R(#"{"_id":1}"#, #"{"update":{"$push":{"a":{"$each":[1],"$position":"x"}}}}"#, "error 2"),
        R(#"{"_id":1}"#, #"{"update":{"$push":{"a":{"$each":[1],"$slice":"x"}}}}"#, "error 2"),
        R(#"{"_id":1}"#, #"{"update":{"$push":{"a":{"$each":[1],"$sort":2}}}}"#, "error 2"),
        R(
            #"{"_id":1,"a":[1]}"#,
            #"{"update":{"$push":{"a":{"$each":[2,3],"$slice":2}}}}"#,
            #"{"_id":1,"a":[1,2]}"#
        ),
        R(#"{"_id":1,"a":[1,2,3]}"#, #"{"update":{"$pop":{"a":1}}}"#, #"{"_id":1,"a":[1,2]}"#),
        R(
            #"{"_id":1,"a":[{"x":1},[{"x":1}],[]]}"#,
            #"{"update":{"$pull":{"a":{"$elemMatch":{"x":1}}}}}"#,
            #"{"_id":1,"a":[{"x":1},[]]}"#
        ),
        R(
            #"{"_id":1,"a":[{"x":1,"y":1},{"x":1}]}"#,
            #"{"update":{"$pullAll":{"a":[{"x":1}]}}}"#,
            #"{"_id":1,"a":[{"x":1,"y":1}]}"#
        ),
        // Positional forms.
        R(#"{"_id":1,"a":[1]}"#, #"{"filter":{"a":{"$ne":3}},"update":{"$set":{"a.$":0}}}"#, "error 2"),
        R(
            #"{"_id":1,"a":[{"b":[1]}]}"#,
            #"{"filter":{"a.b":1},"update":{"$set":{"a.$.b.$":0}}}"#,
            "error 2"
        ),
        R(#"{"_id":1}"#, #"{"update":{"$set":{"a.$[]":1}}}"#, "error 2"),
        R(
            #"{"_id":1,"a":[1]}"#,
            #"{"update":{"$set":{"a.$[E]":1}},"arrayFilters":[{"E":1}]}"#,
            "error 2"
        ),
        // Conflicts, the order of paths, names of fields.
        R(#"{"_id":1}"#, #"{"update":{"$set":{"a":1},"$inc":{"a":1}}}"#, "error 40"),
        R(
            #"{"_id":1,"a":{}}"#,
            #"{"update":{"$set":{"a.10":1,"a.9":2}}}"#,
            #"{"_id":1,"a":{"9":2,"10":1}}"#
        ),
        R(#"{"_id":1}"#, #"{"update":{"$set":{"a":{"$b":1}}}}"#, #"{"_id":1,"a":{"$b":1}}"#),
        R(#"{"_id":1}"#, #"{"update":{"$set":{"$a":1}}}"#, "error 52"),
        // A name with `$` is refused where it would come into being, and only there.
        R(#"{"_id":1,"a":1}"#, #"{"update":{"$rename":{"$a":"b"}}}"#, #"{"_id":1,"a":1}"#),
        R(#"{"_id":1,"a":1}"#, #"{"update":{"$rename":{"a":"$b"}}}"#, "error 52"),
        R(#"{"_id":1}"#, #"{"update":{"$unset":{"$a":""},"$setOnInsert":{"$b":1}}}"#, #"{"_id":1}"#),
        R(
            #"{"_id":1,"a":[1]}"#,
            #"{"update":{"$set":{"a.$[e]":1}},"arrayFilters":[{"$expr":{"$gt":["$e",1]}}]}"#,
            "error 224"
        ),
    ]
}
