import BSON
import Rules
import Schemas
import Testing

@Suite("Rule expression parser")
struct RuleExpressionParserTests {
    func parse(_ value: BSONValue) -> (RuleExpression, [RuleFault]) {
        var parser = RuleExpressionParser()
        let expression = parser.parse(value, at: "$")
        return (expression, parser.faults)
    }

    @Test(
        "takes every documented form",
        arguments: [
            #"{}"#, #"{"owner": "%%user.id"}"#, #"{"%%true": true}"#, #"{"%%true": "%%true"}"#,
            #"{"%%user.custom_data.isAdmin": true}"#, #"{"owner.id": {"$in": ["%%user.id", "x"]}}"#,
            #"{"%%user.id": {"%in": "%%values.admins"}}"#, #"{"n": {"%and": [{"$gt": 0}, {"$lte": 42}]}}"#,
            #"{"n": {"$gt": 0, "%lte": 42, "$ne": 7}}"#, #"{"%or": [{"a": 1}, {"b": {"$exists": 1}}]}"#,
            #"{"$nor": [{"a": 1}], "%not": {"b": 2}}"#, #"{"n": {"%not": {"$gt": 5}}}"#,
            #"{"_id": {"%stringToOid": "%%user.id"}}"#, #"{"u": {"%stringToUuid": "%%user.data.u"}}"#,
            #"{"%%user.id": {"%oidToString": "%%root.owner"}}"#,
            #"{"u": {"$eq": {"%uuidToString": "%%prevRoot.u"}}}"#,
            #"{"ids": {"$in": [{"%stringToOid": "%%user.id"}]}}"#, #"{"c": {"$all": ["%%user.id"]}}"#,
            #"{"%%environment.tag": "production", "%%environment.values.base": "x"}"#,
            #"{"%%request.remoteIPAddress": "10.0.0.1", "%%request.requestHeaders.X-Team": "red"}"#,
            #"{"%%prevRoot": {"%exists": false}}"#, #"{"%%prev": "%%this"}"#,
            #"{"%%user.identities.providerType": "anon-user"}"#,
            #"{"when": {"$date": 5}}"#, #"{"place": {"city": "x"}}"#, #"{"tags": ["a", "b"]}"#,
            #"{"a": null}"#,
        ]
    )
    func takes(text: String) {
        let (expression, faults) = parse(.document(json(text)))
        #expect(faults.isEmpty, "\(faults)")
        #expect(expression != .refused)
    }

    @Test(
        "refuses with the place and the name",
        arguments: [
            (#"{"%%user.id%%": 1}"#, "$[\"%%user.id%%\"]", "write '%%user.id'"),
            (#"{"a": "%%user.id%%"}"#, "$.a", "write '%%user.id'"),
            (#"{"a": "%%usr.id"}"#, "$.a", "'%%usr.id' is not an expansion"),
            (#"{"a": "%%user.name"}"#, "$.a", "custom_data"),
            (#"{"a": "%%environment.foo"}"#, "$.a", "tag and values"),
            (#"{"a": "%%request.body"}"#, "$.a", "no 'body'"),
            (#"{"a": "%%user..id"}"#, "$.a", "empty"),
            (#"{"%%args.x": 1}"#, "$[\"%%args.x\"]", "third-party"),
            (#"{"%%partition": 1}"#, "$[\"%%partition\"]", "partition"),
            (#"{"%%true": {"%function": "f"}}"#, "$[\"%%true\"][\"%function\"]", "the name of a function"),
            (#"{"%function": {"name": ""}}"#, "$[\"%function\"]", "the name of a function"),
            (#"{"%function": {"name": "f", "arguments": 5}}"#, "$[\"%function\"].arguments", "an array"),
            (
                #"{"a": {"%function": {"name": "f", "arguments": ["%%usr"]}}}"#,
                "$.a[\"%function\"].arguments[0]", "'%%usr' is not an expansion"
            ),
            (
                #"{"a": {"%function": {"name": "f"}, "$gt": 1}}"#, "$.a[\"%function\"]",
                "beside other operators"
            ),
            (#"{"$who": 1}"#, "$[\"$who\"]", "unknown operator '$who'"),
            (#"{"a": {"$regex": "x"}}"#, "$.a[\"$regex\"]", "'$regex'"),
            (#"{"a": {"$elemMatch": {"b": 1}}}"#, "$.a[\"$elemMatch\"]", "'$elemMatch'"),
            (#"{"a": {"$size": 1}}"#, "$.a[\"$size\"]", "'$size'"),
            (#"{"$in": [1]}"#, "$[\"$in\"]", "below a field"),
            (#"{"%and": []}"#, "$[\"%and\"]", "non-empty"),
            (#"{"%or": [{"a": 1}, 5]}"#, "$[\"%or\"][1]", "a boolean or an object"),
            (#"{"a": {"$gt": 1, "b": 2}}"#, "$.a.b", "stands among operators"),
            (#"{"a": {"$in": 5}}"#, "$.a[\"$in\"]", "array"),
            (#"{"a": {"$exists": "yes"}}"#, "$.a[\"$exists\"]", "boolean"),
            (#"{"a": {"%not": 5}}"#, "$.a[\"%not\"]", "operators"),
            (#"{"a": {"b": {"$gt": 1}}}"#, "$.a.b[\"$gt\"]", "cannot stand in a value"),
            (#"{"a": {"%stringToOid": {"$gt": 1}}}"#, "$.a[\"%stringToOid\"]", "no operators"),
            (#"{"": 1}"#, "$[\"\"]", "not a field path"),
            (#"{"a..b": 1}"#, "$[\"a..b\"]", "not a field path"),
        ]
    )
    func refuses(text: String, path: String, hint: String) {
        let (expression, faults) = parse(.document(json(text)))
        #expect(
            faults.contains { $0.severity == .error && $0.jsonPath == path && $0.message.contains(hint) },
            "\(faults)"
        )
        let everything = [expression, .all([])]
        #expect(everything.contains(where: Self.containsRefusal))
    }

    static func containsRefusal(_ expression: RuleExpression) -> Bool {
        switch expression {
        case .refused: true
        case .all(let members), .any(let members): members.contains(where: containsRefusal)
        case .not(let member): containsRefusal(member)
        case .constant, .comparison: false
        }
    }

    @Test("refuses what is neither a boolean nor an object", arguments: [BSONValue.null, 1, "yes", [true]])
    func refusesOthers(value: BSONValue) {
        let (expression, faults) = parse(value)
        #expect(expression == .refused)
        #expect(faults.count == 1)
    }

    @Test("ends on expressions that nest without end")
    func boundsDepth() {
        var deep: BSONValue = true
        for _ in 0..<5000 { deep = ["%not": deep] }
        #expect(parse(deep).1.contains { $0.message.contains("100 levels") })
        var tests: BSONValue = ["$gt": 1]
        for _ in 0..<5000 { tests = ["%not": tests] }
        #expect(parse(["a": tests]).1.contains { $0.message.contains("100 levels") })
    }

    @Test("warns of a conversion that can never work")
    func warnsOfConversion() {
        let faults = parse(["_id": ["%stringToOid": "short"]]).1
        #expect(faults.map(\.severity) == [.warning])
    }
}
