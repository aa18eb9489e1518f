import BSON

/// The changes of an update as a tree by path, so that one walk through the document applies them
/// all and its cost does not depend on how wide documents and updates are.
struct UpdateNode: Sendable {
    /// What happens at the end of a path.
    enum Leaf: Sendable {
        case action(UpdateAction)
        /// The place that a `$rename` empties.
        case renamedAway
        /// The place that a `$rename` fills; nil when the source is missing.
        case renamedHere(BSONValue?)

        /// Whether a scalar on the way, or an array without an index, is a fault.
        var needsPath: Bool {
            if case .action(.pop) = self { true } else { creates }
        }

        /// Whether a missing field comes into being.
        var creates: Bool {
            switch self {
            case .action(let action):
                switch action {
                case .unset, .pop, .pull, .pullAll: false
                case .set, .increment, .multiply, .minimum, .maximum, .rename, .setOnInsert, .currentDate,
                    .push, .addToSet, .bit:
                    true
                }
            case .renamedAway: false
            case .renamedHere(let value): value != nil
            }
        }
    }

    /// Whether a path that leads nowhere is a fault, also where nothing would come into being.
    private(set) var needsPath = false
    private(set) var leaf: Leaf?
    /// In the order in which they apply.
    private(set) var children: [(component: UpdatePath.Component, node: UpdateNode)] = []
    private var places: [UpdatePath.Component: Int] = [:]
    /// Whether a child is `$`, `$[]` or `$[id]`.
    private(set) var hasPositionalChildren = false
    /// Whether something below comes into being where nothing is.
    private(set) var creates = false

    init() {}

    /// Adds a change at a path; paths come in the order in which they apply and do not collide.
    mutating func insert(_ path: ArraySlice<UpdatePath.Component>, _ leaf: Leaf) {
        if leaf.creates { creates = true }
        if leaf.needsPath { needsPath = true }
        guard let component = path.first else {
            self.leaf = leaf
            return
        }
        if let place = places[component] {
            children[place].node.insert(path.dropFirst(), leaf)
        } else {
            var node = UpdateNode()
            node.insert(path.dropFirst(), leaf)
            add(component, node)
        }
    }

    private mutating func add(_ component: UpdatePath.Component, _ node: UpdateNode) {
        places[component] = children.count
        children.append((component, node))
        creates = creates || node.creates
        needsPath = needsPath || node.needsPath
        if case .name = component { return }
        hasPositionalChildren = true
    }

    /// The changes of both nodes, which concern the same array element.
    ///
    /// - Returns: The path below the element at which they collide, or the union.
    func merged(with other: UpdateNode) -> Result<UpdateNode, Collision> {
        if leaf != nil || other.leaf != nil { return .failure(Collision(path: [])) }
        var result = self
        for (component, node) in other.children {
            guard let place = result.places[component] else {
                result.add(component, node)
                continue
            }
            switch result.children[place].node.merged(with: node) {
            case .success(let union):
                result.children[place].node = union
                result.creates = result.creates || union.creates
                result.needsPath = result.needsPath || union.needsPath
            case .failure(let collision):
                return .failure(Collision(path: [component.text] + collision.path))
            }
        }
        return .success(result)
    }

    /// Where two changes meet.
    struct Collision: Error {
        let path: [String]
    }
}
