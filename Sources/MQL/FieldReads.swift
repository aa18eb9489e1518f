public import BSON

/// Which fields of a document a query looks at.
public struct FieldReads: Sendable {
    /// The paths, in the order of their first mention.
    public private(set) var paths: [FieldPath] = []
    /// Whether something looks at the document as a whole, or at a field whose name is computed.
    public private(set) var readsDocument = false
    /// Whether an expression is among it, whose errors may quote what it looked at.
    public private(set) var hasExpression = false
    private var seen: Set<FieldPath> = []

    /// Nothing yet.
    public init() {}

    /// What a filter looks at.
    public init(_ filter: Filter) {
        add(filter)
    }

    /// Adds what a filter looks at.
    public mutating func add(_ filter: Filter) {
        add(filter, below: [])
    }

    /// Adds the paths that an order looks at.
    public mutating func add(_ sort: Sort) {
        for key in sort.keys { add(key.path.components) }
    }

    private mutating func add(_ components: [String]) {
        if components == TextScore.path.components { return }
        let path = FieldPath(components: components)
        if seen.insert(path).inserted { paths.append(path) }
    }

    private mutating func add(_ filter: Filter, below prefix: [String]) {
        switch filter {
        case .all, .nothing: break
        case .and(let members), .or(let members), .nor(let members):
            for member in members { add(member, below: prefix) }
        case .field(let path, let test): add(test, at: prefix + path.components)
        case .expression(let expression):
            hasExpression = true
            add(expression)
        case .schema: readsDocument = true
        // The fields of the index, which its caller has to be able to read.
        case .text: break
        }
    }

    private mutating func add(_ test: FieldTest, at path: [String]) {
        add(path)
        switch test {
        case .elementMatch(let match): add(match, at: path)
        case .allElements(let matches): for match in matches { add(match, at: path) }
        case .not(let tests): for test in tests { add(test, at: path) }
        case .compare, .inside, .exists, .type, .modulo, .matches, .all, .size, .bits: break
        }
    }

    private mutating func add(_ match: ElementMatch, at path: [String]) {
        switch match {
        case .value(let tests): for test in tests { add(test, at: path) }
        case .document(let filter): add(filter, below: path)
        }
    }

    private mutating func add(_ expression: AggregationExpression) {
        switch expression {
        case .path(let path): add(path.components)
        case .variable(let name, let path) where name == "ROOT" || name == "CURRENT":
            if path.isEmpty { readsDocument = true } else { add(path) }
        // Where `$$CURRENT` is another value, `"$a"` is not a field of the document.
        case .bind(let variables, in: _) where variables.contains { $0.name == "CURRENT" }:
            readsDocument = true
        case .map(_, "CURRENT", _), .filter(_, "CURRENT", _, _): readsDocument = true
        default: break
        }
        for child in expression.children { add(child) }
    }
}
