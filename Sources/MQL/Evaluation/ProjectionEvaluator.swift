public import BSON
public import Errors

extension Projection {
    /// The document as projected.
    ///
    /// - Parameters:
    ///   - document: The whole document.
    ///   - filter: The filter that found it; the positional form takes its index from there.
    ///   - context: Time and variables for computed fields.
    /// - Returns: What the projection shows of it.
    /// - Throws: ``ServiceError`` of an expression, or with server code 51246 when the filter gives
    ///   the positional form no index.
    public func apply(
        _ document: BSONDocument,
        filter: Filter?,
        _ context: EvaluationContext
    ) throws(ServiceError) -> BSONDocument {
        var evaluator = ProjectionEvaluator(root: document, mode: mode, context: context)
        if isPositional { evaluator.report = try (filter ?? .all).matchReport(document, context) }
        let projected = try evaluator.document(document, tree, [])
        return tree.child("_id").map { evaluator.withIDFirst(projected, $0) } ?? projected
    }
}

/// Applies the tree of a projection.
///
/// Kept fields stay in the document's order, computed ones follow in that of the specification; arrays on the
/// way are projected element by element. Source: `reference/mql.md` §5.
struct ProjectionEvaluator {
    let root: BSONDocument
    let mode: Projection.Mode
    let context: EvaluationContext
    var report: MatchReport?

    init(root: BSONDocument, mode: Projection.Mode, context: EvaluationContext) {
        self.root = root
        self.mode = mode
        self.context = context
    }

    /// One document under one node of the tree.
    func document(
        _ document: BSONDocument,
        _ node: ProjectionNode,
        _ path: [String]
    ) throws(ServiceError) -> BSONDocument {
        var result = BSONDocument()
        for field in document {
            guard let child = node.child(field.key) else {
                if mode == .exclusion { result.append(field.key, field.value) }
                continue
            }
            switch child {
            case .leaf(let leaf):
                if let value = try value(field.value, leaf, path + [field.key]) {
                    result.append(field.key, value)
                }
            case .node(let below):
                if let value = try value(field.value, below, path + [field.key]) {
                    result.append(field.key, value)
                }
            }
        }
        try appendComputed(to: &result, from: document, node)
        return result
    }

    /// Fields that the document need not have: computed ones and, last, found elements.
    private func appendComputed(
        to result: inout BSONDocument,
        from document: BSONDocument,
        _ node: ProjectionNode
    ) throws(ServiceError) {
        for (name, child) in node.children {
            switch child {
            case .leaf(.computed(let expression)):
                if let value = try expression.evaluate(root, context) { result.append(name, value) }
            case .node(let below) where below.computes && document[name] == nil:
                let created = try self.document(BSONDocument(), below, [])
                result.append(name, .document(created))
            default: break
            }
        }
        guard mode == .inclusion else { return }
        for (name, child) in node.children {
            guard case .leaf(.elementMatch(let match)) = child, let value = document[name],
                let found = try element(of: value, match)
            else { continue }
            result.append(name, found)
        }
    }

    /// A value at the end of a path; nil when it is not shown here.
    private func value(
        _ value: BSONValue,
        _ leaf: ProjectionNode.Leaf,
        _ path: [String]
    ) throws(ServiceError) -> BSONValue? {
        switch leaf {
        case .keep: return value
        case .drop, .computed: return nil
        case .slice(let skip, let limit):
            guard case .array(let elements) = value else { return value }
            return .array(ProjectionSlice.apply(elements, skip: skip, limit: limit))
        case .elementMatch(let match):
            // Inclusion appends it after everything else.
            return mode == .exclusion ? try element(of: value, match) : nil
        case .positional:
            guard case .array(let elements) = value else { return value }
            guard let index = report?.index(inArrayAt: FieldPath(components: path)) else {
                throw .mongo(
                    51246,
                    "Executor error during find command :: caused by :: positional operator '.$' couldn't find a matching element in the array"
                )
            }
            guard index < elements.count else {
                throw .mongo(
                    51247,
                    "Executor error during find command :: caused by :: positional operator '.$' element mismatch"
                )
            }
            return .array([elements[index]])
        }
    }

    /// A value on the way of a path; nil when it is not shown.
    private func value(
        _ value: BSONValue,
        _ node: ProjectionNode,
        _ path: [String]
    ) throws(ServiceError) -> BSONValue? {
        switch value {
        case .document(let document):
            return .document(try self.document(document, node, path))
        case .array(let elements):
            var projected: [BSONValue] = []
            projected.reserveCapacity(elements.count)
            for element in elements {
                if let element = try self.value(element, node, path) { projected.append(element) }
            }
            return .array(projected)
        default:
            if node.computes { return .document(try document(BSONDocument(), node, path)) }
            // Not `? value : nil`, whose nil would be the null value.
            guard mode == .exclusion else { return nil }
            return value
        }
    }

    /// The first element that satisfies the condition, as an array of one.
    private func element(of value: BSONValue, _ match: ElementMatch) throws(ServiceError) -> BSONValue? {
        guard case .array(let elements) = value else { return nil }
        let evaluator = FilterEvaluator(context: context)
        for element in elements where try evaluator.matches(match, element: element) {
            return .array([element])
        }
        return nil
    }

    /// The result with `_id` in front when it was computed, and so appended.
    func withIDFirst(_ document: BSONDocument, _ child: ProjectionNode.Child) -> BSONDocument {
        guard case .leaf(.computed) = child, let index = document.index(of: "_id"), index > 0 else {
            return document
        }
        var fields = document.fields
        fields.insert(fields.remove(at: index), at: 0)
        return BSONDocument(fields)
    }
}
