/// Merges the shapes of an array's elements into one that renders each of them in its own order.
struct ShapeMerger {
    private var keys: [String] = []
    private var children: [ByteText: DocumentShape] = [:]
    private var each: DocumentShape?
    private var isEmpty = true

    /// The merged shape, nil before the first.
    var result: DocumentShape? {
        isEmpty
            ? nil
            : DocumentShape(keys: keys, children: keys.map { children[ByteText(text: $0)] }, each: each)
    }

    /// Takes one more; false when the orders contradict each other.
    mutating func add(_ shape: DocumentShape) -> Bool {
        guard shape.list.isEmpty else { return false }
        if isEmpty {
            isEmpty = false
            keys = shape.keys
            each = shape.each
            for (key, child) in zip(shape.keys, shape.children) { children[ByteText(text: key)] = child }
            return true
        }
        guard mergeKeys(shape.keys) else { return false }
        for case (let key, let child?) in zip(shape.keys, shape.children) {
            guard let merged = Self.merge(children[ByteText(text: key)], child) else { return false }
            children[ByteText(text: key)] = merged
        }
        if let other = shape.each {
            guard let merged = Self.merge(each, other) else { return false }
            each = merged
        }
        return true
    }

    private static func merge(_ first: DocumentShape?, _ second: DocumentShape) -> DocumentShape? {
        guard let first, first != second else { return second }
        guard first.list.isEmpty else { return nil }
        var merger = ShapeMerger()
        guard merger.add(first), merger.add(second) else { return nil }
        return merger.result
    }

    /// Puts each new key right behind its predecessor; keys known already must stand in the same order.
    private mutating func mergeKeys(_ added: [String]) -> Bool {
        if added.count == keys.count, zip(added, keys).allSatisfy({ TextOrder.equal($0, $1) }) { return true }
        var places: [ByteText: Int] = [:]
        for (place, key) in keys.enumerated() { places[ByteText(text: key)] = place }
        var merged: [String] = []
        var next = 0
        for key in added {
            if let place = places[ByteText(text: key)] {
                guard place >= next else { return false }
                merged.append(contentsOf: keys[next...place])
                next = place + 1
            } else {
                merged.append(key)
            }
        }
        merged.append(contentsOf: keys[next...])
        keys = merged
        return true
    }
}
