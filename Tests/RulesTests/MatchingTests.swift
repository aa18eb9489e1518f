import BSON
import MQL
import Rules
import Testing

/// `rules.md` §8.2 and §8.4: what an expression says of a caller and a document.
@Suite("Rule expressions")
struct MatchingTests {
    static let custom = """
        {"manages": ["a@x", "b@x"], "team": "red", "teams": ["red", "blue"], "none": null, "empty": [],
         "oid": {"$oid": "655000000000000000000001"}, "deep": {"list": [{"k": 1}, {"k": 2}]}, "level": 3}
        """

    static let cases: [(String, String, Bool)] = [
        (#"{}"#, "{}", true), ("true", "{}", true), ("false", "{}", false), (#""%%true""#, "{}", true),
        (#"{"owner": "%%user.id"}"#, #"{"owner": "u1"}"#, true),
        (#"{"owner": "%%user.id"}"#, #"{"owner": "u2"}"#, false),
        (#"{"owner": "%%user.id"}"#, "{}", false),
        (#"{"a.b": 1}"#, #"{"a": {"b": 1}}"#, true),
        (#"{"a.b": 1}"#, #"{"a": [{"b": 2}, {"b": 1}]}"#, true),
        // Numbers by value, across types.
        (#"{"n": 5}"#, #"{"n": {"$numberDecimal": "5.0"}}"#, true),
        (#"{"n": "%%values.limit"}"#, #"{"n": 5.0}"#, true),
        (#"{"n": 5}"#, #"{"n": "5"}"#, false),
        // An array field holds a scalar.
        (#"{"collaborators": "%%user.id"}"#, #"{"collaborators": ["u0", "u1"]}"#, true),
        (#"{"collaborators": "%%user.id"}"#, #"{"collaborators": []}"#, false),
        // A scalar field against an array that an expansion gave, not one that is written out.
        (#"{"email": "%%user.custom_data.manages"}"#, #"{"email": "b@x"}"#, true),
        (#"{"email": "%%user.custom_data.manages"}"#, #"{"email": "c@x"}"#, false),
        (#"{"email": "%%user.custom_data.manages"}"#, "{}", false),
        (#"{"email": ["a@x", "b@x"]}"#, #"{"email": "b@x"}"#, false),
        // Two arrays: element by element.
        (#"{"email": "%%user.custom_data.manages"}"#, #"{"email": ["a@x", "b@x"]}"#, true),
        (#"{"email": "%%user.custom_data.manages"}"#, #"{"email": ["b@x", "a@x"]}"#, false),
        (#"{"email": "%%user.custom_data.manages"}"#, #"{"email": ["a@x"]}"#, false),
        (#"{"email": "%%user.custom_data.empty"}"#, #"{"email": "x"}"#, false),
        // A literal null matches a missing field, as in MongoDB.
        (#"{"a": null}"#, "{}", true), (#"{"a": null}"#, #"{"a": 0}"#, false),
        (#"{"a": {"$ne": 5}}"#, "{}", true),
        // Types are told apart.
        (#"{"o": "%%user.custom_data.oid"}"#, #"{"o": {"$oid": "655000000000000000000001"}}"#, true),
        (#"{"o": "%%user.custom_data.oid"}"#, #"{"o": "655000000000000000000001"}"#, false),
        (#"{"o": {"%oidToString": "%%user.custom_data.oid"}}"#, #"{"o": "655000000000000000000001"}"#, true),
        (
            #"{"o": {"%stringToOid": "655000000000000000000001"}}"#,
            #"{"o": {"$oid": "655000000000000000000001"}}"#, true
        ),
        (
            #"{"o": {"%stringToOid": "%%user.custom_data.team"}}"#,
            #"{"o": {"$oid": "655000000000000000000001"}}"#, false
        ),
        (#"{"o": {"%stringToOid": "abcdefghijkl"}}"#, #"{"o": {"$oid": "6162636465666768696a6b6c"}}"#, true),
        (
            #"{"o": {"%stringToUuid": "00112233-4455-6677-8899-aabbccddeeff"}}"#,
            #"{"o": {"$uuid": "00112233-4455-6677-8899-aabbccddeeff"}}"#, true
        ),
        (
            #"{"s": {"%uuidToString": "%%root.o"}}"#,
            #"{"o": {"$uuid": "00112233-4455-6677-8899-aabbccddeeff"}, "s": "00112233-4455-6677-8899-aabbccddeeff"}"#,
            true
        ),
        (
            #"{"s": {"%oidToString": "%%root._id"}}"#,
            #"{"_id": {"$oid": "655000000000000000000001"}, "s": "655000000000000000000001"}"#, true
        ),
        // Operators.
        (#"{"n": {"$gt": 1, "$lte": 5}}"#, #"{"n": 5}"#, true),
        (#"{"n": {"%and": [{"$gt": 0}, {"$lt": 5}]}}"#, #"{"n": 5}"#, false),
        (#"{"n": {"%or": [{"$lt": 0}, {"$gte": 5}]}}"#, #"{"n": 5}"#, true),
        (#"{"n": {"$gt": "a"}}"#, #"{"n": 5}"#, false),
        (#"{"n": {"$lt": "%%user.custom_data.level"}}"#, #"{"n": 2}"#, true),
        (#"{"t": {"$in": "%%user.custom_data.teams"}}"#, #"{"t": "blue"}"#, true),
        (#"{"t": {"$in": ["green", "%%user.custom_data.team"]}}"#, #"{"t": "red"}"#, true),
        (#"{"t": {"$nin": "%%user.custom_data.teams"}}"#, #"{"t": "green"}"#, true),
        (#"{"t": {"$nin": ["%%user.custom_data.team"]}}"#, #"{"t": "red"}"#, false),
        (#"{"t": {"$in": "%%user.custom_data.team"}}"#, #"{"t": "red"}"#, false),
        (#"{"t": {"$all": ["%%user.id", "x"]}}"#, #"{"t": ["x", "u1", "y"]}"#, true),
        (#"{"t": {"$all": ["%%user.id", "x"]}}"#, #"{"t": ["u1"]}"#, false),
        (#"{"t": {"$exists": true}}"#, #"{"t": null}"#, true), (#"{"t": {"$exists": 0}}"#, "{}", true),
        (#"{"%or": [{"a": 1}, {"b": 1}]}"#, #"{"b": 1}"#, true),
        (#"{"%nor": [{"a": 1}, {"b": 1}]}"#, #"{"b": 1}"#, false),
        (#"{"%not": {"a": 1}}"#, #"{"a": 2}"#, true), (#"{"%and": [{"a": 1}, true]}"#, #"{"a": 1}"#, true),
        // The caller on the left.
        (#"{"%%user.id": "u1"}"#, "{}", true), (#"{"%%user.id": {"$in": "%%values.admins"}}"#, "{}", true),
        (#"{"%%user.type": "server"}"#, "{}", false), (#"{"%%user.custom_data.teams": "blue"}"#, "{}", true),
        (#"{"%%user.identities.providerType": "local-userpass"}"#, "{}", true),
        (#"{"%%user.custom_data.deep.list.k": 2}"#, "{}", true),
        (#"{"%%environment.tag": "testing"}"#, "{}", true),
        (#"{"%%environment.values.base": {"$ne": "x"}}"#, "{}", true),
        (#"{"%%request.httpMethod": "POST"}"#, "{}", true),
        (#"{"%%request.requestHeaders.X-Team": "blue"}"#, "{}", true),
        (#"{"%%request.httpUserAgent": {"$exists": false}}"#, "{}", true),
        // The caller on the left, the document on the right.
        (#"{"%%user.id": "%%root.owner"}"#, #"{"owner": "u1"}"#, true),
        (#"{"%%user.id": "%%root.owner"}"#, #"{"owner": ["u0", "u1"]}"#, true),
        (#"{"%%user.id": "%%root.owner"}"#, "{}", false),
        (#"{"%%user.custom_data.teams": "%%root.team"}"#, #"{"team": "blue"}"#, true),
        (#"{"%%user.custom_data.teams": "%%root.team"}"#, #"{"team": ["red", "blue"]}"#, true),
        (#"{"%%user.custom_data.teams": "%%root.team"}"#, #"{"team": ["blue"]}"#, false),
        (#"{"%%user.custom_data.none": "%%root.team"}"#, #"{"team": null}"#, true),
        (#"{"%%user.custom_data.none": "%%root.team"}"#, "{}", false),
        // The document on both sides.
        (#"{"a": "%%root.b"}"#, #"{"a": 1, "b": 1.0}"#, true), (#"{"a": "%%root.b"}"#, "{}", false),
        (#"{"a": {"$in": "%%root.b"}}"#, #"{"a": 1, "b": [3, 1]}"#, true),
        (#"{"a": {"$ne": "%%root.b"}}"#, #"{"a": 1}"#, false),
        // Documents as values.
        (#"{"p": {"who": "%%user.id", "n": 1}}"#, #"{"p": {"who": "u1", "n": 1}}"#, true),
        (#"{"p": {"who": "%%user.id", "n": 1}}"#, #"{"p": {"n": 1, "who": "u1"}}"#, false),
        (#"{"%%root": {"$exists": true}}"#, "{}", true),
        (#"{"%%prevRoot": {"%exists": false}}"#, "{}", false),
        (#"{"%%this.a": 1, "%%prev.a": 1, "%%prevRoot.a": 1}"#, #"{"a": 1}"#, true),
    ]

    @Test("match as the reference says", arguments: cases)
    func matches(expression: String, document: String, expected: Bool) throws {
        let plan = try accessPlan(reading: expression, user(custom: Self.custom))
        var document = json(document)
        if document["_id"] == nil { document.append("_id", 1) }
        #expect((plan.visible(document) != nil) == expected)
        // The filter lets nothing of it be overlooked, and is the same where it says so.
        let filtered = try plan.readFilter.matches(document, EvaluationContext(now: 0))
        #expect(expected ? filtered : true)
        if plan.readFilterIsExact { #expect(filtered == expected) }
    }

    @Test(
        "are never true by what is missing, whatever negates it",
        arguments: [
            #"{"owner": "%%user.custom_data.x"}"#, #"{"owner": {"$ne": "%%user.custom_data.x"}}"#,
            #"{"%not": {"owner": "%%user.custom_data.x"}}"#,
            #"{"owner": {"%not": {"$eq": "%%user.custom_data.x"}}}"#,
            #"{"%nor": [{"owner": "%%user.custom_data.x"}]}"#,
            #"{"owner": {"$nin": ["%%user.custom_data.x"]}}"#,
            #"{"owner": {"$nin": "%%user.custom_data.x"}}"#, #"{"owner": {"$in": "%%user.custom_data.x"}}"#,
            #"{"owner": {"$in": ["%%user.custom_data.x"]}}"#,
            #"{"owner": {"$nin": ["zz", "%%user.custom_data.x"]}}"#,
            #"{"%%user.custom_data.x": null}"#, #"{"%%user.custom_data.x": {"$ne": "banned"}}"#,
            #"{"%%user.custom_data.x": {"$nin": ["banned"]}}"#,
            #"{"%not": {"%%user.custom_data.x": "banned"}}"#,
            #"{"%%user.custom_data.x": "%%user.custom_data.x"}"#,
            #"{"%%user.custom_data.x": "%%root.missing"}"#,
            #"{"%not": {"%%user.custom_data.x": "%%root.owner"}}"#,
            #"{"%not": {"%%user.id": "%%root.missing"}}"#,
            #"{"missing": "%%root.absent"}"#, #"{"%not": {"missing": "%%root.absent"}}"#,
            #"{"owner": {"$gt": "%%user.custom_data.x"}}"#,
            #"{"owner": {"%not": {"$gt": "%%user.custom_data.x"}}}"#,
            #"{"owner": {"$all": ["u2", "%%user.custom_data.x"]}}"#,
            #"{"owner": {"%not": {"$all": ["u2", "%%user.custom_data.x"]}}}"#,
            #"{"owner": {"$ne": {"a": "%%user.custom_data.x"}}}"#,
            #"{"owner": {"$ne": ["%%user.custom_data.x"]}}"#,
            #"{"owner": {"$ne": {"%stringToOid": "%%user.custom_data.x"}}}"#,
            #"{"owner": {"$ne": {"%stringToOid": "short"}}}"#,
            #"{"owner": {"$ne": {"%stringToOid": "%%root.owner"}}}"#,
            #"{"owner": {"$nin": "%%values.limit"}}"#,
            #"{"%not": {"%not": {"owner": "%%user.custom_data.x"}}}"#,
            #"{"%%request.httpUserAgent": {"$ne": "curl"}}"#,
            #"{"%not": {"%or": [{"owner": "%%user.custom_data.x"}, {"owner": "nobody"}]}}"#,
            #"{"%%values.absent": {"$ne": 1}}"#, #"{"%%environment.values.absent": {"$ne": 1}}"#,
        ]
    )
    func failClosed(expression: String) throws {
        let contexts = [user(custom: "{}"), user(custom: nil), RuleContext(user: nil)]
        for context in contexts {
            let plan = try accessPlan(reading: expression, context)
            for document in [#"{"_id": 1}"#, #"{"_id": 1, "owner": "u2"}"#, #"{"_id": 1, "owner": null}"#] {
                #expect(plan.shown(document) == nil, "\(document)")
                #expect(try !plan.readFilterIsExact || !plan.readFilterMatches(document))
            }
        }
    }

    @Test("follow what is known where what is missing makes no difference")
    func knownDecides() throws {
        let plan = try accessPlan(
            reading: #"{"%not": {"%and": [{"owner": "%%user.custom_data.x"}, {"owner": "u2"}]}}"#
        )
        #expect(plan.shown(#"{"_id": 1, "owner": "u3"}"#) != nil)
        #expect(plan.shown(#"{"_id": 1, "owner": "u2"}"#) == nil)
        #expect(plan.readFilter == .field("owner", .not([.compare(.equal, "u2")])))
        #expect(plan.readFilterIsExact)
    }

    @Test("can ask whether an expansion is there")
    func presence() throws {
        #expect(
            try accessPlan(reading: #"{"%%user.custom_data.x": {"$exists": false}}"#).shown(#"{"_id": 1}"#)
                != nil
        )
        #expect(
            try accessPlan(reading: #"{"%%user.id": {"$exists": true}}"#, RuleContext(user: nil)).shown(
                #"{"_id": 1}"#
            ) == nil
        )
    }

    @Test("keep known members of a list when another one is missing")
    func partialLists() throws {
        let plan = try accessPlan(reading: #"{"t": {"$in": ["%%user.custom_data.x", "%%user.id", "a"]}}"#)
        #expect(plan.readFilter == .field("t", .inside([.value("u1"), .value("a")])))
        #expect(plan.readFilterIsExact)
    }
}
