import BSON

/// A set of paths that finds collisions: one path lying above, or being, another.
final class PathTrie<Component: Hashable> {
    /// How a new path collides with a known one.
    enum Collision: Hashable {
        /// A known path, of this many components, lies above.
        case above(Int)
        /// A known path is the same or lies below.
        case below
    }

    private var children: [Component: PathTrie] = [:]
    private var isEnd = false

    /// Adds a path, unless it collides.
    func insert(_ path: [Component]) -> Collision? {
        var node = self
        for (index, component) in path.enumerated() {
            if node.isEnd { return .above(index) }
            if let next = node.children[component] {
                node = next
            } else {
                let next = PathTrie()
                node.children[component] = next
                node = next
            }
        }
        if node.isEnd || !node.children.isEmpty { return .below }
        node.isEnd = true
        return nil
    }
}
