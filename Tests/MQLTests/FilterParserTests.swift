import BSON
import Errors
import MQL
import Testing

@Suite("Filter text → tree")
struct FilterParserTests {
    @Test(
        "names the code of a bad operand",
        arguments: [
            (
                "{$foo:1}", 2,
                "unknown top level operator: $foo. If you have a field name that starts with a '$' symbol, consider using $getField or $setField."
            ),
            ("{$eq:1}", 2, "unknown top level operator: $eq."), ("{a:{$foo:1}}", 2, "unknown operator: $foo"),
            ("{a:{$and:[{b:1}]}}", 2, "unknown operator: $and"),
            ("{a:{$gt:1,b:2}}", 2, "unknown operator: b"),
            ("{$and:{}}", 2, "$and must be an array"), ("{$or:[]}", 2, "$or must be a nonempty array"),
            ("{$nor:[1]}", 2, "$nor entries need to be full objects"),
            ("{a:{$in:1}}", 2, "$in needs an array"), ("{a:{$nin:1}}", 2, "$nin needs an array"),
            ("{a:{$in:[{$gt:1}]}}", 2, "cannot nest $ under $in"),
            (
                "{a:{$gt:{$regularExpression:{pattern:'x',options:''}}}}", 2,
                "Can't have RegEx as arg to predicate over field 'a'."
            ),
            ("{a:{$ne:{$regularExpression:{pattern:'x',options:''}}}}", 2, "Can't have regex as arg to $ne."),
            ("{a:{$not:1}}", 2, "$not needs a regex or a document"),
            ("{a:{$not:{}}}", 2, "$not cannot be empty"),
            ("{a:{$type:'foo'}}", 2, "Unknown type name alias: foo"),
            ("{a:{$type:99}}", 2, "Invalid numerical type code: 99"),
            ("{a:{$type:1.5}}", 2, "Invalid numerical type code: 1.5"),
            ("{a:{$type:true}}", 14, "type must be represented as a number or a string"),
            ("{a:{$type:[]}}", 9, "$type must match at least one type"),
            ("{a:{$type:'Int'}}", 2, "Unknown type name alias: Int"),
            ("{a:{$mod:1}}", 2, "malformed mod, needs to be an array"),
            ("{a:{$mod:[1]}}", 2, "malformed mod, not enough elements"),
            ("{a:{$mod:[1,2,3]}}", 2, "malformed mod, too many elements"),
            ("{a:{$mod:[0,2]}}", 2, "divisor cannot be 0"),
            ("{a:{$mod:[0.5,2]}}", 2, "divisor cannot be 0"),
            ("{a:{$mod:['x',2]}}", 2, "malformed mod, divisor not a number"),
            ("{a:{$mod:[1e300,2]}}", 2, "malformed mod, divisor value is invalid"),
            ("{a:{$all:1}}", 2, "$all needs an array"),
            ("{a:{$all:[{$gt:1}]}}", 2, "no $ expressions in $all"),
            ("{a:{$all:[{$elemMatch:{b:1}},1]}}", 2, "$all/$elemMatch has to be consistent"),
            ("{a:{$all:[1,{$elemMatch:{b:1}}]}}", 2, "no $ expressions in $all"),
            ("{a:{$elemMatch:1}}", 2, "$elemMatch needs an Object"),
            ("{a:{$size:1.5}}", 2, "Failed to parse $size. Expected an integer"),
            ("{a:{$size:-1}}", 2, "Failed to parse $size. Expected a non-negative number in"),
            ("{a:{$size:'x'}}", 2, "Failed to parse $size. Expected a number in"),
            ("{a:{$size:{$numberLong:'9999999999'}}}", 2, "Failed to parse $size. Expected an integer"),
            ("{a:{$regex:1}}", 2, "$regex has to be a string"),
            ("{a:{$regex:'a',$options:1}}", 2, "$options has to be a string"),
            ("{a:{$options:'i'}}", 2, "$options needs a $regex"),
            ("{a:{$regex:'a',$options:'g'}}", 51108, "invalid flag in regex options: g"),
            ("{a:{$regex:'('}}", 51091, "Regular expression is invalid: missing closing parenthesis"),
            (
                "{a:{$regex:{$regularExpression:{pattern:'a',options:'i'}},$options:'m'}}", 51075,
                "options set in both $regex and $options"
            ),
            (
                "{a:{$options:'m',$regex:{$regularExpression:{pattern:'a',options:'i'}}}}", 51074,
                "options set in both $regex and $options"
            ),
            ("{a:{$bitsAllSet:-1}}", 9, "Expected a non-negative number in: $bitsAllSet"),
            ("{a:{$bitsAllSet:1.5}}", 9, "Expected an integer"),
            ("{a:{$bitsAllSet:'x'}}", 2, "a field takes an Array"),
            ("{a:{$bitsAnySet:[-1]}}", 2, "Failed to parse bit position."),
            ("{a:{$undefined:true}}", 2, "cannot compare to undefined: field 'a'"),
            ("{'a.b':{$in:[{$undefined:true}]}}", 2, "cannot compare to undefined: field 'a.b'"),
            ("{$where:'1'}", 2, "$where is not allowed in this context"),
            ("{$text:{$search:'x'}}", 2, "$text is not served in this context"),
            ("{$sampleRate:'x'}", 2, "argument to $sampleRate must be a numeric type"),
            ("{$sampleRate:1.5}", 2, "numeric argument to $sampleRate must be in [0, 1]"),
            ("{a:{$near:[1,2]}}", 2, "$near is not allowed in this context"),
            ("{$expr:{$foo:1}}", 168, ""),
        ]
    )
    func refusals(text: String, code: Int, message: String) throws {
        let error = #expect(throws: ServiceError.self) { try MQLText.filter(text.json) }
        #expect(error?.serverCode?.number == code)
        #expect(error?.code == .mongoDBError)
        #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
    }

    @Test("makes an implicit conjunction one tree")
    func tree() throws {
        #expect(try MQLText.filter("{}") == .all)
        #expect(
            try MQLText.filter("{a:1,'b.c':{$gt:2,$lt:5}}".json)
                == .and([
                    .field("a", .compare(.equal, 1)),
                    .and([.field("b.c", .compare(.greater, 2)), .field("b.c", .compare(.less, 5))]),
                ])
        )
        #expect(try MQLText.filter("{a:{$ne:1}}".json) == .field("a", .not([.compare(.equal, 1)])))
    }
}

@Suite("Operators that users may not use")
struct RestrictedOperatorTests {
    @Test(
        "names the operator",
        arguments: [
            ("{$text:{}}", "$text"), ("{$where:'x'}", "$where"), ("{$jsonSchema:{}}", "$jsonSchema"),
            ("{a:{$near:[1]}}", "$near"),
            ("{$or:[{a:1},{a:{$not:{$geoWithin:{}}}}]}", "$geoWithin"),
            ("{a:{$elemMatch:{b:{$bitsAllSet:1}}}}", "$bitsAllSet"),
        ]
    )
    func refused(text: String, name: String) throws {
        let error = #expect(throws: ServiceError.self) {
            try FilterParser.parse(MQLText.document(text.json), allowsUserRestrictedOperators: false)
        }
        #expect(error?.code == .invalidParameter)
        #expect(error?.message == "operator '\(name)' is not available to application users")
    }

    @Test("lets an app decide about $regex and $expr")
    func options() throws {
        let regex = try MQLText.filter(
            "{$nor:[{a:{$in:[{$regularExpression:{pattern:'x',options:''}}]}}]}".json
        )
        let expression = try MQLText.filter("{$expr:{$eq:['$a',1]}}".json)
        try RestrictedOperators.check(filter: regex)
        try RestrictedOperators.check(filter: expression)
        let strict = RestrictedOperators.Options(allowsRegex: false, allowsExpr: false)
        #expect(throws: ServiceError.self) { try RestrictedOperators.check(filter: regex, options: strict) }
        #expect(throws: ServiceError.self) {
            try RestrictedOperators.check(filter: expression, options: strict)
        }
        let update = try UpdateParser.parse(
            MQLText.value("{$pull:{a:{$bitsAnySet:1}}}".json),
            multi: false
        )
        #expect(throws: ServiceError.self) { try RestrictedOperators.check(update: update) }
    }

    @Test("looks into every expression: of filters, of update pipelines, of projections")
    func expressions() throws {
        let subset = "{$setIsSubset:['$a',['x']]}"
        let filter = try MQLText.filter("{$or:[{b:1},{$expr:\(subset)}]}".json)
        let update = try UpdateParser.parse(MQLText.value("[{$set:{c:\(subset)}}]".json), multi: false)
        let projection = try #require(
            try ProjectionParser.parse(MQLText.document("{c:\(subset)}".json), inPipeline: false)
        )
        let checks: [() throws -> Void] = [
            { try RestrictedOperators.check(filter: filter) },
            { try RestrictedOperators.check(update: update) },
            { try RestrictedOperators.check(projection: projection) },
        ]
        for check in checks {
            let error = #expect(throws: ServiceError.self) { try check() }
            #expect(error?.message == "operator '$setIsSubset' is not available to application users")
        }
    }
}
