import Accounts
import AppDefinition
import BSON
import Errors
import MQL
import Rules

/// From a caller and an operation to what the caller may do: rules, restricted operators, role resolution.
///
/// The one function that every operation of every door passes; a test goes through all of them.
struct DataAuthorizer: Sendable {
    /// Learns of every question, so that a test can count them; nil in service.
    private let witness: (@Sendable (DataOperation) -> Void)?

    init(witness: (@Sendable (DataOperation) -> Void)? = nil) {
        self.witness = witness
    }

    /// Whether what a caller may do in a collection depends on functions.
    static func asksFunctions(_ namespace: Namespace, _ context: CallContext) -> Bool {
        guard case .user = context.principal else { return false }
        return context.app.rules(for: namespace)?.functionNames.isEmpty == false
            || context.app.validation(for: namespace)?.functionNames.isEmpty == false
    }

    /// What the caller may do; the system's plan lets everything pass.
    ///
    /// Without `answers`, what rules ask of functions is missing.
    func authorize(
        _ operation: DataOperation,
        _ context: CallContext,
        _ answers: FunctionAnswers? = nil
    ) throws(ServiceError) -> PreparedPlan {
        witness?(operation)
        let namespace = operation.namespace
        guard context.app.hasDataSource(namespace.dataSource) else {
            throw ServiceError(.serviceNotFound, "service not found: '\(namespace.dataSource)'")
        }
        guard case .user(let profile) = context.principal else { return .system }
        if case .aggregate(let pipeline) = operation.action, pipeline.bringsDocuments {
            // It reads no collection; those that its stages read are asked about one by one.
            try RestrictedOperators.check(options: operation.options)
            try Self.checkOperators(operation.action)
            return .system
        }
        guard let rules = context.app.rules(for: namespace), rules.isPresent else {
            throw ServiceError(
                .noMatchingRuleFound,
                "no rule exists for namespace '\(known: namespace.name)'"
            )
        }
        try RestrictedOperators.check(options: operation.options)
        try Self.checkOperators(operation.action)
        // A plan without the schema is nobody else's.
        let isShared = !operation.options.bypassesSchema
        if isShared, let plan = context.app.plans.plan(for: profile, in: namespace) { return plan }
        let plan = PreparedPlan(
            try RoleResolver.resolve(
                rules: rules,
                validation: isShared ? context.app.validation(for: namespace) : nil,
                context: RuleContext(
                    user: RuleUser(profile),
                    values: context.app.values,
                    environmentTag: context.app.environmentTag,
                    environmentValues: context.app.environmentValues,
                    request: context.request(),
                    answers: answers
                ),
                options: RuleOptions(
                    allowsHiddenFieldQueries: context.app.definition.allowsHiddenFieldQueries
                )
            )
        )
        if isShared { context.app.plans.store(plan, for: profile, in: namespace) }
        return plan
    }

    /// Refuses what users may not use.
    ///
    /// Source: `reference/rules.md` §16.
    private static func checkOperators(_ action: DataAction) throws(ServiceError) {
        switch action {
        case .find(let arguments), .findOne(let arguments):
            try RestrictedOperators.check(filter: arguments.filter)
            if let projection = arguments.projection { try RestrictedOperators.check(projection: projection) }
        case .updateOne(let arguments), .updateMany(let arguments):
            try RestrictedOperators.check(filter: arguments.filter)
            try RestrictedOperators.check(update: arguments.update)
        case .deleteOne(let filter), .deleteMany(let filter):
            try RestrictedOperators.check(filter: filter)
        case .aggregate(let pipeline):
            try RestrictedOperators.check(pipeline: pipeline)
        case .count(let arguments): try RestrictedOperators.check(filter: arguments.filter)
        case .distinct(let arguments): try RestrictedOperators.check(filter: arguments.filter)
        case .findAndModify(let arguments):
            try RestrictedOperators.check(filter: arguments.filter)
            if let projection = arguments.projection { try RestrictedOperators.check(projection: projection) }
            if case .update(let update) = arguments.change { try RestrictedOperators.check(update: update) }
        case .bulkWrite(let arguments):
            for (index, operation) in arguments.operations.enumerated() {
                do throws(ServiceError) {
                    try checkOperators(operation)
                } catch {
                    throw error.placed(at: "operations[\(index)]")
                }
            }
        case .watch(let arguments):
            try RestrictedOperators.check(filter: arguments.filter)
            if let pipeline = arguments.pipeline { try RestrictedOperators.check(pipeline: pipeline) }
        case .explain:
            // A plan tells of indexes and of numbers of documents.
            throw ServiceError(
                .invalidParameter,
                "'explain' is only available to a system user",
                details: ["explain": "is only available to a system user"]
            )
        case .insertOne, .insertMany, .estimatedCount: break
        }
    }

    private static func checkOperators(_ operation: BulkOperation) throws(ServiceError) {
        switch operation {
        case .insertOne: break
        case .updateOne(let arguments), .updateMany(let arguments):
            try RestrictedOperators.check(filter: arguments.filter)
            try RestrictedOperators.check(update: arguments.update)
        case .deleteOne(let filter), .deleteMany(let filter):
            try RestrictedOperators.check(filter: filter)
        }
    }
}

extension RuleUser {
    /// The caller as rules see it.
    init(_ profile: UserProfile) {
        self.init(
            id: profile.id,
            type: profile.kind.rawValue,
            data: profile.data,
            customData: profile.customData,
            identities: profile.identities.map { Identity(id: $0.id, providerType: $0.providerType) }
        )
    }
}
