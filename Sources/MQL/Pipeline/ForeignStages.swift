import BSON

/// `$lookup`: each document gets the documents of another collection that match it.
public struct LookupArguments: Sendable {
    /// The other collection; nil where the pipeline begins with `$documents`.
    public let from: String?
    /// The fields that must be equal, in this collection and in the other.
    let fields: (local: FieldPath, foreign: FieldPath)?
    /// `let`: what the pipeline may know of a document, in order.
    let variables: [NamedExpression]
    /// What happens to the other collection's documents; empty in the short form.
    let pipeline: Pipeline
    /// Where the matching documents go.
    let target: FieldPath
}

/// `$unionWith`: the documents of another collection come after those of this one.
public struct UnionArguments: Sendable {
    /// The other collection; nil where the pipeline begins with `$documents`.
    public let from: String?
    /// What happens to its documents first.
    public let pipeline: Pipeline
}

/// `$graphLookup`: each document gets what can be reached from it in another collection.
public struct GraphLookupArguments: Sendable {
    /// The other collection.
    public let from: String
    /// The values that the search starts with.
    let start: AggregationExpression
    /// The field whose values lead on.
    let connectFrom: FieldPath
    /// The field by which documents are found.
    let connectTo: FieldPath
    /// Where the documents go.
    let target: FieldPath
    /// How many steps the search goes beyond the first; nil goes on to the end.
    let maximumDepth: Int64?
    /// The field that tells at which step a document was found.
    let depthField: FieldPath?
    /// What documents must satisfy besides.
    let restriction: Filter
}

extension Stage {
    /// Whether it reads or writes another collection, and so cannot run in memory alone.
    public var isForeign: Bool {
        switch self {
        case .lookup, .unionWith, .graphLookup: true
        case .facet(let facets): facets.contains { $0.pipeline.isForeign }
        default: false
        }
    }
}

extension Pipeline {
    /// Whether a stage reads or writes another collection.
    public var isForeign: Bool { stages.contains(where: \.isForeign) }
}

extension Stage {
    /// Whether what it does depends on one of these variables.
    func mentions(_ names: Set<String>) -> Bool {
        switch self {
        case .match(let filter): filter.mentions(names)
        case .project(let projection): projection.items.contains { $0.mentions(names) }
        case .addFields(let assignments): assignments.contains { $0.expression.mentions(names) }
        case .group(let arguments):
            arguments.id.mentions(names) || Self.mention(arguments.fields, names)
        case .bucket(let arguments):
            arguments.groupBy.mentions(names) || Self.mention(arguments.fields, names)
        case .bucketAuto(let arguments):
            arguments.groupBy.mentions(names) || Self.mention(arguments.fields, names)
        case .sortByCount(let expression), .replaceRoot(let expression), .redact(let expression),
            .documents(let expression):
            expression.mentions(names)
        case .facet(let facets): facets.contains { $0.pipeline.mentions(names) }
        case .setWindowFields(let window): window.mentions(names)
        case .fill(let arguments):
            arguments.window?.mentions(names) ?? false
                || arguments.assignments.contains { $0.expression.mentions(names) }
        case .lookup(let arguments):
            arguments.variables.contains { $0.expression.mentions(names) }
                || arguments.pipeline.mentions(names)
        case .unionWith(let arguments): arguments.pipeline.mentions(names)
        case .graphLookup(let arguments):
            arguments.start.mentions(names) || arguments.restriction.mentions(names)
        case .merge, .out, .unset, .sort, .limit, .skip, .count, .unwind, .sample, .densify: false
        }
    }

    private static func mention(
        _ fields: [(name: String, accumulator: Accumulator)],
        _ names: Set<String>
    ) -> Bool {
        fields.contains {
            $0.accumulator.operand.mentions(names) || $0.accumulator.limit?.mentions(names) ?? false
        }
    }
}

extension Pipeline {
    func mentions(_ names: Set<String>) -> Bool { stages.contains { $0.mentions(names) } }
}

extension WindowArguments {
    fileprivate func mentions(_ names: Set<String>) -> Bool {
        partition?.mentions(names) ?? false
            || outputs.contains { $0.function.expressions.contains { $0.mentions(names) } }
    }
}

extension Projection.Item {
    fileprivate func mentions(_ names: Set<String>) -> Bool {
        if case .computed(_, let expression) = self { expression.mentions(names) } else { false }
    }
}

extension Filter {
    /// Whether an expression in it uses one of these variables.
    func mentions(_ names: Set<String>) -> Bool {
        switch self {
        case .all, .nothing, .field, .schema, .text: false
        case .and(let members), .or(let members), .nor(let members): members.contains { $0.mentions(names) }
        case .expression(let expression): expression.mentions(names)
        }
    }
}

extension AggregationExpression {
    /// Whether it uses one of these variables.
    func mentions(_ names: Set<String>) -> Bool {
        if case .variable(let name, _) = self, names.contains(name) { return true }
        return children.contains { $0.mentions(names) }
    }
}
