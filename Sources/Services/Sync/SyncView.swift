import Accounts
import AppDefinition
import BSON
import Errors
import MQL
import Rules
import Sync

/// What one device may hold, by its user's role and its subscriptions.
///
/// Roles are chosen once, when the session begins. Source: `sync-semantics.md` §§1, 3.
struct SyncView: Sendable {
    /// One class as its user may use it.
    struct Permission: Sendable {
        let mapping: ObjectMapping
        /// nil where no role serves the class.
        let plan: PreparedPlan?
        /// The version of the schemas that the class is of.
        let schemaVersion: Int64
    }

    var permissions: [ByteText: Permission]
    /// What is subscribed; a class that is not there is not.
    var filters: [ByteText: Filter] = [:]

    /// What of a document the device holds; nil when it is outside of the view.
    func visible(_ document: BSONDocument?, _ table: ByteText, _ context: EvaluationContext) -> BSONDocument?
    {
        guard let document, let permission = permissions[table], let plan = permission.plan?.plan,
            let filter = filters[table],
            permission.mapping.unrepresentable(document) == nil, let seen = plan.visible(document)
        else { return nil }
        // What cannot be decided is not shown.
        guard (try? filter.matches(seen, context)) == true,
            (try? plan.queryFilter.matches(document, context)) == true
        else { return nil }
        return seen["_id"] == nil ? nil : seen
    }
}

/// Chooses the roles of a session.
struct SyncPermissions {
    let service: SyncService
    let app: SyncedApp
    let context: CallContext
    /// The partition that the session is about; nil in Flexible Sync.
    var partition: SyncPartition?

    func view() async throws -> SyncView {
        if let partition { return try await view(partition) }
        var permissions: [ByteText: SyncView.Permission] = [:]
        for type in app.schema.classes {
            guard let namespace = type.namespace, let mapping = app.schema.mapping(of: type.name) else {
                continue
            }
            permissions[type.name] = SyncView.Permission(
                mapping: mapping,
                plan: try await plan(namespace, type),
                schemaVersion: app.schemaVersion
            )
        }
        return SyncView(permissions: permissions)
    }

    private func plan(_ namespace: Namespace, _ type: SyncClass) async throws(ServiceError) -> PreparedPlan? {
        let operation = DataOperation(namespace: namespace, action: .find(FindArguments()))
        let prepared: PreparedPlan
        do {
            prepared = try await service.data.plan(watching: operation, context)
        } catch {
            guard error.code == .noMatchingRuleFound else { throw error }
            return nil
        }
        // Of several the documents would decide, which a session cannot wait for.
        guard let name = prepared.plan.soleRole,
            let role = app.snapshot.rules(for: namespace)?.roles.first(where: {
                TextOrder.equal($0.name, name)
            }),
            SyncCompatibility.obstacles(role, queryableFields: app.queryableFields(of: type)).isEmpty
        else { return nil }
        if prepared.plan.readsWholeDocuments, role.write != nil { return prepared }
        return PreparedPlan(
            try RoleResolver.resolve(
                rules: CollectionRules(roles: [role.showingKeys]),
                validation: app.snapshot.validation(for: namespace),
                context: ruleContext(nil, nil)
            )
        )
    }
}

// MARK: Partitions

extension SyncPermissions {
    /// All documents of a partition, in every class.
    ///
    /// - Throws: ``SyncFault`` with `permissionDenied` for a user who may not open it.
    private func view(_ partition: SyncPartition) async throws -> SyncView {
        let access = try await access(partition)
        guard access.mayRead else {
            throw SyncFault(
                .permissionDenied,
                "Permission denied (BIND): the user may not read the partition"
            )
        }
        var view = SyncView(permissions: [:])
        let rules = CollectionRules(roles: [access.role(partition)])
        for type in app.readableClasses {
            guard let namespace = type.namespace, let mapping = app.schema.mapping(of: type.name) else {
                continue
            }
            let plan = try RoleResolver.resolve(
                rules: rules,
                validation: app.snapshot.validation(for: namespace),
                context: ruleContext(partition, nil)
            )
            view.permissions[type.name] = SyncView.Permission(
                mapping: mapping,
                plan: PreparedPlan(plan),
                schemaVersion: app.schemaVersion
            )
            view.filters[type.name] = partition.filter
        }
        return view
    }

    /// What the user may do with a partition: functions that the permissions name are asked.
    func access(_ partition: SyncPartition) async throws -> SyncPartitionAccess {
        guard let definition = app.definition.partition else {
            return SyncPartitionAccess(mayRead: false, mayWrite: false)
        }
        let mayWrite = try await holds(definition.write, partition)
        let mayRead = mayWrite ? true : try await holds(definition.read, partition)
        return SyncPartitionAccess(mayRead: mayRead, mayWrite: mayWrite)
    }

    private func holds(_ condition: RuleExpression, _ partition: SyncPartition) async throws(ServiceError)
        -> Bool
    {
        if let literal = condition.literal { return literal }
        // A condition without a document is the apply_when of a role that none can change.
        let rules = CollectionRules(roles: [
            Role(name: "partition", applyWhen: condition, read: .constant(true))
        ])
        func decide(_ answers: FunctionAnswers?) throws(ServiceError) -> Bool {
            try RoleResolver.resolve(rules: rules, schema: nil, context: ruleContext(partition, answers))
                .visible(["_id": .null]) != nil
        }
        guard let questions = service.data.questions(context) else { return try decide(nil) }
        let answers = FunctionAnswers()
        return try await questions.deciding(answers, within: nil) { () throws(ServiceError) in
            try decide(answers)
        }
    }

    private func ruleContext(_ partition: SyncPartition?, _ answers: FunctionAnswers?) -> RuleContext {
        let user: RuleUser? =
            if case .user(let profile) = context.principal { RuleUser(profile) } else { nil }
        return RuleContext(
            user: user,
            values: app.snapshot.values,
            environmentTag: app.snapshot.environmentTag,
            environmentValues: app.snapshot.environmentValues,
            partition: partition?.value,
            answers: answers
        )
    }
}
