import BSON
import Errors
import MQL
import QueryCompiler
import Rules
import Schemas

/// Rule files: whatever passes the check can decide about documents, and never opens what it should close.
struct RulesSubject: FuzzSubject {
    let name = "rules"

    static let ownerRules = """
        {"roles":[{"name":"owner","apply_when":{},"document_filters":{"read":{"owner":"%%user.id"},
         "write":{"owner":"%%user.id"}},"fields":{"a":{"read":true,"write":false}},"additional_fields":
         {"read":true,"write":true}}]}
        """

    static func plan(_ rules: String) throws -> AccessPlan {
        let parsed = RulesParser.parse(try ExtendedJSON.document(rules))
        return try RoleResolver.resolve(rules: parsed.rules, schema: nil, context: context)
    }

    private static let context = RuleContext(
        user: RuleUser(
            id: "ann",
            type: "normal",
            data: ["email": "ann@example.com"],
            customData: ["team": "red", "list": [1, 2]],
            identities: [.init(id: "ann", providerType: "local-userpass")]
        ),
        values: ["admins": ["ann"], "limit": 5],
        environmentTag: "testing",
        environmentValues: ["base": "x"],
        request: RuleRequest(httpMethod: "POST", headers: [("x-team", ["red"])], remoteIPAddress: "10.0.0.1")
    )

    func run(_ input: [UInt8]) throws -> Bool {
        guard let text = try attempt({ () throws(ServiceError) in try ExtendedJSON.readDocument(input) })
        else { return false }
        let (rules, faults) = RulesParser.parse(text)
        guard
            let plan = try attempt({ () throws(ServiceError) in
                try RoleResolver.resolve(rules: rules, schema: nil, context: Self.context)
            })
        else { return false }
        if faults.contains(where: { $0.severity == .error }),
            SampleDocuments.all.contains(where: { plan.visible($0) != nil })
        {
            throw Finding("rules with errors let documents be seen")
        }
        for document in SampleDocuments.all {
            if let seen = plan.visible(document) {
                // Reading takes away and never adds.
                for field in seen where document[field.key] == nil {
                    throw Finding("reading adds the field \(field.key)")
                }
            }
            _ = plan.denial(of: .insert, before: nil, after: document)
            _ = plan.denial(of: .delete, before: document, after: nil)
            for other in SampleDocuments.all.prefix(2) {
                _ = plan.denial(of: .update, before: document, after: other)
            }
        }
        let layout = try CollectionLayout(id: 1, schema: "fuzz", name: "Items", promoted: Array("{}".utf8))
        let compiler = QueryCompiler(layout: layout, plan: plan)
        _ = compiler.find(FindArguments()).statement()
        _ = compiler.delete(.all, many: true)
        return !faults.contains { $0.severity == .error }
    }
}

/// Schemas: `{"schema": …, "documents": […]}`.
struct SchemaSubject: FuzzSubject {
    let name = "schema"

    func run(_ input: [UInt8]) throws -> Bool {
        guard let text = try attempt({ () throws(ServiceError) in try ExtendedJSON.readDocument(input) }),
            let body = text["schema"]?.document,
            let schema = try attempt({ () throws(ServiceError) in try SchemaParser.parse(body) })
        else { return false }
        let documents = (text["documents"]?.array ?? []).compactMap(\.document) + SampleDocuments.all
        for document in documents {
            let first = schema.violations(document)
            let second = schema.violations(document, previous: document)
            if first.isEmpty != second.isEmpty, !schema.hasValidate {
                throw Finding("a document that fits does not fit after no change")
            }
        }
        return true
    }
}
