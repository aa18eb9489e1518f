import BSON
import Errors

/// The values that a path of a filter visits.
///
/// A path leads through objects by name. At an array it leads on through every element that is an
/// object, and, when the component is an index, through the element there; elements of other types
/// give nothing. Where the path ends on an array, each element and the array itself are candidates;
/// an array that an index led to is a candidate only as a whole. Where a field is absent, or a
/// scalar stands in the way, there is one candidate without a value.
/// Source: `reference/mql.md` §2.
struct PathCandidates {
    /// What happens at an array on which the path ends.
    enum Leaf {
        /// Its elements and itself are candidates.
        case opened
        /// It is one candidate.
        case whole
    }

    /// Where a candidate lies in the outermost array that was passed without an index.
    struct Position {
        /// How many components lead to that array.
        let depth: Int
        let index: Int
    }

    typealias Visitor = (BSONValue?, Position?) throws(ServiceError) -> Bool

    let path: [String]
    let leaf: Leaf

    /// Shows candidates to the visitor until it returns true; says whether it did.
    func contains(in document: BSONDocument, where visitor: Visitor) throws(ServiceError) -> Bool {
        try visitDocument(document, 0, nil, visitor)
    }

    private func visitDocument(
        _ document: BSONDocument,
        _ step: Int,
        _ position: Position?,
        _ visitor: Visitor
    ) throws(ServiceError) -> Bool {
        guard let value = document[path[step]] else { return try visitor(nil, position) }
        return try visitValue(value, step + 1, position, visitor)
    }

    private func visitValue(
        _ value: BSONValue,
        _ step: Int,
        _ position: Position?,
        _ visitor: Visitor
    ) throws(ServiceError) -> Bool {
        if step == path.count { return try visitLeaf(value, step, position, visitor) }
        switch value {
        case .document(let document): return try visitDocument(document, step, position, visitor)
        case .array(let elements): return try visitElements(elements, step, position, visitor)
        default: return try visitor(nil, position)
        }
    }

    private func visitLeaf(
        _ value: BSONValue,
        _ step: Int,
        _ position: Position?,
        _ visitor: Visitor
    ) throws(ServiceError) -> Bool {
        if leaf == .opened, case .array(let elements) = value {
            for (index, element) in elements.enumerated()
            where try visitor(element, position ?? Position(depth: step, index: index)) {
                return true
            }
        }
        return try visitor(value, position)
    }

    private func visitElements(
        _ elements: [BSONValue],
        _ step: Int,
        _ position: Position?,
        _ visitor: Visitor
    ) throws(ServiceError) -> Bool {
        for (index, element) in elements.enumerated() {
            guard case .document(let document) = element else { continue }
            let inside = position ?? Position(depth: step, index: index)
            if try visitDocument(document, step, inside, visitor) { return true }
        }
        guard let index = path[step].arrayIndex, index < elements.count else { return false }
        let element = elements[index]
        if step + 1 == path.count { return try visitor(element, position) }
        switch element {
        case .document(let document): return try visitDocument(document, step + 1, position, visitor)
        case .array(let inner): return try visitElements(inner, step + 1, position, visitor)
        default: return false
        }
    }
}
