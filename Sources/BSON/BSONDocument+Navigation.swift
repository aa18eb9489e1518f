extension BSONDocument {
    /// The value at a path through embedded documents alone; a path into an array or a scalar is nil.
    public func value(at path: FieldPath) -> BSONValue? {
        var document = self
        var components = path.components[...]
        while let component = components.popFirst() {
            guard let value = document[component] else { return nil }
            if components.isEmpty { return value }
            guard case .document(let next) = value else { return nil }
            document = next
        }
        return nil
    }

    /// Where a field stands, or nil.
    public func index(of key: String) -> Int? {
        fields.firstIndex { TextOrder.equal($0.key, key) }
    }

    /// Whether there is a field of this name.
    public func has(_ key: String) -> Bool { index(of: key) != nil }

    /// The same fields without one.
    public func removing(_ key: String) -> BSONDocument {
        var copy = self
        copy[key] = nil
        return copy
    }

    /// Whether documents and arrays are nested more than `limit` deep; this document itself is level 1.
    ///
    /// MongoDB stores at most 180 levels. The walk stops at the limit, so it is safe for any depth.
    public func isDeeper(than limit: Int) -> Bool {
        BSONValue.document(self).isDeeper(than: limit)
    }
}

extension BSONValue {
    /// Whether documents and arrays are nested more than `limit` deep; a scalar has depth 0.
    public func isDeeper(than limit: Int) -> Bool {
        switch self {
        case .document(let document):
            limit < 1 || document.fields.contains { $0.value.isDeeper(than: limit - 1) }
        case .array(let elements): limit < 1 || elements.contains { $0.isDeeper(than: limit - 1) }
        case .codeWithScope(let code): limit < 1 || BSONValue.document(code.scope).isDeeper(than: limit - 1)
        default: false
        }
    }
}
