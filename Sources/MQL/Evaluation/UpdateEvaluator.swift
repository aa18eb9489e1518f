public import BSON
public import Errors

extension Update {
    /// The document after the update.
    ///
    /// - Parameters:
    ///   - document: The document that the filter found, or the seed of an upsert.
    ///   - filter: Where the positional `$` gets its index.
    ///   - isUpsertInsert: Whether `$setOnInsert` counts.
    ///   - context: The time of `$currentDate`, and variables of pipelines.
    /// - Returns: A document that may be stored; `_id` is unchanged.
    /// - Throws: ``ServiceError`` with MongoDB's code: 2, 14, 28, 40 for operators that do not fit the
    ///   document, 66 for a change of `_id`, 53 for an `_id` that cannot be one, 10334 and 15 for a
    ///   result that is too large or too deep.
    public func apply(
        to document: BSONDocument,
        filter: Filter,
        isUpsertInsert: Bool,
        _ context: EvaluationContext
    ) throws(ServiceError) -> BSONDocument {
        var result: BSONDocument
        switch self {
        case .operators(let changes, let arrayFilters):
            var evaluator = UpdateEvaluator(
                root: document,
                arrayFilters: arrayFilters,
                isInsert: isUpsertInsert,
                context: context
            )
            if changes.contains(where: { $0.path.components.contains(.matched) }), !isUpsertInsert {
                evaluator.report = try filter.matchReport(document, context)
            }
            result = try evaluator.apply(changes)
            try ImmutableID.restore(in: &result, from: document) { _ in
                "Performing an update on the path '_id' would modify the immutable field '_id'"
            }
        case .replacement(let replacement):
            result = EmptyTimestamps.filled(replacement, now: context.now)
            try ImmutableID.restore(in: &result, from: document, keepingAbsent: true) { changed in
                "After applying the update, the (immutable) field '_id' was found to have been altered to _id: \(MongoShellText.describe(changed ?? .null))"
            }
        case .pipeline(let pipeline):
            guard let output = try pipeline.run([document], context).first else {
                throw ServiceError(.internalServerError, "an update pipeline lost its document")
            }
            result = output
            try ImmutableID.restore(in: &result, from: document, keepingAbsent: true) { _ in
                "Performing an update on the path '_id' would modify the immutable field '_id'"
            }
        }
        try DocumentLimits.check(result)
        return result
    }
}

/// Applies operators to one document.
///
/// Source: `reference/mql.md` §6.
struct UpdateEvaluator {
    /// The document before the update.
    let root: BSONDocument
    let arrayFilters: [String: Filter]
    let isInsert: Bool
    let context: EvaluationContext
    /// Where `$` points to.
    var report: MatchReport?
    /// Names and indexes that lead to the place of work.
    private var path: [String] = []
    private var padding = ArrayPadding()

    init(
        root: BSONDocument,
        arrayFilters: [String: Filter] = [:],
        isInsert: Bool,
        context: EvaluationContext
    ) {
        self.root = root
        self.arrayFilters = arrayFilters
        self.isInsert = isInsert
        self.context = context
    }

    /// The root after the changes.
    mutating func apply(_ changes: [UpdateChange]) throws(ServiceError) -> BSONDocument {
        var tree = UpdateNode()
        for change in changes {
            switch change.action {
            case .setOnInsert(let value):
                if isInsert { tree.insert(change.path.components[...], .action(.set(value))) }
            case .rename(let target):
                let value = try RenameSource.value(at: change.path, target: target, in: root)
                tree.insert(change.path.components[...], .renamedAway)
                tree.insert(target.components[...], .renamedHere(value))
            default:
                tree.insert(change.path.components[...], .action(change.action))
            }
        }
        var document = root
        try apply(tree, to: &document)
        return document
    }

    /// Applies what a node says to a value; nil is a missing one.
    private mutating func apply(_ node: UpdateNode, to value: inout BSONValue?) throws(ServiceError) {
        if let leaf = node.leaf {
            try context.meter.spend(8)
            value = try UpdateLeafEvaluator(root: root, path: path, context: context).apply(leaf, to: value)
            return
        }
        switch value {
        case nil:
            if node.hasPositionalChildren { throw missingArray(node) }
            guard node.creates else { return }
            var created = BSONDocument()
            try apply(node, to: &created)
            value = .document(created)
        case .document(var document)?:
            if node.hasPositionalChildren { throw notAnArray(node, value) }
            // Letting go of the original makes the edit one in place.
            value = nil
            try apply(node, to: &document)
            value = .document(document)
        case .array(var elements)?:
            value = nil
            try apply(node, to: &elements)
            value = .array(elements)
        case .some(let scalar):
            if node.hasPositionalChildren { throw notAnArray(node, scalar) }
            if let child = node.children.first(where: { $0.node.needsPath }) {
                throw notViable(child.component.text, in: scalar)
            }
        }
    }

    private mutating func apply(_ node: UpdateNode, to document: inout BSONDocument) throws(ServiceError) {
        var removed = Set<Int>()
        var index = FieldIndex(of: document, lookups: node.children.count)
        for (component, child) in node.children {
            let name = component.text
            let isForbidden = path.isEmpty && !isInsert && name.startsWithDollar
            path.append(name)
            if let place = index.place(of: name, in: document) {
                var value: BSONValue? = document.fields[place].value
                document.fields[place].value = .null
                let before = isForbidden ? value : nil
                try apply(child, to: &value)
                if isForbidden, value != nil, value != before { throw Self.dollarPrefixed(name) }
                if let value { document.fields[place].value = value } else { removed.insert(place) }
            } else {
                var value: BSONValue?
                try apply(child, to: &value)
                if isForbidden, value != nil { throw Self.dollarPrefixed(name) }
                if let value {
                    index.note(name, at: document.count)
                    document.append(name, value)
                }
            }
            path.removeLast()
        }
        if !removed.isEmpty {
            document.fields = document.fields.enumerated().filter { !removed.contains($0.offset) }.map(
                \.element
            )
        }
    }

    private mutating func apply(_ node: UpdateNode, to elements: inout [BSONValue]) throws(ServiceError) {
        let count = elements.count
        var named: [Int: UpdateNode] = [:]
        var beyond: [(index: Int, node: UpdateNode)] = []
        for (component, child) in node.children {
            guard case .name(let name) = component else { continue }
            switch ArrayPadding.index(name) {
            case .index(let index):
                if index < count { named[index] = child } else { beyond.append((index, child)) }
            case .beyondAll: if child.creates { throw ArrayPadding.tooMany }
            case .none: if child.needsPath { throw notViable(name, in: .array(elements)) }
            }
        }
        if node.hasPositionalChildren {
            try applyPositional(node, named, to: &elements)
        } else {
            for (index, child) in named.sorted(by: { $0.key < $1.key }) {
                try apply(child, toElement: index, of: &elements)
            }
        }
        for (index, child) in beyond.sorted(by: { $0.index < $1.index }) {
            path.append(String(index))
            var value: BSONValue?
            try apply(child, to: &value)
            path.removeLast()
            guard let value else { continue }
            try padding.fill(&elements, upTo: index)
            elements.append(value)
        }
    }

    private mutating func apply(
        _ node: UpdateNode,
        toElement index: Int,
        of elements: inout [BSONValue]
    ) throws(ServiceError) {
        path.append(String(index))
        var value: BSONValue? = elements[index]
        elements[index] = .null
        try apply(node, to: &value)
        // Removing an element would move the others: it becomes null.
        elements[index] = value ?? .null
        path.removeLast()
    }

    /// Applies to each element what `$`, `$[]`, `$[id]` and its own index say.
    private mutating func applyPositional(
        _ node: UpdateNode,
        _ named: [Int: UpdateNode],
        to elements: inout [BSONValue]
    ) throws(ServiceError) {
        var matched: Int?
        if node.children.contains(where: { $0.component == .matched }) {
            matched = report?.index(inArrayAt: FieldPath(components: path))
            guard let matched, matched < elements.count else { throw Self.noMatch }
        }
        let positional = node.children.filter { if case .name = $0.component { false } else { true } }
        var unions = UpdateUnions(path: path)
        for index in elements.indices {
            try context.meter.spend(positional.count)
            var choice: [Int] = []
            for (number, child) in positional.enumerated() {
                let applies =
                    switch child.component {
                    case .name: false
                    case .matched: index == matched
                    case .all: true
                    case .filtered(let identifier): try satisfies(elements[index], identifier)
                    }
                if applies { choice.append(number) }
            }
            let nodes = choice.map { positional[$0].node }
            if let own = named[index] {
                // Each index has a node of its own, so its union is not worth keeping.
                let union = try UpdateUnions.union(of: [own] + nodes, path: path + [String(index)])
                if let union { try apply(union, toElement: index, of: &elements) }
            } else if let union = try unions.union(of: nodes, choice: choice, index: index) {
                try apply(union, toElement: index, of: &elements)
            }
        }
    }

    private func satisfies(_ element: BSONValue, _ identifier: String) throws(ServiceError) -> Bool {
        guard let filter = arrayFilters[identifier] else { return false }
        return try filter.matches(BSONDocument([.init(key: identifier, value: element)]), context)
    }

    private static func dollarPrefixed(_ name: String) -> ServiceError {
        .mongo(
            .dollarPrefixedFieldName,
            "The dollar ($) prefixed field '\(name)' in '\(name)' is not valid for storage."
        )
    }

    private static var noMatch: ServiceError {
        .mongo(
            .badValue,
            "The positional operator did not find the match needed from the query."
        )
    }

    private func missingArray(_ node: UpdateNode) -> ServiceError {
        if node.children.contains(where: { $0.component == .matched }) { return Self.noMatch }
        return .mongo(
            .badValue,
            "The path '\(path.joined(separator: "."))' must exist in the document in order to apply array updates."
        )
    }

    private func notAnArray(_ node: UpdateNode, _ value: BSONValue?) -> ServiceError {
        if node.children.contains(where: { $0.component == .matched }) { return Self.noMatch }
        return .mongo(
            .badValue,
            "Cannot apply array updates to non-array element \(path.last ?? ""): \(MongoShellText.describe(value ?? .null))"
        )
    }

    private func notViable(_ name: String, in value: BSONValue) -> ServiceError {
        .mongo(
            .pathNotViable,
            "Cannot create field '\(name)' in element {\(path.last ?? ""): \(MongoShellText.describe(value))}"
        )
    }
}
