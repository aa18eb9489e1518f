import BSON
import Errors
import MQL
import Rules
import Testing

@Suite("Rules that ask functions")
struct FunctionRuleTests {
    /// The context of a caller whose rules may ask.
    private static func asking(_ answers: FunctionAnswers) -> RuleContext {
        var context = user()
        context.answers = answers
        return context
    }

    private static let byCaller = """
        [{"name": "member", "apply_when": {"%%true": {"%function":
            {"name": "isMember", "arguments": ["%%user.id", "%%values.admins", "%%user.custom_data.x"]}}},
          "read": true, "write": true}]
        """

    @Test("ask what is known of the caller once, before any document, and decide by the answer")
    func caller() throws {
        let answers = FunctionAnswers()
        let question = FunctionQuestion(
            name: "isMember",
            arguments: [.string("u1"), ["u1", "u9"], .undefined]
        )
        let undecided = try accessPlan(roles: Self.byCaller, Self.asking(answers))
        #expect(answers.takeOpen() == [question])
        #expect(undecided.shown("{}") == nil)
        #expect(undecided.readFilter == .nothing)

        answers.answer(question, true)
        let member = try accessPlan(roles: Self.byCaller, Self.asking(answers))
        #expect(answers.takeOpen() == [])
        #expect(member.readFilter == .all)
        #expect(member.permits(.insert, nil, #"{"_id": 1}"#))
        #expect(member.dependsOnRequest)

        for answer in [BSONValue.bool(false), .int32(1), .string("true"), nil] {
            answers.answer(question, answer)
            let plan = try accessPlan(roles: Self.byCaller, Self.asking(answers))
            #expect(plan.shown(#"{"_id": 1}"#) == nil, "\(String(describing: answer))")
            #expect(answers.takeOpen() == [])
        }
    }

    @Test("ask about each document, and let nobody in before the answer, not by a negation either")
    func documents() throws {
        for text in [
            #"{"%%true": {"%function": {"name": "f", "arguments": ["%%root.team"]}}}"#,
            #"{"%function": {"name": "f", "arguments": ["%%root.team"]}}"#,
        ] {
            let answers = FunctionAnswers()
            let plan = try accessPlan(reading: text, Self.asking(answers))
            #expect(!plan.readFilterIsExact)
            #expect(plan.readFilter == .all)
            #expect(plan.shown(#"{"team": "a"}"#) == nil)
            #expect(plan.shown(#"{"team": "b"}"#) == nil)
            #expect(plan.shown(#"{"team": "a", "n": 1}"#) == nil)
            let open = answers.takeOpen()
            #expect(open.map(\.arguments) == [["a"], ["b"]])
            answers.answer(open[0], true)
            answers.answer(open[1], nil)
            #expect(plan.shown(#"{"team": "a"}"#) == #"{"team":"a"}"#)
            #expect(plan.shown(#"{"team": "b"}"#) == nil)
        }
        let answers = FunctionAnswers()
        let plan = try accessPlan(
            reading: #"{"%not": {"%%true": {"%function": {"name": "f", "arguments": ["%%root"]}}}}"#,
            Self.asking(answers)
        )
        #expect(plan.shown(#"{"a": 1}"#) == nil)
        let open = answers.takeOpen()
        #expect(open.map(\.arguments) == [[.document(["a": 1])]])
        answers.answer(open[0], nil)
        #expect(plan.shown(#"{"a": 1}"#) == nil)
        answers.answer(open[0], false)
        #expect(plan.shown(#"{"a": 1}"#) == #"{"a":1}"#)
    }

    @Test("ask about both images of a change; one that is not there is undefined")
    func images() throws {
        let answers = FunctionAnswers()
        let plan = try accessPlan(
            roles: """
                [{"name": "r", "apply_when": {}, "read": true, "write": {"%%true": {"%function":
                    {"name": "f", "arguments": ["%%root.n", "%%prevRoot.n"]}}}}]
                """,
            Self.asking(answers)
        )
        #expect(plan.writePredicate(.update) == nil)
        #expect(!plan.permits(.update, #"{"n": 1}"#, #"{"n": 2}"#))
        #expect(!plan.permits(.insert, nil, #"{"_id": 1, "n": 3}"#))
        let open = answers.takeOpen()
        #expect(open.map(\.arguments) == [[2, 1], [3, .undefined]])
        for question in open { answers.answer(question, true) }
        #expect(plan.permits(.update, #"{"n": 1}"#, #"{"n": 2}"#))
        #expect(plan.permits(.insert, nil, #"{"_id": 1, "n": 3}"#))
    }

    @Test("take lists and values from functions, in filters, too")
    func values() throws {
        let answers = FunctionAnswers()
        let teams = FunctionQuestion(name: "teams", arguments: ["u1"])
        answers.answer(teams, ["red", "blue"])
        let call = #"{"%function": {"name": "teams", "arguments": ["%%user.id"]}}"#
        for expression in [#"{"team": \#(call)}"#, #"{"team": {"$in": \#(call)}}"#] {
            let plan = try accessPlan(reading: expression, Self.asking(answers))
            #expect(try plan.readFilterMatches(#"{"team": "red"}"#))
            #expect(try !plan.readFilterMatches(#"{"team": "green"}"#))
        }
        let plan = try accessPlan(
            roles: #"[{"name": "r", "apply_when": {}, "read": true}]"#,
            filters: #"[{"name": "f", "apply_when": true, "query": {"team": {"$in": \#(call)}}}]"#,
            Self.asking(answers)
        )
        #expect(try plan.queryFilter.matches(json(#"{"team": "blue"}"#), EvaluationContext(now: 0)))
        #expect(try !plan.queryFilter.matches(json(#"{"team": "green"}"#), EvaluationContext(now: 0)))
    }

    @Test("are missing where nobody can be asked")
    func nobody() throws {
        #expect(try accessPlan(roles: Self.byCaller).shown("{}") == nil)
    }

    @Test("name their functions, and are no rules for Sync")
    func names() throws {
        let (rules, faults) = RulesParser.parse(
            json(
                """
                {"roles": [{"name": "r", "apply_when": {"%function": {"name": "b"}}, "insert": {"x":
                    {"%function": {"name": "a", "arguments": [{"%function": {"name": "c"}}]}}}, "read": true}]}
                """
            )
        )
        #expect(faults.isEmpty)
        #expect(rules.functionNames == ["a", "b", "c"])
        #expect(
            SyncCompatibility.obstacles(rules.roles[0], queryableFields: ["x"]).contains(
                "insert asks the function 'a'"
            )
        )
    }
}
