import Accounts
import BSON
import Errors
import MQL
import Observability
import Postgres
import SQL
import TestSupport
import Testing

@testable import Services

/// One collection in PostgreSQL, and the same documents in memory.
///
/// An operation whose evaluation fails for some document is compared only as far as it must fail as well where SQL
/// decides nothing: which documents an evaluation meets depends on what SQL leaves.
final class DifferentialRun {
    private let fixture: DataFixture
    private let now: Int64
    /// In the order of `_id`, in which documents come by themselves.
    private var documents: [BSONDocument] = []
    /// The same as they lie in the collection for updates.
    private var targets: [BSONDocument] = []
    /// How often the collections changed.
    private var generation = 0
    private var refills = 0
    private let texts = SearchedTexts()
    private(set) var answered = 0
    private(set) var differences = 0

    private var read: String { "Read\(generation)" }
    private var written: String { "Written\(generation)" }

    init(now: Int64) async throws {
        fixture = try await DataFixture()
        self.now = now
        _ = try await fixture.database.run("SELECT tidegate.create_app('indexes')")
        try await renew()
        _ = try await fixture.database.run("SELECT tidegate.ensure_collection('todo', 'Texts')")
        _ = try await fixture.database.run(
            "SELECT tidegate.create_index('indexes', 'todo', 'Texts', '{\"t\": \"text\"}', '{\"default_language\": \"none\"}')"
        )
        fixture.catalog.forgetAll()
        let texts = texts.documents
        _ = try await perform("insertMany", "Texts", ["documents": .array(texts.map { .document($0) })])
    }

    /// Takes other collections: one remembers 4,096 orders of keys and no more.
    private func renew() async throws {
        generation += 1
        for collection in [read, written] {
            _ = try await fixture.database.run(
                "SELECT tidegate.ensure_collection('todo', \(bind: .text(collection)))"
            )
        }
        let indexes = ["a": "number", "b": "string", "c": "date", "a.b": "number"]
        for (path, type) in indexes {
            _ = try await fixture.database.run(
                """
                SELECT tidegate.create_index('indexes', 'todo', \(bind: .text(read)), \(bind: .text("{\"\(path)\": 1}")), \
                \(bind: .jsonb(Array("{\"types\": {\"\(path)\": \"\(type)\"}}".utf8))))
                """
            )
        }
        fixture.catalog.forgetAll()
    }

    func close() async { await fixture.database.close() }

    /// Puts other documents into the collection that is read.
    func refill(_ documents: [BSONDocument]) async throws {
        refills += 1
        if refills.isMultiple(of: 8) { try await renew() }
        _ = try await perform("deleteMany", read, ["filter": [:]])
        _ = try await perform("insertMany", read, ["documents": .array(documents.map { .document($0) })])
        self.documents = try Self.ordered(documents)
        fixture.catalog.forgetAll()
    }

    private static func ordered(_ documents: [BSONDocument]) throws -> [BSONDocument] {
        try documents.map { (try TypedKey.text($0["_id"] ?? .null), $0) }
            .sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }.map(\.1)
    }

    private func operation(_ action: String, _ collection: String, _ members: BSONDocument)
        throws(ServiceError) -> DataOperation
    {
        var body: BSONDocument = [
            "dataSource": "mongodb-atlas", "database": "todo", "collection": .string(collection),
        ]
        for field in members { body[field.key] = field.value }
        return try OperationParser.parse(action: action, body: body)
    }

    private func perform(_ operation: DataOperation) async throws(ServiceError) -> OperationResult {
        let context = CallContext(
            app: fixture.app,
            principal: .system,
            request: nil,
            deadline: .now + .seconds(900),
            trace: RequestTrace(requestID: "65f0c0ffee0000000000cccc")
        )
        return try await fixture.data.perform(operation, context).operationResult()
    }

    @discardableResult
    private func perform(_ action: String, _ collection: String, _ members: BSONDocument)
        async throws(ServiceError) -> OperationResult
    {
        try await perform(try operation(action, collection, members))
    }

    private func context(_ operation: DataOperation) -> EvaluationContext {
        var context = EvaluationContext(now: now)
        context.collation = operation.options.collation
        return context
    }

    /// Answers by both, and compares; an operation that cannot be parsed, or whose evaluation fails, says nothing.
    private func compare(
        _ action: String,
        _ collection: String,
        _ members: BSONDocument,
        expected: (DataOperation, EvaluationContext) throws(ServiceError) -> [BSONDocument]?,
        found: (OperationResult) async throws(ServiceError) -> [BSONDocument],
        key: (BSONDocument) -> String = { ExtendedJSON.canonical(.document($0)) },
        isUnordered: Bool = false
    ) async {
        let operation: DataOperation
        let wanted: [BSONDocument]
        do throws(ServiceError) {
            operation = try self.operation(action, collection, members)
            guard let computed = try expected(operation, context(operation)) else { return }
            wanted = computed
        } catch {
            return
        }
        var text = ""
        do throws(ServiceError) {
            let answer = try await found(try await perform(operation))
            answered += 1
            var (left, right) = (wanted.map(key), answer.map(key))
            if isUnordered { (left, right) = (left.sorted(), right.sorted()) }
            if left == right { return }
            text = "expected \(left)\nfound \(right)"
        } catch {
            text = "expected \(wanted.count) documents\nfound \(error)"
        }
        differences += 1
        Issue.record("\(action) \(collection) \(ExtendedJSON.canonical(.document(members)))\n\(text)")
    }

    private static func documents(_ result: OperationResult) -> [BSONDocument] {
        if case .documents(let documents) = result { documents } else { [] }
    }

    func find(_ generator: inout GeneratedRequests) async {
        var members: BSONDocument = ["filter": .document(generator.filter())]
        if generator.random.oneIn(2) { members["sort"] = .document(generator.sort()) }
        if generator.random.oneIn(3) { members["projection"] = .document(generator.projection()) }
        if generator.random.oneIn(3) { members["limit"] = .int32(Int32(1 + generator.random.below(10))) }
        if generator.random.oneIn(4) { members["skip"] = .int32(Int32(generator.random.below(5))) }
        if generator.random.oneIn(6) { members["collation"] = .document(generator.collation()) }
        await compare(
            "find",
            read,
            members,
            expected: { operation, context throws(ServiceError) in
                guard case .find(let arguments) = operation.action else { return nil }
                var found = try self.matching(arguments.filter, context)
                if let sort = arguments.sort { found = sort.sorted(found) }
                found = Array(found.dropFirst(arguments.skip).prefix(arguments.limit ?? .max))
                guard let projection = arguments.projection else { return found }
                return try found.map { document throws(ServiceError) in
                    try projection.apply(document, filter: arguments.filter, context)
                }
            },
            found: { Self.documents($0) }
        )
    }

    private func matching(_ filter: Filter, _ context: EvaluationContext) throws(ServiceError)
        -> [BSONDocument]
    {
        try Self.matching(documents, filter, context)
    }

    private static func matching(
        _ documents: [BSONDocument],
        _ filter: Filter,
        _ context: EvaluationContext
    ) throws(ServiceError) -> [BSONDocument] {
        var matching: [BSONDocument] = []
        for document in documents where try filter.matches(document, context) { matching.append(document) }
        return matching
    }

    func count(_ generator: inout GeneratedRequests) async {
        await compare(
            "countDocuments",
            read,
            ["filter": .document(generator.filter())],
            expected: { operation, context throws(ServiceError) in
                guard case .count(let arguments) = operation.action else { return nil }
                return [["n": .int32(Int32(try self.matching(arguments.filter, context).count))]]
            },
            found: { result in
                guard case .counted(let count) = result else { return [] }
                return [["n": .int32(Int32(count))]]
            }
        )
    }

    func aggregate(_ generator: inout GeneratedRequests) async {
        let (stages, isUnordered) = generator.pipeline()
        var members: BSONDocument = ["pipeline": .array(stages)]
        if generator.random.oneIn(6) { members["collation"] = .document(generator.collation()) }
        await compare(
            "aggregate",
            read,
            members,
            expected: { operation, context throws(ServiceError) in
                guard case .aggregate(let pipeline) = operation.action else { return nil }
                return try pipeline.run(self.documents, context)
            },
            found: { Self.documents($0) },
            // Of equal keys any stands for its group.
            key: isUnordered ? { Self.group($0) } : { ExtendedJSON.canonical(.document($0)) },
            isUnordered: isUnordered
        )
    }

    private static func group(_ document: BSONDocument) -> String {
        var rest = document
        let id = document["_id"] ?? .null
        rest["_id"] = nil
        return "\(BSONKey(id).hashValue) \(ExtendedJSON.canonical(.document(rest)))"
    }

    func update(_ generator: inout GeneratedRequests) async throws {
        let (update, arrayFilters) = generator.update()
        let isMany = generator.random.oneIn(2)
        targets = try Self.ordered(generator.collection(3))
        try await perform("deleteMany", written, ["filter": [:]])
        try await perform("insertMany", written, ["documents": .array(targets.map { .document($0) })])
        var members: BSONDocument = [
            "filter": generator.random.oneIn(3) ? [:] : .document(generator.filter(1)), "update": update,
        ]
        if !arrayFilters.isEmpty { members["arrayFilters"] = .array(arrayFilters) }
        if !isMany { members["sort"] = .document(generator.sort()) }
        if generator.random.oneIn(8) { members["collation"] = .document(generator.collation()) }
        await compare(
            isMany ? "updateMany" : "updateOne",
            written,
            members,
            expected: { operation, context throws(ServiceError) in
                try self.updated(operation, context)
            },
            found: { result async throws(ServiceError) in
                guard case .updated(let counts) = result else { return [] }
                let after = Self.documents(try await self.perform("find", written, [:]))
                return [["m": .int32(Int32(counts.matched)), "n": .int32(Int32(counts.modified))]] + after
            }
        )
    }

    private func updated(
        _ operation: DataOperation,
        _ context: EvaluationContext
    ) throws(ServiceError) -> [BSONDocument]? {
        let arguments: UpdateArguments
        var chosen: BSONDocument?
        switch operation.action {
        case .updateMany(let many): arguments = many
        case .updateOne(let one):
            arguments = one
            let matching = try Self.matching(targets, one.filter, context)
            chosen = one.sort?.sorted(matching).first ?? [:]
        default: return nil
        }
        var (matched, modified): (Int32, Int32) = (0, 0)
        var after: [BSONDocument] = []
        for target in targets {
            guard try arguments.filter.matches(target, context),
                chosen == nil || chosen?["_id"] == target["_id"]
            else {
                after.append(target)
                continue
            }
            matched += 1
            let changed = try arguments.update.apply(
                to: target,
                filter: arguments.filter,
                isUpsertInsert: false,
                context
            )
            if changed != target { modified += 1 }
            after.append(changed)
        }
        return [["m": .int32(matched), "n": .int32(modified)]] + after
    }

    func search(_ generator: inout GeneratedRequests) async {
        let search = texts.search(&generator.random)
        await compare(
            "find",
            "Texts",
            ["filter": ["$text": .document(search.members)], "projection": ["_id": 1]],
            expected: { _, _ in
                self.texts.documents.filter { search.finds($0) }.map { ["_id": $0["_id"] ?? .null] }
            },
            found: { Self.documents($0) }
        )
    }
}
