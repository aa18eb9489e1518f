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
    }

    let permissions: [ByteText: Permission]
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

    func view() async throws -> SyncView {
        var permissions: [ByteText: SyncView.Permission] = [:]
        for type in app.schema.classes {
            guard let namespace = type.namespace, let mapping = app.schema.mapping(of: type.name) else {
                continue
            }
            permissions[type.name] = SyncView.Permission(
                mapping: mapping,
                plan: try await plan(namespace, type)
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
        return prepared
    }
}
