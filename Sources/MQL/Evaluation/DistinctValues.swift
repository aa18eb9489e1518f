public import BSON

extension FieldPath {
    /// The values that `distinct` finds in a document: those at the path, and of an array its elements.
    ///
    /// A missing field has none. An array is opened once.
    public func distinctValues(in document: BSONDocument) -> [BSONValue] {
        var values: [BSONValue] = []
        Self.visit(.document(document), components[...]) { value in
            if case .array(let elements) = value { values += elements } else { values.append(value) }
        }
        return values
    }

    private static func visit(
        _ value: BSONValue,
        _ rest: ArraySlice<String>,
        _ take: (BSONValue) -> Void
    ) {
        guard let step = rest.first else { return take(value) }
        switch value {
        case .document(let document):
            if let next = document[step] { visit(next, rest.dropFirst(), take) }
        case .array(let elements):
            for case .document(let element) in elements {
                visit(.document(element), rest, take)
            }
            if let index = step.arrayIndex, index < elements.count {
                visit(elements[index], rest.dropFirst(), take)
            }
        default: break
        }
    }
}
