import BSON

/// The entries of a projection, grouped by the components of their paths.
struct ProjectionNode: Sendable {
    /// What happens at the end of a path.
    enum Leaf: Sendable {
        case keep
        case drop
        case computed(AggregationExpression)
        case slice(skip: Int?, limit: Int)
        case elementMatch(ElementMatch)
        case positional
    }

    /// A child: the end of a path, or more components.
    enum Child: Sendable {
        case leaf(Leaf)
        indirect case node(ProjectionNode)
    }

    /// Names with their children, in the order of the specification.
    private(set) var children: [(name: String, child: Child)] = []
    private var places: [ByteText: Int] = [:]
    /// Whether anything below is computed, so that scalars on the way become objects.
    private(set) var computes = false

    private init() {}

    init(mode: Projection.Mode, includesID: Bool, items: [Projection.Item]) {
        switch (mode, includesID) {
        case (.inclusion, true): insert(["_id"], .keep)
        case (.exclusion, false): insert(["_id"], .drop)
        case (.inclusion, false), (.exclusion, true): break
        }
        for item in items {
            let leaf: Leaf =
                switch item {
                case .path: mode == .inclusion ? .keep : .drop
                case .computed(_, let expression): .computed(expression)
                case .slice(_, let skip, let limit): .slice(skip: skip, limit: limit)
                case .elementMatch(_, let match): .elementMatch(match)
                case .positional: .positional
                }
            insert(item.path.components[...], leaf)
        }
    }

    /// The child of a name.
    func child(_ name: String) -> Child? {
        if children.count <= 4 { return children.first { TextOrder.equal($0.name, name) }?.child }
        return places[ByteText(name)].map { children[$0].child }
    }

    private mutating func insert(_ path: ArraySlice<String>, _ leaf: Leaf) {
        guard let name = path.first else { return }
        if case .computed = leaf { computes = true }
        if path.count == 1 {
            set(name, .leaf(leaf))
            return
        }
        var node = ProjectionNode()
        if let place = places[ByteText(name)], case .node(let known) = children[place].child {
            node = known
            // The tree holds the only other reference; without it the insertion works in place.
            children[place].child = .leaf(.keep)
        }
        node.insert(path.dropFirst(), leaf)
        set(name, .node(node))
    }

    private mutating func set(_ name: String, _ child: Child) {
        if let place = places[ByteText(name)] {
            children[place].child = child
        } else {
            places[ByteText(name)] = children.count
            children.append((name, child))
        }
    }
}
