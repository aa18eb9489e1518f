import BSON
import Errors
import MQL
import Observability
import Postgres
import QueryCompiler
import Rules
import SQL

/// One operation under way: who may what, until when, at which time.
struct DataCall: Sendable {
    let service: DataService
    private(set) var namespace: Namespace
    private(set) var prepared: PreparedPlan
    let deadline: ContinuousClock.Instant
    /// Milliseconds since 1970; one reading for the whole operation.
    let now: Int64
    let trace: RequestTrace?
    /// The transaction that this is a part of, for an operation among several.
    var enclosing: EnclosingTransaction?
    /// Whether statements may take typed columns to hold all values: reads that can begin anew when one does not.
    var trustsColumns = false
    /// Who answers what rules ask of functions; nil for callers whose rules ask none.
    var questions: RuleQuestions?
    /// What the same caller may do elsewhere; asked for every other collection that a pipeline reads or writes.
    let authorize: @Sendable (DataOperation) throws(ServiceError) -> PreparedPlan

    /// The values of the operation's `let`.
    var variables: [(name: String, value: BSONValue?)] = []
    /// How the operation compares texts; what rules ask compares them by their bytes.
    var collation: Collation?

    func execute(_ action: DataAction) async throws(ServiceError) -> DataResult {
        if action.mayWrite, enclosing == nil {
            try await checkWritable()
            if plan.answers != nil {
                // What rules ask functions about documents is decided in the transaction of the write.
                return try await enclosed { (call) async throws(ServiceError) in
                    try await call.perform(action)
                }
            }
        }
        return try await perform(action)
    }

    /// Refuses to write where the documents are a view's rows.
    func checkWritable() async throws(ServiceError) {
        guard case .mapped(isWritable: false) = try await layout()?.origin else { return }
        throw .mongo(166, "Namespace \(known: namespace.name) is a mapped relation that is read only")
    }

    private func perform(_ action: DataAction) async throws(ServiceError) -> DataResult {
        switch action {
        case .find(let arguments): .documents(try await find(arguments))
        case .findOne(let arguments): .document(try await findOne(arguments))
        case .insertOne(let document): .inserted(try await insertOne(document))
        case .insertMany(let arguments):
            .insertedMany(
                try await LongComputation.run { () async throws(ServiceError) in
                    try await insertMany(arguments)
                }
            )
        case .updateOne(let arguments): .updated(try await update(arguments, many: false))
        case .updateMany(let arguments): .updated(try await update(arguments, many: true))
        case .deleteOne(let filter): .deleted(try await delete(filter, many: false))
        case .deleteMany(let filter):
            .deleted(
                try await LongComputation.run { () async throws(ServiceError) in
                    try await delete(filter, many: true)
                }
            )
        case .aggregate(let pipeline): .documents(try await aggregate(pipeline))
        case .count(let arguments): .counted(try await count(arguments))
        case .estimatedCount: .counted(try await estimatedCount())
        case .distinct(let arguments): .values(try await distinct(arguments))
        case .findAndModify(let arguments): .document(try await findAndModify(arguments))
        case .watch: throw ServiceError(.invalidParameter, "a watch is a stream, which is asked for by GET")
        case .explain(let arguments): .document(ResultDocuments([try await explain(arguments)]))
        case .bulkWrite(let arguments):
            .bulkWritten(
                try await LongComputation.run { () async throws(ServiceError) in
                    try await bulkWrite(arguments)
                }
            )
        }
    }

    /// For callers whose plan is for one collection alone.
    static func nowhereElse(_ operation: DataOperation) throws(ServiceError) -> PreparedPlan {
        throw ServiceError(
            .noMatchingRuleFound,
            "no rule exists for namespace '\(known: operation.namespace.name)'"
        )
    }

    /// The same call on another collection of the database, as its caller may read that one.
    ///
    /// - Throws: ``ServiceError`` as for an aggregation there.
    func elsewhere(
        _ collection: String,
        database: String? = nil,
        _ pipeline: Pipeline
    ) throws(ServiceError) -> DataCall {
        var other = self
        other.namespace = Namespace(
            dataSource: namespace.dataSource,
            database: database ?? namespace.database,
            collection: collection
        )
        other.prepared = try authorize(
            DataOperation(namespace: other.namespace, action: .aggregate(pipeline))
        )
        return other
    }

    /// What evaluations in memory know; they end at the deadline.
    func evaluation() -> EvaluationContext {
        let deadline = deadline
        var context = EvaluationContext(
            now: now,
            meter: EvaluationMeter(
                limit: service.limits.evaluationSteps,
                shouldStop: { ContinuousClock.now > deadline || Task.isCancelled }
            )
        )
        context.collation = collation
        for variable in variables { context = context.binding(variable.name, to: variable.value) }
        return context
    }

    var plan: AccessPlan { prepared.plan }

    func compiler(_ layout: CollectionLayout) -> QueryCompiler {
        let compiler = prepared.compiler(layout, trustsColumns: trustsColumns)
        return collation == nil ? compiler : compiler.collated
    }

    /// Whether the rule filters let the caller see a document.
    func passesRules(
        _ document: BSONDocument,
        _ context: EvaluationContext
    ) throws(ServiceError) -> Bool {
        try plan.queryFilter.matches(document, context.simplyCollated)
    }

    /// The layout, nil for a collection that is not there: reading makes none.
    func layout() async throws(ServiceError) -> CollectionLayout? {
        try await service.catalog.layout(
            database: namespace.database,
            collection: namespace.collection,
            deadline: deadline
        )
    }

    /// Takes note of how much of the operation SQL decides.
    func note(_ grade: PushdownGrade) {
        trace?.note { $0.grade = grade.rawValue }
    }

    func run(_ statement: SQLFragment, isPoint: Bool) async throws(ServiceError) -> ResultSet {
        trace?.enter(.database)
        defer { trace?.enter(.evaluate) }
        if let enclosing {
            return try await enclosing.transaction.run(statement, plan: isPoint ? .generic : .custom)
        }
        return try await service.database.run(
            statement,
            plan: isPoint ? .generic : .custom,
            deadline: deadline
        )
    }

    /// Runs a transaction, again when it collided with another one; inside of an enclosing one, a part of it that
    /// can be undone by itself.
    func transaction<Value: Sendable>(
        _ body: (Transaction) async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        if let enclosing { return try await enclosing.part(body) }
        trace?.enter(.database)
        defer { trace?.enter(.evaluate) }
        var attempt = 1
        while true {
            do {
                return try await service.database.transaction(deadline: deadline, body)
            } catch let error as ServiceError {
                guard error.postgresFailure?.isRetryable == true, attempt < 5 else { throw error }
                attempt += 1
            } catch {
                throw ServiceError(.internalServerError, "the transaction failed", cause: error)
            }
        }
    }

    /// The error of a write that rules or schema refuse.
    func error(_ denial: Denial) -> ServiceError {
        ServiceError(
            denial.isSchema ? .schemaValidationFailedWrite : .noMatchingRuleFound,
            "\(known: denial.message)",
            cause: WriteDenial(namespace: namespace.name, role: denial.role, reason: denial.reason)
        )
    }
}
