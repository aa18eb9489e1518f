import BSON

/// Puts a change that was computed on what a caller sees of a document into the document: what is hidden is neither
/// read nor changed.
struct VisibleEdit {
    /// The change names something hidden, or would destroy it.
    struct HiddenFieldTouched: Error {
        let path: [String]
    }

    /// The document after the change.
    ///
    /// - Parameters:
    ///   - stored: The document before.
    ///   - seen: What the caller sees of it.
    ///   - after: What the change made of `seen`.
    /// - Returns: `stored` with what differs between `seen` and `after`.
    /// - Throws: ``HiddenFieldTouched``.
    static func merge(
        stored: BSONDocument,
        seen: BSONDocument,
        after: BSONDocument
    ) throws(HiddenFieldTouched) -> BSONDocument {
        try merge(stored, seen, after, [])
    }

    private static func merge(
        _ stored: BSONDocument,
        _ seen: BSONDocument,
        _ after: BSONDocument,
        _ path: [String]
    ) throws(HiddenFieldTouched) -> BSONDocument {
        if seen == stored { return after }
        var kept: [BSONDocument.Field] = []
        for field in stored {
            guard let visible = seen[field.key] else {
                if after.has(field.key) { throw HiddenFieldTouched(path: path + [field.key]) }
                kept.append(field)
                continue
            }
            if let new = after[field.key] {
                let value = try merge(field.value, visible, new, path + [field.key])
                kept.append(BSONDocument.Field(key: field.key, value: value))
            } else if let rest = try remainder(field.value, visible, path + [field.key]) {
                kept.append(BSONDocument.Field(key: field.key, value: rest))
            }
        }
        // Fields that only the projection of a rule filter computed are nobody's.
        let new = after.fields.filter { field in
            !stored.has(field.key) && !(seen[field.key].map { $0 == field.value } ?? false)
        }
        // The order that the change gave, where it moved fields; hidden ones come last then.
        let wanted = after.keys.filter { stored.has($0) }
        let current = kept.map(\.key).filter { after.has($0) }
        guard !zip(wanted, current).allSatisfy({ TextOrder.equal($0, $1) }) else {
            return BSONDocument(kept + new)
        }
        let places = FieldPlaces(after)
        return BSONDocument((kept + new).sorted { places[$0.key] < places[$1.key] })
    }

    private static func merge(
        _ stored: BSONValue,
        _ seen: BSONValue,
        _ after: BSONValue,
        _ path: [String]
    ) throws(HiddenFieldTouched) -> BSONValue {
        if after == seen { return stored }
        if seen == stored { return after }
        switch (stored, seen, after) {
        case (.document(let stored), .document(let seen), .document(let after)):
            return .document(try merge(stored, seen, after, path))
        case (.array(let stored), .array(let seen), .array(let after)):
            return .array(try merge(stored, seen, after, path))
        default: throw HiddenFieldTouched(path: path)
        }
    }

    /// What stays when the visible part of a value is removed.
    private static func remainder(
        _ stored: BSONValue,
        _ seen: BSONValue,
        _ path: [String]
    ) throws(HiddenFieldTouched) -> BSONValue? {
        if stored == seen { return nil }
        guard case (.document(let stored), .document(let seen)) = (stored, seen) else {
            throw HiddenFieldTouched(path: path)
        }
        return .document(try merge(stored, seen, BSONDocument(), path))
    }

    private static func merge(
        _ stored: [BSONValue],
        _ seen: [BSONValue],
        _ after: [BSONValue],
        _ path: [String]
    ) throws(HiddenFieldTouched) -> [BSONValue] {
        guard let places = places(of: seen, in: stored) else { throw HiddenFieldTouched(path: path) }
        var result = stored
        if after.count == seen.count {
            // Elements that change places would get the hidden fields of others.
            let isMoved = after.indices.contains { index in
                after[index] != seen[index] && seen.contains(after[index])
            }
            if isMoved { throw HiddenFieldTouched(path: path) }
            for index in after.indices {
                let place = places[index]
                result[place] = try merge(stored[place], seen[index], after[index], path + [String(place)])
            }
            return result
        }
        if after.count > seen.count {
            guard after.starts(with: seen) else { throw HiddenFieldTouched(path: path) }
            return result + after.dropFirst(seen.count)
        }
        guard let left = Self.places(of: after, in: seen, by: { $0 == $1 }) else {
            throw HiddenFieldTouched(path: path)
        }
        for index in seen.indices.reversed() where !left.contains(index) {
            guard stored[places[index]] == seen[index] else { throw HiddenFieldTouched(path: path) }
            result.remove(at: places[index])
        }
        return result
    }

    /// Where the elements that are seen stand among those that are stored.
    private static func places(
        of seen: [BSONValue],
        in stored: [BSONValue],
        by isPart: (BSONValue, BSONValue) -> Bool = VisibleEdit.isPart
    ) -> [Int]? {
        var places: [Int] = []
        var next = 0
        for element in seen {
            guard let place = stored[next...].firstIndex(where: { isPart(element, $0) }) else { return nil }
            places.append(place)
            next = place + 1
        }
        return places
    }

    /// Whether a value is what may be seen of another.
    private static func isPart(_ seen: BSONValue, _ stored: BSONValue) -> Bool {
        if seen == stored { return true }
        switch (seen, stored) {
        case (.document(let seen), .document(let stored)):
            return seen.fields.allSatisfy { field in
                stored[field.key].map { isPart(field.value, $0) } ?? false
            }
        case (.array(let seen), .array(let stored)): return places(of: seen, in: stored) != nil
        default: return false
        }
    }
}

/// Where the fields of a document stand; others come after them.
private struct FieldPlaces {
    private var places: [ByteText: Int] = [:]

    init(_ document: BSONDocument) {
        for (place, field) in document.fields.enumerated() { places[ByteText(field.key)] = place }
    }

    subscript(key: String) -> Int { places[ByteText(key)] ?? Int.max }
}
