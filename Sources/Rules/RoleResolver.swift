public import Errors
public import Schemas

/// Turns rules and what is known of a caller into an ``AccessPlan``.
public struct RoleResolver {
    /// Resolves the rules of one collection for one caller.
    ///
    /// Rules without roles let nobody do anything; whether the default rule steps in is the
    /// caller's decision (``CollectionRules/isPresent``).
    ///
    /// - Throws: ``ServiceError`` with code `badRequest` when several filters apply whose projections
    ///   exclude each other, or with the parser's code for a filter that is no query once its
    ///   expansions are values.
    public static func resolve(
        rules: CollectionRules,
        schema: CollectionSchema?,
        context: RuleContext,
        options: RuleOptions = RuleOptions()
    ) throws(ServiceError) -> AccessPlan {
        try resolve(
            rules: rules,
            validation: schema.map { SchemaValidation($0) },
            context: context,
            options: options
        )
    }

    /// As ``resolve(rules:schema:context:options:)``, with the schema's expressions parsed before.
    public static func resolve(
        rules: CollectionRules,
        validation: SchemaValidation?,
        context: RuleContext,
        options: RuleOptions = RuleOptions()
    ) throws(ServiceError) -> AccessPlan {
        let evaluator = PartialEvaluator(context)
        let query = try FilterResolver(evaluator).resolve(rules.filters)
        let roles = rules.roles.map { ResolvedRole($0, evaluator, options) }
        // A role that never applies decides nothing, and none after one that always does.
        var candidates: [ResolvedRole] = []
        for role in roles where !role.applyWhen.isNever {
            candidates.append(role)
            if role.applyWhen.isYes { break }
        }
        let schema = validation?.resolved(evaluator, options.schema)
        return AccessPlan(
            queryFilter: query.filter,
            queryProjection: query.projection,
            read: ReadForm(candidates),
            roles: candidates,
            schema: schema,
            dependsOnRequest: evaluator.facts.usedRequest || context.answers != nil,
            answers: context.answers,
            guardsHiddenFields: !options.allowsHiddenFieldQueries
        )
    }
}
