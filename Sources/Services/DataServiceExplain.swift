public import BSON
public import Errors
public import MQL
import Postgres
import QueryCompiler
import SQL

extension DataService {
    /// How an operation would be done, for whoever has the database.
    ///
    /// - Parameter operation: A `find`, `findOne` or `aggregate` with `explain: true`.
    /// - Returns: As ``DataCall/explain(_:)``.
    /// - Throws: ``ServiceError`` `invalidParameter` for another operation, else the database's.
    public func explain(_ operation: DataOperation) async throws(ServiceError) -> BSONDocument {
        guard case .explain = operation.action,
            case .document(let answer) = try await perform(
                operation,
                plan: .system,
                deadline: .now + .seconds(60)
            ), let document = try answer.values().first
        else { throw ServiceError(.invalidParameter, "there is nothing to explain") }
        return document
    }
}

extension DataCall {
    /// How much SQL decides, by condition; the statement's text, without values; and PostgreSQL's plan for it.
    func explain(_ arguments: ExplainArguments) async throws(ServiceError) -> BSONDocument {
        var answer: BSONDocument = ["namespace": .string(namespace.name)]
        guard let layout = try await layout() else {
            answer.append("exists", .bool(false))
            return answer
        }
        let compiler = compiler(layout)
        // A plan alone would not find out that the columns do not hold all values.
        if let proof = compiler.proof(arguments.conjuncts.map(\.filter)) {
            _ = try await run(proof, isPoint: false)
        }
        let statement: SQLFragment
        switch arguments.subject {
        case .find(var find):
            find.limit = min(find.limit ?? service.limits.resultDocuments, service.limits.resultDocuments)
            let read = compiler.find(find, sorting: try await way(of: find.sort, compiler))
            answer.append("grade", .string(read.grade.rawValue))
            answer.append("conjuncts", Self.graded(arguments.conjuncts, compiler))
            if find.sort != nil {
                answer.append("sort", read.sorting == .byIndex ? "index" : Self.place(isSQL: read.sorts))
            }
            answer.append("limit", Self.place(isSQL: read.cuts))
            statement = read.statement()
        case .aggregate(let pipeline):
            let sorts = pipeline.stages.compactMap { stage in
                if case .sort(let sort) = stage { sort } else { nil }
            }
            let made = compiler.aggregate(pipeline, sorting: try await way(of: sorts.first, compiler))
            answer.append("grade", .string(made.grade.rawValue))
            answer.append("conjuncts", Self.graded(arguments.conjuncts, compiler))
            let pushed = max(0, pipeline.stages.count - made.remaining.stages.count)
            let stages = arguments.stages.enumerated().map { index, name -> BSONValue in
                .document(["stage": .string(name), "in": Self.place(isSQL: index < pushed)])
            }
            answer.append("stages", .array(stages))
            if made.sorting != .inGateway {
                answer.append("sort", made.sorting == .byIndex ? "index" : "sql")
            }
            statement = made.statement
        }
        answer.append("statement", .string(statement.rendered().text))
        let rows = try await run("EXPLAIN (FORMAT JSON) \(statement)", isPoint: false)
        if rows.rowCount > 0, let text = rows.slice(0, 0) {
            answer.append("plan", try ExtendedJSON.readValue(Array(text)))
        }
        return answer
    }

    /// The way in which an order is made, as far as a look at the indexes tells.
    private func way(of sort: Sort?, _ compiler: QueryCompiler) async throws(ServiceError) -> SortingWay {
        guard let sort, let proof = compiler.proof(ofOrder: sort) else { return .byIndex }
        do throws(ServiceError) {
            _ = try await run(proof, isPoint: false)
            return .byIndex
        } catch {
            guard error.postgresFailure?.sqlState == .cannotSort else { throw error }
            return .byKeys
        }
    }

    private static func place(isSQL: Bool) -> BSONValue { isSQL ? "sql" : "gateway" }

    private static func graded(
        _ conjuncts: [ExplainArguments.Conjunct],
        _ compiler: QueryCompiler
    ) -> BSONValue {
        .array(
            conjuncts.map { conjunct in
                .document([
                    "filter": .document(conjunct.source),
                    "grade": .string(compiler.grade(conjunct.filter).rawValue),
                ])
            }
        )
    }
}
