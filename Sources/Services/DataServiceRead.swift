import BSON
import Errors
import MQL
import Postgres
import QueryCompiler
import Rules
import SQL

extension DataCall {
    /// `findOne`: the first document that `find` would return.
    func findOne(_ arguments: FindArguments) async throws(ServiceError) -> ResultDocuments {
        var first = arguments
        first.limit = 1
        return try await find(first)
    }

    /// `find`: what of the matching documents the caller may see.
    func find(_ arguments: FindArguments) async throws(ServiceError) -> ResultDocuments {
        let scope = try plan.scope(of: arguments.filter, sort: arguments.sort)
        guard let layout = try await layout() else { return .none }
        var arguments = arguments
        let most = service.limits.resultDocuments
        arguments.limit = min(arguments.limit ?? most, most)
        switch scope {
        case .stored where !plan.ordersByHiddenID: break
        case .stored: return try await findVisible(arguments, within: arguments.filter, layout)
        case .visible(let narrowing): return try await findVisible(arguments, within: narrowing, layout)
        }
        var way = SortingWay.byIndex
        while true {
            let read = compiler(layout).find(arguments, sorting: way)
            do {
                return try await find(arguments, read, layout)
            } catch  where error.postgresFailure?.sqlState == .cannotSort {
                guard let next = read.sorting.next else { throw error }
                way = next
            }
        }
    }

    private func find(
        _ arguments: FindArguments,
        _ read: FindStatement,
        _ layout: CollectionLayout
    ) async throws(ServiceError) -> ResultDocuments {
        note(read.grade)
        if read.cuts {
            let rows = try await run(read.statement(), isPoint: read.hasOnePlan)
            let shapes = try await service.shapes.shapes(of: rows, collection: layout.id, deadline: deadline)
            if plan.readsWholeDocuments, plan.queryProjection == nil, arguments.projection == nil {
                // Scores have done their part in the order.
                return ResultDocuments(rows, shapes: shapes)
            }
            guard rows.rowCount > Self.fewRows else {
                return ResultDocuments(
                    try await deciding { () throws(ServiceError) in try visible(rows, shapes, arguments) }
                )
            }
            return try await LongComputation.run { () async throws(ServiceError) in
                ResultDocuments(
                    try await deciding { () throws(ServiceError) in try visible(rows, shapes, arguments) }
                )
            }
        }
        return try await LongComputation.run { () async throws(ServiceError) in
            try await findInMemory(arguments, read, layout)
        }
    }

    /// What the caller may see of rows that match, as projected.
    private func visible(
        _ rows: ResultSet,
        _ shapes: [Int32: DocumentShape],
        _ arguments: FindArguments
    ) throws(ServiceError) -> [BSONDocument] {
        let context = evaluation()
        var documents: [BSONDocument] = []
        for row in 0..<rows.rowCount {
            let (text, shape) = StoredRow.parts(rows, row)
            guard var seen = plan.visible(try StoredForm.read(text, shape: shapes[shape])) else { continue }
            StoredRow.score(rows, row).map { TextScore.set($0, in: &seen) }
            documents.append(try project(seen, arguments, context))
        }
        return documents
    }

    /// SQL only narrowed: match, sort and cut here, over rows that stream in.
    private func findInMemory(
        _ arguments: FindArguments,
        _ read: FindStatement,
        _ layout: CollectionLayout
    ) async throws(ServiceError) -> ResultDocuments {
        let context = evaluation()
        let plan = plan
        let sort = read.sorts ? nil : arguments.sort
        let wanted = arguments.limit.map { $0.addingReportingOverflow(arguments.skip) }
            .map { $0.overflow ? Int.max : $0.partialValue }
        var collected = CollectedDocuments(sort: sort, wanted: wanted)
        try await stream(read.statement(), layout) { (document, bytes) throws(ServiceError) -> Bool in
            // Rules first: an error of the caller's filter must not tell of documents that rules keep from it.
            if !read.decidesMatch {
                guard try passesRules(document, context) else { return true }
            }
            guard var seen = plan.visible(document) else { return true }
            TextScore.carry(from: document, to: &seen)
            if !read.decidesMatch {
                guard try arguments.filter.matches(document, context) else { return true }
            }
            return try collected.add(document, seen: seen, bytes: bytes)
        }
        var documents: [BSONDocument] = []
        for seen in collected.result(skip: arguments.skip, limit: arguments.limit) {
            documents.append(try project(seen, arguments, context))
        }
        return ResultDocuments(documents)
    }

    func project(
        _ document: BSONDocument,
        _ arguments: FindArguments,
        _ context: EvaluationContext
    ) throws(ServiceError) -> BSONDocument {
        var result = document
        if let projection = plan.queryProjection {
            result = try projection.apply(result, filter: nil, context.simplyCollated)
            TextScore.carry(from: document, to: &result)
        }
        if let projection = arguments.projection {
            result = try projection.apply(result, filter: arguments.filter, context)
        }
        if arguments.readsTextScore { TextScore.remove(from: &result) }
        return result
    }

    /// So many rows are looked at on the connection's own thread.
    static let fewRows = 100
}
