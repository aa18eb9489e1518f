import BSON
import Errors
import MQL
import Postgres
import QueryCompiler
import Rules
import SQL

extension DataCall {
    /// `aggregate`: the longest prefix in PostgreSQL, the rest here.
    func aggregate(_ pipeline: Pipeline) async throws(ServiceError) -> ResultDocuments {
        if let (stage, input) = pipeline.output {
            try await LongComputation.run { () async throws(ServiceError) in
                try await write(try await documents(of: input, evaluation()), stage)
            }
            return .none
        }
        if pipeline.isForeign || pipeline.bringsDocuments {
            return try await LongComputation.run { () async throws(ServiceError) in
                let documents = try await documents(of: pipeline, evaluation())
                return try bounded(documents)
            }
        }
        guard let layout = try await layout() else {
            return ResultDocuments(try pipeline.run([], evaluation()))
        }
        var way = SortingWay.byIndex
        while true {
            let statement = compiler(layout).aggregate(pipeline, sorting: way)
            do throws(ServiceError) {
                return try await aggregate(pipeline, statement, layout)
            } catch {
                way = try statement.nextWay(after: error)
            }
        }
    }

    private func aggregate(
        _ pipeline: Pipeline,
        _ statement: AggregateStatement,
        _ layout: CollectionLayout
    ) async throws(ServiceError) -> ResultDocuments {
        if case .documents = statement.rows, statement.remaining.stages.isEmpty, statement.decidesMatch,
            plan.readsWholeDocuments, plan.queryProjection == nil
        {
            return try await wholeRows(statement, layout)
        }
        if statement.isShort {
            note(statement.grade)
            let rows = try await run(statement.statement, isPoint: statement.hasOnePlan)
            if rows.rowCount <= Self.fewRows, let input = try Self.documents(rows, of: statement) {
                if let documents = statement.remaining.arranged(input) { return try bounded(documents) }
                return try bounded(try statement.remaining.run(input, evaluation()))
            }
        }
        return try await LongComputation.run { () async throws(ServiceError) in
            try bounded(try await gathered(pipeline, statement, layout, evaluation()))
        }
    }

    /// What the rows of groups or a count stand for; nil where keys are among them that SQL cannot tell apart as BSON
    /// does.
    private static func documents(
        _ rows: ResultSet,
        of statement: AggregateStatement
    ) throws(ServiceError) -> [BSONDocument]? {
        switch statement.rows {
        case .documents: return nil
        case .count(let name):
            let count = rows.int(0, 0) ?? 0
            return count == 0 ? [] : [BSONDocument([.init(key: name, value: .counted(count))])]
        case .groups(let fields): return try groups(rows, fields)
        }
    }

    /// What a pipeline gives here, also one that reads other collections.
    func documents(
        of pipeline: Pipeline,
        _ context: EvaluationContext
    ) async throws(ServiceError) -> [BSONDocument] {
        if pipeline.bringsDocuments { return try await PipelineRunner(call: self).run(pipeline, [], context) }
        let ordered = pipeline.joiningLate
        let (head, tail) = ordered.split(after: ordered.stages.prefix { !$0.isForeign }.count)
        let input: [BSONDocument]
        if let layout = try await layout() {
            input = try await gathered(head, layout, context)
        } else {
            input = try head.run([], context)
        }
        return tail.stages.isEmpty ? input : try await PipelineRunner(call: self).run(tail, input, context)
    }

    /// Rows that go into the answer as they are.
    private func wholeRows(
        _ statement: AggregateStatement,
        _ layout: CollectionLayout
    ) async throws(ServiceError) -> ResultDocuments {
        note(statement.grade)
        let most = service.limits.resultDocuments
        let rows = try await run(
            "SELECT * FROM (\(statement.statement)) AS input LIMIT \(bind: .int(Int64(most) + 1))",
            isPoint: false
        )
        try service.limits.check(documents: rows.rowCount)
        let shapes = try await service.shapes.shapes(of: rows, collection: layout.id, deadline: deadline)
        return ResultDocuments(rows, shapes: shapes)
    }

    /// What a pipeline gives that reads this collection alone.
    private func gathered(
        _ pipeline: Pipeline,
        _ layout: CollectionLayout,
        _ context: EvaluationContext
    ) async throws(ServiceError) -> [BSONDocument] {
        var way = SortingWay.byIndex
        while true {
            let statement = compiler(layout).aggregate(pipeline, sorting: way)
            do throws(ServiceError) {
                return try await gathered(pipeline, statement, layout, context)
            } catch {
                way = try statement.nextWay(after: error)
            }
        }
    }

    private func gathered(
        _ pipeline: Pipeline,
        _ statement: AggregateStatement,
        _ layout: CollectionLayout,
        _ context: EvaluationContext
    ) async throws(ServiceError) -> [BSONDocument] {
        if let result = try await gathered(statement, layout, context) { return result }
        let documents = compiler(layout).aggregate(pipeline, sorting: statement.sorting, groups: false)
        return try await gathered(documents, layout, context) ?? []
    }

    /// - Returns: nil where the groups have keys that SQL cannot tell apart as BSON does.
    private func gathered(
        _ statement: AggregateStatement,
        _ layout: CollectionLayout,
        _ context: EvaluationContext
    ) async throws(ServiceError) -> [BSONDocument]? {
        note(statement.grade)
        switch statement.rows {
        case .documents: return try await streamed(statement, layout, context)
        case .count, .groups:
            let rows = try await run(statement.statement, isPoint: statement.hasOnePlan)
            guard let input = try Self.documents(rows, of: statement) else { return nil }
            return statement.remaining.stages.isEmpty ? input : try statement.remaining.run(input, context)
        }
    }

    private func bounded(_ documents: [BSONDocument]) throws(ServiceError) -> ResultDocuments {
        try service.limits.check(documents: documents.count)
        let most = DocumentLimits.maximumAnswerBytes
        for document in documents where DocumentLimits.size(of: document) > most {
            throw .mongo(
                .bsonObjectTooLarge,
                "BSONObj size is invalid. Size must be between 0 and \(most)"
            )
        }
        return ResultDocuments(documents)
    }

    /// Runs the stages that are left over documents as they come: no more is held than a stage has to hold, and the
    /// result.
    private func streamed(
        _ statement: AggregateStatement,
        _ layout: CollectionLayout,
        _ context: EvaluationContext
    ) async throws(ServiceError) -> [BSONDocument] {
        let plan = plan
        // Where the order of their coming would tell of hidden ids, they are put into another one first.
        var stages = statement.remaining.stages
        if plan.ordersByHiddenID { stages.insert(.sort(Self.visibleOrder), at: 0) }
        let pipeline = PipelineRun(Pipeline(stages: stages), context)
        try await stream(statement.statement, layout) { (document, _) throws(ServiceError) -> Bool in
            if !statement.decidesMatch {
                guard try passesRules(document, context) else { return true }
            }
            guard var seen = plan.visible(document) else { return true }
            if let projection = plan.queryProjection {
                seen = try projection.apply(seen, filter: nil, context.simplyCollated)
            }
            TextScore.carry(from: document, to: &seen)
            return try pipeline.accept(seen)
        }
        return try pipeline.finish()
    }

    /// Merges groups whose keys are one in BSON: `null` and missing, `1` and `Decimal("1")`.
    private static func groups(
        _ rows: ResultSet,
        _ fields: [AggregateStatement.GroupField]
    ) throws(ServiceError) -> [BSONDocument]? {
        var order: [BSONKey] = []
        var counts: [BSONKey: Int] = [:]
        order.reserveCapacity(rows.rowCount)
        counts.reserveCapacity(rows.rowCount)
        for row in 0..<rows.rowCount {
            let value: BSONValue =
                try rows.slice(row, 0).map { slice throws(ServiceError) in
                    try StoredForm.readValue(slice)
                } ?? .null
            guard !value.hasKeys else { return nil }
            let key = BSONKey(value.isNullish ? .null : value)
            let count = rows.int(row, 1) ?? 0
            if let known = counts.updateValue(count, forKey: key) {
                counts[key] = known + count
            } else {
                order.append(key)
            }
        }
        return order.map { key in
            var members: [BSONDocument.Field] = []
            members.reserveCapacity(fields.count + 1)
            members.append(.init(key: "_id", value: key.value))
            for field in fields {
                let weight = field.weight.exactInt64.map { Int($0) } ?? 1
                members.append(.init(key: field.name, value: .counted((counts[key] ?? 0) &* weight)))
            }
            return BSONDocument(members)
        }
    }
}

extension BSONValue {
    /// A sum of int32s: a long once it no longer fits.
    static func counted(_ value: Int) -> BSONValue {
        Int32(exactly: value).map { .int32($0) } ?? .int64(Int64(value))
    }

    fileprivate var isNullish: Bool {
        switch self {
        case .null, .undefined: true
        default: false
        }
    }

    /// Whether the order of keys, which jsonb forgets, is part of the value.
    var hasKeys: Bool {
        switch self {
        case .document, .codeWithScope: true
        case .array(let elements): elements.contains(where: \.hasKeys)
        default: false
        }
    }
}

extension AggregateStatement {
    /// The way to sort that is left when this one met values that it cannot order.
    ///
    /// - Throws: Any other error.
    fileprivate func nextWay(after error: ServiceError) throws(ServiceError) -> SortingWay {
        guard error.postgresFailure?.sqlState == .cannotSort, let next = sorting.next else { throw error }
        return next
    }
}
