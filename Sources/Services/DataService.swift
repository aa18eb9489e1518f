import Accounts
public import BSON
public import Errors
public import MQL
import Observability
public import Postgres
import QueryCompiler
import Rules
import Synchronization

/// The one way to the data: the Data API, functions and sync all come through here.
///
/// A ``DataOperation`` and its caller go through authorize → plan → execute → decode. Rules are resolved
/// once per request, and joined with the operation into one statement wherever SQL can decide them.
public final class DataService: Sendable {
    let database: Database
    let catalog: CollectionCatalog
    let shapes: ShapeRegistry
    let ids: ObjectIDGenerator
    let now: @Sendable () -> Int64
    /// What one operation may bring back and compute.
    public let limits: DataLimits
    let authorizer: DataAuthorizer
    private let ruleFunctions = Mutex<(any RuleFunctions)?>(nil)

    /// Made of what it works with.
    ///
    /// - Parameters:
    ///   - database: Where the documents are.
    ///   - catalog: The layouts of the collections there.
    ///   - ids: Makes the `_id` of documents that come without.
    ///   - limits: What one operation may bring back and compute.
    ///   - now: Milliseconds since 1970.
    public convenience init(
        database: Database,
        catalog: CollectionCatalog,
        ids: ObjectIDGenerator,
        limits: DataLimits = DataLimits(),
        now: @escaping @Sendable () -> Int64
    ) {
        self.init(
            database: database,
            catalog: catalog,
            ids: ids,
            authorizer: DataAuthorizer(),
            limits: limits,
            now: now
        )
    }

    /// As the public one, with an authorizer that a test listens to.
    init(
        database: Database,
        catalog: CollectionCatalog,
        ids: ObjectIDGenerator,
        authorizer: DataAuthorizer,
        limits: DataLimits = DataLimits(),
        now: @escaping @Sendable () -> Int64
    ) {
        self.authorizer = authorizer
        self.database = database
        self.catalog = catalog
        shapes = ShapeRegistry(database: database)
        self.ids = ids
        self.limits = limits
        self.now = now
    }

    /// Does what a caller asks.
    ///
    /// - Parameters:
    ///   - operation: What is asked.
    ///   - context: By whom, and until when.
    ///   - transaction: What it becomes a part of; nil is one of its own.
    /// - Returns: The answer.
    /// - Throws: ``ServiceError`` `serviceNotFound` for a data source that the app has not, `noMatchingRuleFound` for a
    ///   namespace without rules, `invalidParameter` for an operator that users may not use; a denied write with
    ///   ``WriteDenial`` as its cause; `mongoDBError` with MongoDB's number for what MongoDB refuses.
    public func perform(
        _ operation: DataOperation,
        _ context: CallContext,
        within transaction: EnclosingTransaction? = nil
    ) async throws(ServiceError) -> DataResult {
        context.trace.enter(.plan)
        context.trace.note { facts in
            facts.namespace = operation.namespace.name
            facts.mayWrite = operation.action.mayWrite
        }
        let plan = try await authorized(operation, context, within: transaction)
        if let role = plan.plan.soleRole { context.trace.note { $0.role = role } }
        return try await perform(
            operation,
            plan: plan,
            deadline: context.deadline,
            trace: context.trace,
            within: transaction,
            questions: questions(context)
        ) { [authorizer] (other) throws(ServiceError) in try authorizer.authorize(other, context) }
    }

    /// What a caller may see of the changes of a collection.
    ///
    /// - Throws: As ``perform(_:_:)``.
    func plan(
        watching operation: DataOperation,
        _ context: CallContext
    ) async throws(ServiceError) -> PreparedPlan {
        try await authorized(operation, context, within: nil)
    }

    /// Lets rules ask functions; without this, what they ask is missing, and lets nobody in.
    ///
    /// Functions need the data, and rules of data functions: so this comes after both are made.
    public func serve(_ functions: any RuleFunctions) {
        ruleFunctions.withLock { $0 = functions }
    }

    /// Who answers what rules ask in the course of a call.
    func questions(_ context: CallContext) -> RuleQuestions? {
        ruleFunctions.withLock { $0 }.map { RuleQuestions(functions: $0, context: context) }
    }

    private func authorized(
        _ operation: DataOperation,
        _ context: CallContext,
        within transaction: EnclosingTransaction?
    ) async throws(ServiceError) -> PreparedPlan {
        guard DataAuthorizer.asksFunctions(operation.namespace, context), let questions = questions(context)
        else { return try authorizer.authorize(operation, context) }
        let answers = FunctionAnswers()
        return try await questions.deciding(answers, within: transaction) { () throws(ServiceError) in
            try authorizer.authorize(operation, context, answers)
        }
    }

    /// As ``perform(_:_:)`` for a caller whose permissions are known already; the sync bridge keeps a plan per session.
    func perform(
        _ operation: DataOperation,
        plan: PreparedPlan,
        deadline: ContinuousClock.Instant,
        trace: RequestTrace? = nil,
        within transaction: EnclosingTransaction? = nil,
        questions: RuleQuestions? = nil,
        authorize: @escaping @Sendable (DataOperation) throws(ServiceError) -> PreparedPlan = DataCall
            .nowhereElse
    ) async throws(ServiceError) -> DataResult {
        let limit = operation.options.timeLimit.map { ContinuousClock.now + .milliseconds($0) }
        var call = DataCall(
            service: self,
            namespace: operation.namespace,
            prepared: plan,
            deadline: limit.map { min($0, deadline) } ?? deadline,
            now: now(),
            trace: trace,
            enclosing: transaction,
            questions: questions,
            authorize: authorize
        )
        call.collation = operation.options.collation
        do {
            try await call.checkText(operation.action, hint: operation.options.hint)
            var operation = operation
            if let hint = operation.options.hint, let held = try await call.check(hint, of: operation.action)
            {
                operation = DataOperation(
                    namespace: operation.namespace,
                    action: operation.action.restricted(to: held),
                    options: operation.options
                )
            }
            if operation.options.hasVariables {
                call.variables = try operation.options.values(call.evaluation())
            }
            return try await perform(operation, call)
        } catch {
            // What a caller's own limit ends is MongoDB's error, not that of the gateway's limit.
            guard let limit, limit < deadline, error.code == .executionTimeLimitExceeded else { throw error }
            throw .mongo(.maxTimeMSExpired, "operation exceeded time limit")
        }
    }

    /// All documents of a collection that a filter matches, as far as a plan shows them, a page at a time.
    ///
    /// - Parameters:
    ///   - namespace: The collection.
    ///   - filter: Which documents.
    ///   - order: In which order; nil is any.
    ///   - plan: What the reader may see.
    ///   - deadline: Until when.
    ///   - enclosing: The transaction that is read in; it serves nothing else until all is read.
    ///   - take: Takes a page.
    /// - Throws: ``ServiceError``, and what `take` throws.
    func each(
        of namespace: Namespace,
        matching filter: Filter,
        by order: Sort? = nil,
        plan: PreparedPlan,
        deadline: ContinuousClock.Instant,
        within enclosing: EnclosingTransaction,
        _ take: ([BSONDocument]) async throws -> Void
    ) async throws {
        let call = DataCall(
            service: self,
            namespace: namespace,
            prepared: plan,
            deadline: deadline,
            now: now(),
            trace: nil,
            enclosing: enclosing,
            authorize: DataCall.nowhereElse
        )
        do {
            try await call.each(filter, order, take)
        } catch let error as ServiceError {
            // A column or table that went while its layout was remembered: whoever asks again finds it.
            let state = error.postgresFailure?.sqlState
            if state == .undefinedTable || state == .undefinedColumn { catalog.forgetAll() }
            throw error
        }
    }

    private func perform(_ operation: DataOperation, _ call: DataCall) async throws(ServiceError)
        -> DataResult
    {
        if call.enclosing != nil {
            if operation.action.mayWrite { try await call.checkWritable() }
            return try await call.undoable { (part) async throws(ServiceError) in
                try await part.execute(operation.action)
            }
        }
        do {
            return try await read(operation, call)
        } catch {
            // A column or table that went while its layout was remembered.
            guard let state = error.postgresFailure?.sqlState,
                state == .undefinedTable || state == .undefinedColumn
            else {
                throw error
            }
            catalog.forgetAll()
            return try await call.execute(operation.action)
        }
    }

    /// Executes an operation; a read at first as if typed columns held all values of their fields.
    private func read(_ operation: DataOperation, _ call: DataCall) async throws(ServiceError) -> DataResult {
        guard QueryCompiler.mayTrustColumns(operation.action) else {
            return try await call.execute(operation.action)
        }
        var trusting = call
        trusting.trustsColumns = true
        // Each attempt teaches about one field; who has more of them than this is read without trust.
        for _ in 0..<4 {
            do throws(ServiceError) {
                return try await trusting.execute(operation.action)
            } catch {
                guard let failure = error.postgresFailure, failure.sqlState == .otherValues else {
                    throw error
                }
                guard let place = failure.constraint else { break }
                catalog.distrust(place)
            }
        }
        return try await call.execute(operation.action)
    }
}

/// Why a write was refused, in full: the cause of the error that says only `update not permitted`.
///
/// For the log; the answer to a caller has status 400 whatever the code.
public struct WriteDenial: LoggableCause, Sendable, CustomStringConvertible {
    /// The collection, as `database.collection`.
    public let namespace: String
    /// The role that decided, when one applied.
    public let role: String?
    /// What the permissions or the schema object to.
    public let reason: String

    /// The reason alone: it names permissions, fields and limits, and quotes no value.
    public var logText: String { reason }

    /// One line for the log.
    public var description: String {
        "\(namespace), role \(role.map { "'\($0)'" } ?? "none"): \(reason)"
    }
}

extension SQLState {
    /// 42703: a column that is not there.
    static let undefinedColumn = SQLState("42703")
    /// What `tidegate.sort_key` raises for values that it cannot order.
    static let cannotSort = SQLState(SortFailure.sqlState)
    /// What a statement raises that trusted a typed column in vain.
    static let otherValues = SQLState(OtherValues.sqlState)
}
