public import BSON
public import Errors

/// The searches of a `$graphLookup` for a batch of documents, step by step.
///
/// ``frontier`` names the values that the next step asks the other collection for; ``add(_:)`` takes what was
/// found. When there is nothing left to ask, ``results()`` gives the documents. What one search has fetched,
/// all others know.
public struct GraphSearch: Sendable {
    private struct Search {
        let document: BSONDocument
        var frontier: Set<BSONKey>
        var asked: Set<BSONKey> = []
        /// Places of the documents found, with the step that found them.
        var found: [(place: Int, depth: Int64)] = []
        var seen: Set<Int> = []
    }

    private let arguments: GraphLookupArguments
    private let context: EvaluationContext
    private let memoryLimit: Int
    private var memory: MemoryBound
    private var searches: [Search] = []
    private var depth: Int64 = 0
    private var documents: [BSONDocument] = []
    private var places: [BSONKey: Int] = [:]
    /// For each value that was asked for, the documents that have it.
    private var known: [BSONKey: [Int]] = [:]

    /// Begins the searches of some documents.
    public init(
        _ arguments: GraphLookupArguments,
        for batch: ArraySlice<BSONDocument>,
        _ context: EvaluationContext,
        memoryLimitBytes: Int = Pipeline.standardMemoryLimit
    ) throws(ServiceError) {
        self.arguments = arguments
        self.context = context
        memoryLimit = memoryLimitBytes
        memory = MemoryBound(limit: memoryLimitBytes, stage: "$graphLookup")
        for document in batch {
            var frontier = Set<BSONKey>()
            switch try arguments.start.evaluate(document, context) {
            case nil: break
            case .array(let elements)?: for element in elements { frontier.insert(BSONKey(element)) }
            case let value?: frontier.insert(BSONKey(value))
            }
            searches.append(Search(document: document, frontier: frontier))
        }
    }

    /// The other collection.
    public var from: String { arguments.from }

    /// The values that no search has asked for yet.
    private var unknown: Set<BSONKey> {
        var keys = Set<BSONKey>()
        for search in searches {
            for key in search.frontier where known[context.key(key.value)] == nil { keys.insert(key) }
        }
        return keys
    }

    /// What the next documents must satisfy; nil when nothing is left to be asked at this step.
    public var frontier: Filter? {
        let keys = unknown
        if keys.isEmpty { return nil }
        let next = Filter.field(arguments.connectTo, .inside(keys.map { .value($0.value) }))
        return arguments.restriction == .all ? next : .and([next, arguments.restriction])
    }

    /// Takes what was found for ``frontier``.
    public mutating func add(_ found: [BSONDocument]) throws(ServiceError) {
        let keys = Set(unknown.map { context.key($0.value) })
        for key in keys { known[key] = [] }
        for document in found {
            let id = BSONKey(document["_id"] ?? .document(document))
            let place: Int
            if let old = places[id] {
                place = old
            } else {
                try memory.add(document)
                place = documents.count
                places[id] = place
                documents.append(document)
            }
            var matched = Set<BSONKey>()
            _ = try PathCandidates(path: arguments.connectTo.components, leaf: .opened)
                .contains(in: document) { (value, _) throws(ServiceError) in
                    matched.insert(context.key(value.map { $0.isNullish ? .null : $0 } ?? .null))
                    return false
                }
            for key in keys.intersection(matched) { known[key]?.append(place) }
        }
    }

    /// Goes one step on with what is known; false when all searches have ended.
    public mutating func advance() throws(ServiceError) -> Bool {
        var goesOn = false
        for index in searches.indices {
            let frontier = searches[index].frontier
            searches[index].frontier = []
            searches[index].asked.formUnion(frontier)
            for key in frontier {
                for place in known[context.key(key.value)] ?? []
                where searches[index].seen.insert(place).inserted {
                    try context.meter.spend()
                    searches[index].found.append((place, depth))
                    LookupJoin.visit(.document(documents[place]), arguments.connectFrom.components[...]) {
                        value in
                        let key = BSONKey(value)
                        if !searches[index].asked.contains(key) { searches[index].frontier.insert(key) }
                    }
                }
            }
            if let most = arguments.maximumDepth, depth >= most { searches[index].frontier = [] }
            if !searches[index].frontier.isEmpty { goesOn = true }
        }
        depth += 1
        return goesOn
    }

    /// The documents with what their searches found.
    public func results() throws(ServiceError) -> [BSONDocument] {
        var results: [BSONDocument] = []
        for search in searches {
            var size = MemoryBound(limit: memoryLimit, stage: "$graphLookup")
            var values: [BSONValue] = []
            for entry in search.found {
                var document = documents[entry.place]
                if let field = arguments.depthField {
                    document = DocumentEdit.set(field.components[...], in: document, to: .int64(entry.depth))
                }
                try size.add(document)
                values.append(.document(document))
            }
            let result = DocumentEdit.setDirectly(
                arguments.target.components[...],
                in: search.document,
                to: .array(values)
            )
            try ValueSize.checkDepth(result)
            results.append(result)
        }
        return results
    }
}
