import BSON
import Errors
import MQL
import Testing

@Suite("Refused updates")
struct UpdateErrorTests {
    @Test(
        "names the code and the field when parsing",
        arguments: [
            (
                "{$foo:{a:1}}", 9,
                "Unknown modifier: $foo. Expected a valid update modifier or pipeline-style update specified as an array"
            ),
            ("{$set:{a:1},b:1}", 9, "Unknown modifier: b."),
            ("{$set:'x'}", 9, "Modifiers operate on fields but we found type string instead."),
            (
                "{a:1,$set:{b:1}}", 52,
                "The dollar ($) prefixed field '$set' in '$set' is not allowed in the context of an update's replacement document."
            ),
            ("{$set:{'':1}}", 56, "An empty update path"),
            (
                "{$set:{'a.':1}}", 56,
                "The update path 'a.' contains an empty field name, which is not allowed."
            ), ("{$set:{'a..b':1}}", 56, "The update path"),
            ("{$set:{a:1},$inc:{a:1}}", 40, "Updating the path 'a' would create a conflict at 'a'"),
            ("{$set:{a:1,'a.b':1}}", 40, "Updating the path 'a.b' would create a conflict at 'a'"),
            ("{$set:{'a.b':1,a:1}}", 40, "Updating the path 'a' would create a conflict at 'a'"),
            ("{$set:{'a.$[].b':1},$inc:{'a.$[].b.c':1}}", 40, "Updating"),
            ("{$rename:{a:'b'},$set:{b:1}}", 40, "Updating the path 'b'"),
            ("{$inc:{a:'x'}}", 14, "Cannot increment with non-numeric argument: {a: \"x\"}"),
            ("{$mul:{a:null}}", 14, "Cannot multiply with non-numeric argument: {a: null}"),
            ("{$rename:{a:1}}", 2, "The 'to' field for $rename must be a string"),
            ("{$rename:{a:'a'}}", 2, "The source and target field for $rename must differ"),
            (
                "{$rename:{a:'a.b'}}", 2,
                "The source and target field for $rename must not be on the same path"
            ), ("{$rename:{'a.$':'b'}}", 2, "The source field for $rename may not be dynamic"),
            ("{$rename:{a:'b.$[]'}}", 2, "The destination field for $rename may not be dynamic"),
            ("{$currentDate:{a:1}}", 2, "int is not valid type for $currentDate."),
            ("{$currentDate:{a:{$type:'x'}}}", 2, "The '$type' string field is required"),
            ("{$currentDate:{a:{x:1}}}", 2, "Unrecognized $currentDate option: x"),
            ("{$push:{a:{$each:1}}}", 2, "The argument to $each in $push must be an array"),
            ("{$push:{a:{$each:[],$foo:1}}}", 2, "Unrecognized clause in $push: $foo"),
            ("{$push:{a:{$each:[],$position:'x'}}}", 2, "The value for $position must be an integer value"),
            ("{$push:{a:{$each:[],$slice:1.5}}}", 2, "The value for $slice must be an integer"),
            ("{$push:{a:{$each:[],$sort:2}}}", 2, "The $sort element value must be either 1 or -1"),
            ("{$push:{a:{$each:[],$sort:'x'}}}", 2, "The $sort is invalid"),
            ("{$addToSet:{a:{$each:1}}}", 14, "The argument to $each in $addToSet must be an array"),
            ("{$pop:{a:2}}", 9, "$pop expects 1 or -1, found: 2"),
            ("{$pop:{a:'x'}}", 9, "Expected a number in"),
            ("{$pullAll:{a:1}}", 2, "$pullAll requires an array argument"),
            ("{$pull:{a:{$foo:1}}}", 2, "unknown operator: $foo"),
            ("{$pull:{a:{$gt:1,$foo:1}}}", 2, "unknown operator: $foo"),
            ("{$bit:{a:1}}", 2, "The $bit modifier is not compatible"),
            ("{$bit:{a:{}}}", 2, "You must pass in at least one bitwise operation"),
            ("{$bit:{a:{nor:1}}}", 2, "The $bit modifier only supports 'and', 'or', and 'xor', not 'nor'"),
            ("{$bit:{a:{and:1.5}}}", 2, "The $bit modifier field must be an Integer"),
            (
                "{$set:{'$[]':1}}", 2,
                "Cannot have positional (i.e. '$') element in the first position in path '$[]'"
            ), ("{$set:{'a.$.b.$':1}}", 2, "Too many positional (i.e. '$') elements found in path 'a.$.b.$'"),
            ("{$set:{'a.$[x]':1}}", 2, "No array filter found for identifier 'x' in path 'a.$[x]'"),
            ("{$set:{'a.$[X]':1}}", 2, "Invalid array filter identifier 'X'"),
            ("5", 9, "Update argument must be either an object or an array"),
            ("[{$match:{a:1}}]", 72, "$match is not allowed to be used within an update"),
        ]
    )
    func parsing(text: String, code: Int, message: String) throws {
        let error = #expect(throws: ServiceError.self) {
            try UpdateParser.parse(MQLText.value(text.json), multi: false)
        }
        #expect(error?.serverCode?.number == code, "\(String(describing: error))")
        #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
    }

    @Test(
        "names the code and the place when applying",
        arguments: [
            ("{_id:1}", "{$set:{$a:1}}", 52, "The dollar ($) prefixed field '$a' in '$a'"),
            ("{_id:1,$a:1}", "{$inc:{$a:1}}", 52, "The dollar ($) prefixed field '$a' in '$a'"),
            ("{_id:1,a:5}", "{$set:{'a.b':1}}", 28, "Cannot create field 'b' in element {a: 5}"),
            ("{_id:1,a:[1]}", "{$set:{'a.b':1}}", 28, "Cannot create field 'b' in element {a: "),
            ("{_id:1,a:{b:null}}", "{$push:{'a.b.c':1}}", 28, "Cannot create field 'c' in element {b: null}"),
            (
                "{_id:1,a:'x'}", "{$inc:{a:1}}", 14,
                "Cannot apply $inc to a value of non-numeric type. {_id: 1} has the field 'a' of non-numeric type string"
            ), ("{_id:1,a:null}", "{$inc:{a:1}}", 14, "Cannot apply $inc"),
            ("{_id:1,a:null}", "{$mul:{a:1}}", 14, "Cannot apply $mul"),
            (
                "{_id:1,a:{$numberLong:'9223372036854775807'}}", "{$inc:{a:1}}", 2,
                "Failed to apply $inc operations to current value"
            ),
            (
                "{_id:1,a:{$numberLong:'9223372036854775807'}}", "{$mul:{a:2}}", 2,
                "Failed to apply $mul operations"
            ),
            (
                "{_id:1,a:1}", "{$push:{a:1}}", 2,
                "The field 'a' must be an array but is of type int in document {_id: 1}"
            ), ("{_id:1,a:null}", "{$push:{a:1}}", 2, "The field 'a' must be an array"),
            ("{_id:1,a:1}", "{$addToSet:{a:1}}", 2, "The field 'a'"),
            ("{_id:1,a:1}", "{$pull:{a:1}}", 2, "The field 'a'"),
            ("{_id:1,a:1}", "{$pullAll:{a:[1]}}", 2, "The field 'a'"),
            ("{_id:1,a:1}", "{$pop:{a:1}}", 14, "Path 'a' contains an element of non-array type 'int'"),
            ("{_id:1,a:1.5}", "{$bit:{a:{and:1}}}", 2, "Cannot apply $bit to a value of non-integral type."),
            ("{_id:1,a:[{b:1}]}", "{$rename:{'a.b':'c'}}", 2, "The source field cannot be an array element"),
            (
                "{_id:1,a:1,c:[1]}", "{$rename:{a:'c.x'}}", 2,
                "The destination field cannot be an array element"
            ),
            ("{_id:1,a:1}", "{$rename:{a:'_id'}}", 66, "Performing an update on the path '_id'"),
            ("{_id:1,a:1}", "{$rename:{'a.b':'c'}}", 28, "cannot use the part (b) of (a.b)"),
            ("{_id:1,a:'x'}", "{$pop:{'a.b':1}}", 28, "Cannot create field 'b'"),
            ("{_id:1,a:[{b:[1]}]}", "{$pop:{'a.b':1}}", 28, "Cannot create field 'b'"),
            ("{_id:1,a:[1]}", "{$rename:{a:'_id'}}", 66, "Performing an update on the path '_id'"),
            (
                "{_id:1}", "{$set:{_id:2}}", 66,
                "Performing an update on the path '_id' would modify the immutable field '_id'"
            ),
            ("{_id:{x:1}}", "{$set:{'_id.x':2}}", 66, "Performing"),
            ("{_id:1}", "{$unset:{_id:1}}", 66, "Performing"),
            ("{_id:1}", "{$rename:{_id:'a'}}", 66, "Performing"),
            (
                "{_id:1}", "{_id:2}", 66,
                "After applying the update, the (immutable) field '_id' was found to have been altered to _id: 2"
            ),
            (
                "{_id:1,a:[1]}", "{$set:{'a.$':1}}", 2,
                "The positional operator did not find the match needed from the query."
            ), ("{_id:1}", "{$set:{'a.$':1}}", 2, "The positional operator did not find"),
            (
                "{_id:1}", "{$set:{'a.$[]':1}}", 2,
                "The path 'a' must exist in the document in order to apply array updates."
            ),
            ("{_id:1,a:5}", "{$set:{'a.$[]':1}}", 2, "Cannot apply array updates to non-array element a: 5"),
            (
                "{_id:1,a:{b:1}}", "{$set:{'a.$[]':1}}", 2,
                "Cannot apply array updates to non-array element a: "
            ),
            ("{_id:1,a:[1,2]}", "{$set:{'a.$[]':1,'a.1':1}}", 40, "Update created a conflict at 'a.1'"),
            (
                "{_id:1,a:[{}]}", "{$set:{'a.$[].b.c':1,'a.0.b':1}}", 40,
                "Update created a conflict at 'a.0.b'"
            ),
            ("{_id:1,a:[1]}", "{$set:{'a.2000000':1}}", 2, "can't backfill more than 1500000 nulls"),
            ("{_id:1,a:[1]}", "{$set:{'a.99999999999999999999':1}}", 2, "can't backfill"),
            ("{_id:1,a:[1]}", "{$push:{'a.999999999':1}}", 2, "can't backfill"),
            ("{_id:1,a:[1]}", "{$set:{'a.01':1}}", 28, "Cannot create field '01'"),
        ]
    )
    func applying(document: String, update: String, code: Int, message: String) throws {
        let error = #expect(throws: ServiceError.self) { try MQLText.updated(document.json, update.json) }
        #expect(error?.serverCode?.number == code, "\(String(describing: error))")
        #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
    }

    @Test(
        "checks array filters",
        arguments: [
            (["{x:1}", "{x:2}"], 9, "Found multiple array filters with the same top-level field name x"),
            (["{x:1}", "{y:2}"], 9, "The array filter for identifier 'y' was not used in the update"),
            (["{}"], 9, "Cannot use an expression without a top-level field name in arrayFilters"),
            (
                ["{x:1,y:1}"], 9,
                "Error parsing array filter :: caused by :: Expected a single top-level field name, found 'x' and 'y'"
            ),
            (["{X:1}"], 2, "Error parsing array filter"), (["{'x.a':{$foo:1}}"], 2, "unknown operator: $foo"),
        ]
    )
    func arrayFilters(filters: [String], code: Int, message: String) throws {
        let error = #expect(throws: ServiceError.self) {
            try UpdateParser.parse(
                ["$set": ["a.$[x]": 1]],
                arrayFilters: filters.map { try MQLText.document($0.json) },
                multi: false
            )
        }
        #expect(error?.serverCode?.number == code)
        #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
    }

    @Test("refuses a replacement of many, and array filters where they cannot be")
    func forms() {
        #expect(MQLText.code { _ = try UpdateParser.parse(["a": 1], multi: true) } == 9)
        #expect(
            MQLText.code { _ = try UpdateParser.parse(["a": 1], arrayFilters: [["x": 1]], multi: false) } == 9
        )
        #expect(
            MQLText.code {
                _ = try UpdateParser.parse([["$set": ["a": 1]]], arrayFilters: [["x": 1]], multi: false)
            } == 9
        )
    }

    @Test("refuses results that cannot be stored")
    func limits() throws {
        func apply(_ update: BSONValue, to document: BSONDocument) throws {
            _ = try UpdateParser.parse(update, multi: false).apply(
                to: document,
                filter: .all,
                isUpsertInsert: false,
                MQLText.context
            )
        }
        let large = BSONValue.string(String(repeating: "x", count: 9 << 20))
        #expect(MQLText.code { try apply(["$set": ["b": large]], to: ["_id": 1, "a": large]) } == 10334)
        #expect(MQLText.code { try apply(["$set": ["b": large]], to: ["_id": 1]) } == nil)
        let path = (0..<DocumentLimits.maximumDepth).map { "p\($0)" }.joined(separator: ".")
        #expect(MQLText.code { try apply(["$set": [path: 1]], to: ["_id": 1]) } == nil)
        #expect(MQLText.code { try apply(["$set": [path: [1]]], to: ["_id": 1]) } == 15)
        #expect(MQLText.code { try apply(["$set": [path + ".x": 1]], to: ["_id": 1]) } == 15)
        // Many paddings that are allowed one by one.
        let fields = (0..<50).map { BSONDocument.Field(key: "a\($0)", value: .array([])) }
        let sets = (0..<50).map { BSONDocument.Field(key: "a\($0).1400000", value: 1) }
        #expect(
            MQLText.code { try apply(["$set": .document(BSONDocument(sets))], to: BSONDocument(fields)) } == 2
        )
        let pushed: [BSONValue] = [["_id": [1]], ["_id": .regex(BSONRegularExpression(pattern: "a"))]]
        for value in pushed { #expect(MQLText.code { try apply(value, to: BSONDocument()) } == 53) }
    }
}
