import BSON
import MQL
import Rules
import Schemas
import Testing

/// A document from Extended JSON text; a test that writes it wrong stops.
func json(_ text: String) -> BSONDocument {
    do {
        return try ExtendedJSON.readDocument(Array(text.utf8))
    } catch {
        fatalError("\(error): \(text)")
    }
}

/// A user with custom data.
func user(_ id: String = "u1", type: String = "normal", data: String = "{}", custom: String? = nil)
    -> RuleContext
{
    RuleContext(
        user: RuleUser(
            id: id,
            type: type,
            data: json(data),
            customData: custom.map(json),
            identities: [.init(id: "i1", providerType: "local-userpass")]
        ),
        values: json(#"{"admins": ["u1", "u9"], "limit": 5, "nothing": null}"#),
        environmentTag: "testing",
        environmentValues: json(#"{"base": "https://a"}"#),
        request: RuleRequest(
            httpMethod: "POST",
            headers: [("x-team", ["red", "blue"])],
            remoteIPAddress: "10.0.0.1"
        )
    )
}

/// The plan for roles as they stand in a rules file; faults other than warnings stop the test.
func accessPlan(
    roles: String,
    filters: String = "[]",
    schema: String? = nil,
    _ context: RuleContext = user(),
    options: RuleOptions = RuleOptions()
) throws -> AccessPlan {
    let (rules, faults) = RulesParser.parse(json("{\"roles\": \(roles), \"filters\": \(filters)}"))
    if let error = faults.first(where: { $0.severity == .error }) { fatalError("\(error)") }
    let schema = try schema.map { try SchemaParser.parse(json($0)) }
    return try RoleResolver.resolve(rules: rules, schema: schema, context: context, options: options)
}

/// The plan of one role that reads what an expression permits.
func accessPlan(reading expression: String, _ context: RuleContext = user()) throws -> AccessPlan {
    try accessPlan(roles: "[{\"name\": \"r\", \"apply_when\": {}, \"read\": \(expression)}]", context)
}

extension AccessPlan {
    /// Whether a change is permitted.
    func permits(_ kind: WriteKind, _ before: String?, _ after: String?) -> Bool {
        denial(of: kind, before: before.map(json), after: after.map(json)) == nil
    }

    /// What can be seen of a document, as text; nil when nothing can.
    func shown(_ document: String) -> String? {
        visible(json(document)).map { ExtendedJSON.relaxed(.document($0)) }
    }

    /// What the filter says of a document.
    func readFilterMatches(_ document: String) throws -> Bool {
        try readFilter.matches(json(document), EvaluationContext(now: 0))
    }
}

extension WritePredicate {
    /// What the predicate says of a change.
    func holds(_ before: BSONDocument?, _ after: BSONDocument?) throws -> Bool {
        switch self {
        case .before(let filter): try filter.matches(try #require(before), EvaluationContext(now: 0))
        case .after(let filter): try filter.matches(try #require(after), EvaluationContext(now: 0))
        case .and(let members): try members.allSatisfy { try $0.holds(before, after) }
        case .or(let members): try members.contains { try $0.holds(before, after) }
        case .not(let member): try !member.holds(before, after)
        }
    }
}
