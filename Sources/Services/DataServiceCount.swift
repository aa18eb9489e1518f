import BSON
import Errors
import MQL
import Postgres
import QueryCompiler
import Rules
import SQL

extension DataCall {
    /// `countDocuments`: how many of the matching documents the caller may see.
    func count(_ arguments: CountArguments) async throws(ServiceError) -> Int {
        let scope = try plan.scope(of: arguments.filter)
        guard let layout = try await layout() else { return 0 }
        if case .stored = scope, let statement = compiler(layout).count(arguments) {
            note(.exact)
            return try await run(statement, isPoint: false).int(0, 0) ?? 0
        }
        return try await LongComputation.run { () async throws(ServiceError) in
            var counted = 0
            let bound = arguments.limit.map { $0.addingReportingOverflow(arguments.skip) }
                .map { $0.overflow ? Int.max : $0.partialValue }
            try await matching(arguments.filter, scope, layout) { (_, _) in
                counted += 1
                return counted < bound ?? Int.max
            }
            return max(counted - arguments.skip, 0)
        }
    }

    /// `estimatedDocumentCount`: from the table's statistics where the caller may see all, else a count.
    func estimatedCount() async throws(ServiceError) -> Int {
        guard let layout = try await layout() else { return 0 }
        guard let statement = compiler(layout).estimatedCount() else {
            return try await count(CountArguments())
        }
        note(.exact)
        return try await run(statement, isPoint: false).int(0, 0) ?? 0
    }

    /// `distinct`: the values that the caller may see in the documents it may see.
    func distinct(_ arguments: DistinctArguments) async throws(ServiceError) -> [BSONValue] {
        // A field that no role shows is refused, as one that documents are sorted by.
        let key = Sort(keys: [Sort.Key(path: arguments.key, ascending: true)])
        let scope = try plan.scope(of: arguments.filter, sort: key)
        guard let layout = try await layout() else { return [] }
        let most = service.limits.resultDocuments
        if case .stored = scope, let statement = compiler(layout).distinct(arguments, most: most + 1) {
            let rows = try await run(statement, isPoint: false)
            if let values = try Self.values(rows) {
                note(.exact)
                try service.limits.check(documents: rows.rowCount)
                return try ordered(values)
            }
        }
        return try await LongComputation.run { () async throws(ServiceError) in
            var collected = DistinctValues(key: arguments.key, limits: service.limits, context: evaluation())
            try await matching(arguments.filter, scope, layout) { (seen, bytes) throws(ServiceError) in
                try collected.add(seen, bytes: bytes)
                return true
            }
            return try ordered(collected.values)
        }
    }

    /// In the order of BSON, as MongoDB gives them.
    private func ordered(_ values: [BSONValue]) throws(ServiceError) -> [BSONValue] {
        guard DocumentLimits.size(of: ["values": .array(values)]) <= DocumentLimits.maximumBytes else {
            throw .mongo(17217, "distinct too big, 16mb cap")
        }
        let context = evaluation()
        return values.map { (value: $0, key: context.keyed($0)) }
            .sorted { BSONOrdering.compare($0.key, $1.key) < 0 }
            .map(\.value)
    }

    /// nil when a value has keys, whose order jsonb forgets.
    private static func values(_ rows: ResultSet) throws(ServiceError) -> [BSONValue]? {
        var seen: Set<BSONKey> = []
        var values: [BSONValue] = []
        for row in 0..<rows.rowCount {
            guard let text = rows.slice(row, 0) else { continue }
            let value = try StoredForm.readValue(text)
            guard !value.hasKeys else { return nil }
            if seen.insert(BSONKey(value)).inserted { values.append(value) }
        }
        return values
    }

    /// Hands what the caller sees of each matching document to `take`, until it says no.
    private func matching(
        _ filter: Filter,
        _ scope: QueryScope,
        _ layout: CollectionLayout,
        _ take: (BSONDocument, Int) throws(ServiceError) -> Bool
    ) async throws(ServiceError) {
        var narrowing = filter
        var onVisible = false
        if case .visible(let open) = scope { (narrowing, onVisible) = (open, true) }
        let read = compiler(layout).find(FindArguments(filter: narrowing))
        note(onVisible ? .superset : read.grade)
        let context = evaluation()
        try await stream(read.statement(), layout) { (document, bytes) throws(ServiceError) -> Bool in
            // Rules first: an error of the caller's filter must not tell of documents that rules keep from it.
            if !read.decidesMatch {
                guard try passesRules(document, context) else { return true }
            }
            guard let seen = try seen(document, context) else { return true }
            if onVisible || !read.decidesMatch {
                guard try filter.matches(onVisible ? seen : document, context) else { return true }
            }
            return try take(seen, bytes)
        }
    }
}

/// The values at a path, each once, in the order of their coming.
private struct DistinctValues {
    private static let memoryLimit = 100 << 20
    let key: FieldPath
    let limits: DataLimits
    let context: EvaluationContext
    private(set) var values: [BSONValue] = []
    private var seen: Set<BSONKey> = []
    private var heldBytes = 0

    init(key: FieldPath, limits: DataLimits, context: EvaluationContext) {
        self.key = key
        self.limits = limits
        self.context = context
    }

    mutating func add(_ document: BSONDocument, bytes: Int) throws(ServiceError) {
        let before = values.count
        for value in key.distinctValues(in: document)
        where seen.insert(BSONKey(context.keyed(value))).inserted {
            values.append(value)
        }
        guard values.count > before else { return }
        heldBytes += bytes
        try limits.check(documents: values.count)
        guard heldBytes <= Self.memoryLimit else {
            throw .mongo(17217, "distinct too big, \(Self.memoryLimit) byte cap")
        }
    }
}
