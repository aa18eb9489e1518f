import Errors

/// Unions of the changes that meet at array elements, each computed once.
struct UpdateUnions {
    /// The path of the array.
    let path: [String]
    private var known: [[Int]: UpdateNode] = [:]

    init(path: [String]) {
        self.path = path
    }

    /// The union of nodes; `choice` says which they are among those of the array.
    ///
    /// - Returns: nil for no nodes.
    /// - Throws: ``ServiceError`` with server code 40 when they collide.
    mutating func union(of nodes: [UpdateNode], choice: [Int], index: Int) throws(ServiceError) -> UpdateNode?
    {
        if nodes.count <= 1 { return nodes.first }
        if let found = known[choice] { return found }
        let union = try Self.union(of: nodes, path: path + [String(index)])
        known[choice] = union
        return union
    }

    /// The union of nodes at a path.
    static func union(of nodes: [UpdateNode], path: [String]) throws(ServiceError) -> UpdateNode? {
        guard var union = nodes.first else { return nil }
        for node in nodes.dropFirst() {
            switch union.merged(with: node) {
            case .success(let merged): union = merged
            case .failure(let collision):
                throw .mongo(
                    .conflictingUpdateOperators,
                    "Update created a conflict at '\((path + collision.path).joined(separator: "."))'"
                )
            }
        }
        return union
    }
}
