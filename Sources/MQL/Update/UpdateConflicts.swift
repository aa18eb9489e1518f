import Errors

/// Refuses an update two of whose paths are, or lie above, one another.
struct UpdateConflicts {
    private let paths = PathTrie<UpdatePath.Component>()

    /// Adds the paths that a change touches.
    ///
    /// - Throws: ``ServiceError`` with server code 40.
    func add(_ change: UpdateChange) throws(ServiceError) {
        try add(change.path)
        if case .rename(let target) = change.action { try add(target) }
    }

    private func add(_ path: UpdatePath) throws(ServiceError) {
        switch paths.insert(path.components) {
        case nil: break
        case .below?: throw Self.conflict(path.text, at: path.text)
        case .above(let length)?:
            let above = UpdatePath(components: Array(path.components.prefix(length)))
            throw Self.conflict(path.text, at: above.text)
        }
    }

    static func conflict(_ path: String, at place: String) -> ServiceError {
        .mongo(
            .conflictingUpdateOperators,
            "Updating the path '\(path)' would create a conflict at '\(place)'"
        )
    }
}

/// The order in which changes apply, and so the order in which new fields appear.
enum UpdateOrder {
    /// Lexicographic by path; components that are numbers by their value.
    ///
    /// A rename counts where it writes.
    static func sorted(_ changes: [UpdateChange]) -> [UpdateChange] {
        changes.enumerated()
            .map { (place: $0.offset, path: target(of: $0.element), change: $0.element) }
            .sorted { first, second in
                let order = compare(first.path, second.path)
                return order == 0 ? first.place < second.place : order < 0
            }
            .map(\.change)
    }

    private static func target(of change: UpdateChange) -> UpdatePath {
        if case .rename(let target) = change.action { target } else { change.path }
    }

    private static func compare(_ first: UpdatePath, _ second: UpdatePath) -> Int {
        for (one, other) in zip(first.components, second.components) {
            let order = compare(one.text, other.text)
            if order != 0 { return order }
        }
        return first.components.count - second.components.count
    }

    private static func compare(_ first: String, _ second: String) -> Int {
        if let one = first.arrayIndex, let other = second.arrayIndex { return one - other }
        if first.utf8.elementsEqual(second.utf8) { return 0 }
        return first.utf8.lexicographicallyPrecedes(second.utf8) ? -1 : 1
    }
}
