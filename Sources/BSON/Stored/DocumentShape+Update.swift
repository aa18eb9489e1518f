extension DocumentShape {
    /// The shape after an update sets or removes one path in a document of exactly this shape.
    ///
    /// A new key comes last, as in MongoDB; setting a known one keeps its place; removing one forgets it.
    /// The document must have every key that the shape knows along the path: for one of a superset shape a
    /// key that the update adds would keep the place it has in the shape.
    ///
    /// A nil value removes the field. The result is nil where only the resulting document can tell: a removal inside an array of documents, a
    ///   path into an array whose elements have shapes of their own, documents that look like wrappers.
    public func settingPath(_ path: [String], value: BSONValue?) -> DocumentShape? {
        guard let key = path.first, !isEscaped, let result = setting(key, path, value: value),
            !result.isEscaped
        else { return nil }
        return result
    }

    /// Whether the keys are, or would be, stored inside an escape.
    private var isEscaped: Bool {
        StoredWrapper.isAmbiguous(BSONDocument(keys.map { BSONDocument.Field(key: $0, value: .null) }))
    }

    private func setting(_ key: String, _ path: [String], value: BSONValue?) -> DocumentShape? {
        if each != nil || !list.isEmpty {
            // Inside an array: all elements share the order, so one of them can only gain a last key.
            guard let value, let each, path.count > 1, key.utf8.allSatisfy({ 48...57 ~= $0 }) else {
                return nil
            }
            guard let element = each.settingPath(Array(path.dropFirst()), value: value) else { return nil }
            return DocumentShape(keys: keys, children: children, each: element)
        }
        let place = index(of: key)
        if path.count == 1 {
            guard let value else { return place.map(removing) ?? self }
            return replacing(key, at: place, with: Self.shape(of: value))
        }
        let rest = Array(path.dropFirst())
        guard let value else {
            guard let place, let child = children[place] else { return self }
            return child.settingPath(rest, value: nil).map { replacing(key, at: place, with: $0) }
        }
        // Where no document is known yet, the update makes one.
        let child = (place.flatMap { children[$0] } ?? DocumentShape()).settingPath(rest, value: value)
        return child.map { replacing(key, at: place, with: $0) }
    }

    private func removing(at place: Int) -> DocumentShape {
        var keys = keys
        var children = children
        keys.remove(at: place)
        children.remove(at: place)
        return DocumentShape(keys: keys, children: children)
    }

    private func replacing(_ key: String, at place: Int?, with child: DocumentShape?) -> DocumentShape {
        guard let place else { return DocumentShape(keys: keys + [key], children: children + [child]) }
        if children[place] == child { return self }
        var children = children
        children[place] = child
        return DocumentShape(keys: keys, children: children)
    }
}
