public import BSON
public import Errors

/// How a `$lookup` finds what matches its documents, whoever fetches the other collection's documents.
///
/// Used in batches: ``narrowing(for:_:)`` says which documents of the other collection can match at all,
/// ``index(_:)`` sorts those that were fetched by what they are equal in, and ``matches(of:in:_:)`` gives, for each
/// document of the batch, those to which the pipeline applies.
///
/// Equalities are those of `localField` and `foreignField`, and those in a leading `$match` between a field
/// and an expression of variables: `{$expr: {$eq: ["$owner", "$$id"]}}`. Without any, every document of the
/// batch sees everything that the part of the pipeline which knows no variables gives: ``shared``.
public struct LookupJoin: Sendable {
    /// A field of the other collection that must have the value of an expression.
    private struct Equality {
        let path: FieldPath
        let value: AggregationExpression
    }

    let arguments: LookupArguments
    private let collation: Collation?
    private let equality: Equality?
    /// Conditions of the leading `$match` that know no variables.
    private let constant: Filter
    private let names: Set<String>

    /// Prepares a join, whose values are equal as the operation's collation has it.
    public init(_ arguments: LookupArguments, collation: Collation? = nil) {
        self.arguments = arguments
        self.collation = collation
        names = Set(arguments.variables.map(\.name))
        var conjuncts: [Filter] = []
        if case .match(let filter)? = arguments.pipeline.stages.first { conjuncts = Self.conjuncts(filter) }
        let names = names
        equality = conjuncts.lazy.compactMap { Self.equality($0, names) }.first
        let known = conjuncts.filter { !$0.mentions(names) }
        constant = known.isEmpty ? .all : known.count == 1 ? known[0] : .and(known)
    }

    /// Whether documents are matched by equal values, so that a batch needs only what can match.
    public var isEquality: Bool { arguments.fields != nil || arguments.from != nil && equality != nil }

    /// The part of the pipeline that gives the same for every document, and the rest.
    public var shared: (head: Pipeline, tail: Pipeline) {
        let count = arguments.pipeline.stages.prefix { !$0.mentions(names) }.count
        return arguments.pipeline.split(after: count)
    }

    /// What happens to the documents that match.
    public var pipeline: Pipeline {
        from == nil ? arguments.pipeline.split(after: 1).tail : arguments.pipeline
    }

    /// The `$documents` of a pipeline that brings its own; empty for one that reads a collection.
    public var ownDocuments: Pipeline {
        from == nil ? arguments.pipeline.split(after: 1).head : Pipeline(stages: [])
    }

    /// Whether there is a `let`, whose errors show also where nothing matches.
    public var hasVariables: Bool { !arguments.variables.isEmpty }

    /// The most bytes that one document may be given; that of what leaves the pipeline is another bound.
    private static let maximumBytes = 100 << 20

    /// The other collection; nil where the pipeline brings its own documents.
    public var from: String? { arguments.from }

    private static func conjuncts(_ filter: Filter) -> [Filter] {
        guard case .and(let members) = filter else {
            guard case .expression(.call(.and, let operands)) = filter else { return [filter] }
            return operands.map { .expression($0) }
        }
        return members.flatMap { conjuncts($0) }
    }

    private static func equality(_ filter: Filter, _ names: Set<String>) -> Equality? {
        guard case .expression(.call(.equal, let operands)) = filter, operands.count == 2 else { return nil }
        switch (operands[0], operands[1]) {
        case (.path(let path), let value) where value.knowsOnly(names):
            return Equality(path: path, value: value)
        case (let value, .path(let path)) where value.knowsOnly(names):
            return Equality(path: path, value: value)
        default: return nil
        }
    }

    /// The variables of a document for the pipeline.
    public func bindings(
        for document: BSONDocument,
        _ context: EvaluationContext
    ) throws(ServiceError) -> EvaluationContext {
        var inner = context
        inner.current = nil
        for variable in arguments.variables {
            inner.bind(variable.name, to: try variable.expression.evaluate(document, context))
        }
        return inner
    }

    /// What documents of the other collection satisfy that can match one of these.
    public func narrowing(
        for documents: ArraySlice<BSONDocument>,
        _ context: EvaluationContext
    ) throws(ServiceError) -> Filter {
        var filters = constant == .all ? [] : [constant]
        if let fields = arguments.fields {
            var keys = Set<BSONKey>()
            for document in documents { keys.formUnion(Self.localValues(fields.local, document)) }
            filters.append(.field(fields.foreign, .inside(keys.map { .value($0.value) })))
        }
        if let equality {
            var keys = Set<BSONKey>()
            var isScalar = true
            for document in documents {
                let inner = try bindings(for: document, context)
                let value = try equality.value.evaluate(BSONDocument(), inner) ?? .null
                // An array is what a path through arrays makes of their elements: no single field has it.
                if case .array = value { isScalar = false }
                keys.insert(BSONKey(value.isNullish ? .null : value))
            }
            if isScalar { filters.append(.field(equality.path, .inside(keys.map { .value($0.value) }))) }
        }
        return filters.isEmpty ? .all : filters.count == 1 ? filters[0] : .and(filters)
    }

    /// Documents of the other collection, sorted by the values that must be equal.
    public struct Index: Sendable {
        fileprivate let documents: [BSONDocument]
        fileprivate var places: [BSONKey: [Int]] = [:]
    }

    /// Sorts fetched documents by the values that must be equal.
    public func index(_ documents: [BSONDocument]) throws(ServiceError) -> Index {
        var index = Index(documents: documents)
        for (place, document) in documents.enumerated() {
            for key in try keys(of: document) { index.places[key, default: []].append(place) }
        }
        return index
    }

    private func keys(of document: BSONDocument) throws(ServiceError) -> Set<BSONKey> {
        guard let fields = arguments.fields else {
            guard let equality else { return [] }
            let value = ExpressionLookup.value(of: equality.path.components[...], in: document)
            return [key(value ?? .undefined)]
        }
        var keys = Set<BSONKey>()
        _ = try PathCandidates(path: fields.foreign.components, leaf: .opened)
            .contains(in: document) { (value, _) throws(ServiceError) in
                keys.insert(key(value.map { $0.isNullish ? .null : $0 } ?? .null))
                return false
            }
        return keys
    }

    /// What values of both sides are compared by.
    private func key(_ value: BSONValue) -> BSONKey { BSONKey(collation?.keyed(value) ?? value) }

    /// The documents that match one of the batch, in the order in which they were fetched.
    public func matches(
        of document: BSONDocument,
        in index: Index,
        _ context: EvaluationContext
    ) throws(ServiceError) -> [BSONDocument] {
        if let fields = arguments.fields {
            var places: [Int] = []
            for local in Self.localValues(fields.local, document) {
                places += index.places[key(local.value)] ?? []
            }
            var last = -1
            return places.sorted().compactMap { place in
                defer { last = place }
                return place == last ? nil : index.documents[place]
            }
        }
        guard let equality else { return index.documents }
        let value = try equality.value.evaluate(BSONDocument(), try bindings(for: document, context))
        return (index.places[key(value ?? .undefined)] ?? []).map { index.documents[$0] }
    }

    /// The document with what matched it.
    ///
    /// - Throws: ``ServiceError`` with server code 4568 when it becomes too large.
    public func joined(_ document: BSONDocument, _ found: [BSONDocument]) throws(ServiceError) -> BSONDocument
    {
        var size = MemoryBound(limit: Self.maximumBytes, stage: "$lookup")
        for document in found {
            let bytes = ValueSize.of(document, limit: Self.maximumBytes)
            if size.overflows(with: bytes) {
                throw .mongo(
                    4568,
                    "Total size of documents in \(arguments.from ?? "$documents") matching pipeline's $lookup stage exceeds \(Self.maximumBytes) bytes"
                )
            }
            try size.add(bytes)
        }
        let result = DocumentEdit.setDirectly(
            arguments.target.components[...],
            in: document,
            to: .array(found.map { .document($0) })
        )
        try ValueSize.checkDepth(result)
        return result
    }

    /// What a path of a document is compared by: every value it leads to, null when there is none.
    static func localValues(_ path: FieldPath, _ document: BSONDocument) -> Set<BSONKey> {
        var keys = Set<BSONKey>()
        visit(.document(document), path.components[...]) { keys.insert(BSONKey($0.isNullish ? .null : $0)) }
        if keys.isEmpty { keys.insert(BSONKey(.null)) }
        return keys
    }

    /// Shows the values at a path; arrays at its end are opened once, those on the way by index or element.
    static func visit(_ value: BSONValue, _ path: ArraySlice<String>, _ visitor: (BSONValue) -> Void) {
        guard let name = path.first else {
            if case .array(let elements) = value { elements.forEach(visitor) } else { visitor(value) }
            return
        }
        switch value {
        case .document(let document):
            if let next = document[name] { visit(next, path.dropFirst(), visitor) }
        case .array(let elements):
            if let index = name.arrayIndex, index < elements.count {
                visit(elements[index], path.dropFirst(), visitor)
            }
            for element in elements {
                if case .document = element { visit(element, path, visitor) }
            }
        default: break
        }
    }
}

extension AggregationExpression {
    /// Whether its value depends on these variables alone.
    fileprivate func knowsOnly(_ names: Set<String>) -> Bool {
        switch self {
        case .path: false
        case .variable(let name, _): names.contains(name) || name == "NOW"
        case .literal: true
        case .call(.random, _): false
        default: children.allSatisfy { $0.knowsOnly(names) }
        }
    }
}
