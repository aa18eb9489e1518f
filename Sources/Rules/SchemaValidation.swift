public import BSON
public import Schemas

/// A schema with its `validate` expressions parsed; made once when an app is loaded.
///
/// Source: `rules.md` §14.1.
public struct SchemaValidation: Sendable {
    /// The schema whose expressions these are.
    public let schema: CollectionSchema
    /// What is wrong with the expressions.
    public let faults: [RuleFault]
    /// The functions that the expressions ask, sorted.
    public let functionNames: [String]
    private let expressions: [BSONValue: RuleExpression]

    /// Parses every `validate` of a schema.
    public init(_ schema: CollectionSchema) {
        self.schema = schema
        var expressions: [BSONValue: RuleExpression] = [:]
        var faults: [RuleFault] = []
        for (path, validate) in schema.validateExpressions {
            var parser = RuleExpressionParser()
            expressions[validate] = parser.parse(validate, at: path)
            faults += parser.faults
        }
        self.expressions = expressions
        self.faults = faults
        functionNames = Set(expressions.values.flatMap(\.functionNames)).sorted()
    }

    /// What is wrong with a document, for callers that have no access plan.
    public func violations(
        _ document: BSONDocument,
        previous: BSONDocument?,
        context: RuleContext?,
        options: SchemaOptions = SchemaOptions()
    ) -> [SchemaViolation] {
        let evaluator = PartialEvaluator(context ?? RuleContext(user: nil))
        return resolved(evaluator, options)?
            .violations(document, images: DocumentImages(root: document, prevRoot: previous)) ?? []
    }

    /// The schema for one caller; nil when it constrains nothing.
    func resolved(_ evaluator: PartialEvaluator, _ options: SchemaOptions) -> ResolvedSchema? {
        guard !schema.isUnconstrained else { return nil }
        return ResolvedSchema(
            schema: schema,
            options: options,
            conditions: expressions.mapValues { evaluator.reduce($0, atDocumentLevel: false) }
        )
    }
}

/// A schema for one caller.
struct ResolvedSchema: Sendable {
    let schema: CollectionSchema
    var options: SchemaOptions
    /// By the expression as written.
    let conditions: [BSONValue: Condition]

    var hasConditions: Bool { !conditions.isEmpty }

    func violations(_ document: BSONDocument, images: DocumentImages) -> [SchemaViolation] {
        schema.violations(document, previous: images.prevRoot, options: options) { holds($0, images) }
    }

    func failedConditions(_ document: BSONDocument, images: DocumentImages) -> [SchemaViolation] {
        schema.failedConditions(document, previous: images.prevRoot) { holds($0, images) }
    }

    private func holds(_ site: SchemaSite, _ images: DocumentImages) -> Bool {
        guard let condition = conditions[site.validate] else { return false }
        return ConditionEvaluator(images.field(site.value, site.previous)).holds(condition)
    }
}

extension CollectionSchema {
    /// What is wrong with a document, `validate` expressions included.
    ///
    /// Without a context every expansion is missing.
    public func violations(
        _ document: BSONDocument,
        previous: BSONDocument?,
        context: RuleContext?
    ) -> [SchemaViolation] {
        SchemaValidation(self).violations(document, previous: previous, context: context)
    }
}
