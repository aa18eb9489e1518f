import BSON
import Errors
import MQL
import Rules

/// Runs pipelines of which some stages read other collections.
///
/// Between those stages the evaluator has the documents. Another collection is read as its caller would read it
/// by `find`: through the authorizer, with the rules, filters and field permissions of that collection, and by its own
/// ``DataCall``, which pushes down what SQL can decide.
struct PipelineRunner: Sendable {
    let call: DataCall

    /// How many documents are joined by one query.
    private static let batch = 500

    /// What leaves the pipeline for these documents, in order.
    func run(
        _ pipeline: Pipeline,
        _ input: [BSONDocument],
        _ context: EvaluationContext
    ) async throws(ServiceError) -> [BSONDocument] {
        var documents = input
        var rest = pipeline.joiningLate.stages[...]
        while let index = rest.firstIndex(where: \.isForeign) {
            if index > rest.startIndex {
                documents = try Pipeline(stages: Array(rest[..<index])).run(documents, context)
            }
            let next = rest[(index + 1)...].firstIndex(where: \.isForeign) ?? rest.endIndex
            let sink = PipelineRun(Pipeline(stages: Array(rest[(index + 1)..<next])), context)
            switch rest[index] {
            case .lookup(let arguments):
                try await lookup(
                    LookupJoin(arguments, collation: context.collation),
                    documents,
                    sink,
                    context
                )
            case .unionWith(let arguments): try await union(arguments, documents, sink, context)
            case .graphLookup(let arguments): try await graphLookup(arguments, documents, sink, context)
            case .facet(let facets): try await facet(facets, documents, sink, context)
            default: break
            }
            documents = try sink.finish()
            rest = rest[next...]
        }
        return rest.isEmpty ? documents : try Pipeline(stages: Array(rest)).run(documents, context)
    }

    /// What a pipeline gives on another collection, for the same caller; without one, on nothing.
    private func read(
        _ collection: String?,
        _ pipeline: Pipeline,
        _ context: EvaluationContext
    ) async throws(ServiceError) -> [BSONDocument] {
        guard let collection else { return try await run(pipeline, [], context) }
        return try await call.elsewhere(collection, pipeline).documents(of: pipeline, context)
    }

    private func union(
        _ arguments: UnionArguments,
        _ documents: [BSONDocument],
        _ sink: PipelineRun,
        _ context: EvaluationContext
    ) async throws(ServiceError) {
        for document in documents {
            guard try sink.accept(document) else { return }
        }
        for document in try await read(arguments.from, arguments.pipeline, context) {
            guard try sink.accept(document) else { return }
        }
    }

    private func facet(
        _ facets: [(name: String, pipeline: Pipeline)],
        _ documents: [BSONDocument],
        _ sink: PipelineRun,
        _ context: EvaluationContext
    ) async throws(ServiceError) {
        var result = BSONDocument()
        for facet in facets {
            let found = try await run(facet.pipeline, documents, context)
            result.append(facet.name, .array(found.map { .document($0) }))
        }
        _ = try sink.accept(result)
    }

    private func graphLookup(
        _ arguments: GraphLookupArguments,
        _ documents: [BSONDocument],
        _ sink: PipelineRun,
        _ context: EvaluationContext
    ) async throws(ServiceError) {
        for start in stride(from: 0, to: documents.count, by: Self.batch) {
            let batch = documents[start..<min(start + Self.batch, documents.count)]
            var search = try GraphSearch(arguments, for: batch, context)
            repeat {
                if let frontier = search.frontier {
                    try search.add(
                        try await read(search.from, Pipeline(stages: [.match(frontier)]), context)
                    )
                }
            } while try search.advance()
            for document in try search.results() {
                guard try sink.accept(document) else { return }
            }
        }
    }

    private func lookup(
        _ join: LookupJoin,
        _ documents: [BSONDocument],
        _ sink: PipelineRun,
        _ context: EvaluationContext
    ) async throws(ServiceError) {
        guard !documents.isEmpty else { return }
        guard join.isEquality else { return try await lookupShared(join, documents, sink, context) }
        var start = 0
        var size = Self.batch
        while start < documents.count {
            let batch = documents[start..<min(start + size, documents.count)]
            let index: LookupJoin.Index
            do {
                let narrowing = Pipeline(stages: [.match(try join.narrowing(for: batch, context))])
                let found =
                    join.from == nil
                    ? try await run(join.ownDocuments, [], context)
                    : try await read(join.from, narrowing, context)
                index = try join.index(found)
            } catch  where error.serverCode == .exceededMemoryLimit && batch.count > 1 {
                size = max(batch.count / 4, 1)
                continue
            }
            for document in batch {
                var found = try join.matches(of: document, in: index, context)
                try context.meter.spend(found.count + 1)
                if !join.pipeline.stages.isEmpty || join.hasVariables {
                    let inner = try join.bindings(for: document, context)
                    found = try await run(join.pipeline, found, inner)
                }
                guard try sink.accept(try join.joined(document, found)) else { return }
            }
            start = batch.endIndex
        }
    }

    /// A join without equality: what knows nothing of the documents is read once.
    private func lookupShared(
        _ join: LookupJoin,
        _ documents: [BSONDocument],
        _ sink: PipelineRun,
        _ context: EvaluationContext
    ) async throws(ServiceError) {
        let (head, tail) = join.shared
        let shared = try await read(join.from, head, context)
        for document in documents {
            try context.meter.spend(shared.count + 1)
            var found = shared
            if !tail.stages.isEmpty || join.hasVariables {
                found = try await run(tail, shared, try join.bindings(for: document, context))
            }
            guard try sink.accept(try join.joined(document, found)) else { return }
        }
    }
}
