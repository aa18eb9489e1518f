/// The keys of a shape as PostgreSQL prints them, sorted as jsonb sorts them.
///
/// A row brings its keys in jsonb's order, so the next key is nearly always the one after the last match:
/// one comparison of bytes finds its place, without hashing and without making a string.
struct ShapeTable: Sendable {
    /// Where the bytes of a key lie in ``bytes`` and which place the shape gives it.
    struct Entry: Sendable {
        var start: Int32
        var length: Int32
        var place: Int32
    }

    let bytes: [UInt8]
    let entries: [Entry]

    init(_ keys: [String]) {
        var texts: [(bytes: [UInt8], place: Int32)] = []
        texts.reserveCapacity(keys.count)
        for (place, key) in keys.enumerated() {
            var quoted: [UInt8] = []
            JSONText.append(key, to: &quoted)
            texts.append((Array(quoted[1..<quoted.count - 1]), Int32(truncatingIfNeeded: place)))
        }
        texts.sort { left, right in
            left.bytes.count == right.bytes.count
                ? left.bytes.lexicographicallyPrecedes(right.bytes) : left.bytes.count < right.bytes.count
        }
        var bytes: [UInt8] = []
        var entries: [Entry] = []
        for text in texts {
            entries.append(
                Entry(
                    start: Int32(truncatingIfNeeded: bytes.count),
                    length: Int32(truncatingIfNeeded: text.bytes.count), place: text.place))
            bytes.append(contentsOf: text.bytes)
        }
        self.bytes = bytes
        self.entries = entries
    }

    /// The place of a key given by its escaped bytes, or -1.
    ///
    /// - Parameter hint: Which entry is expected; moves on to the one expected after this key.
    @inline(__always)
    func place(of key: UnsafePointer<UInt8>, count: Int, hint: inout Int) -> Int {
        if hint < entries.count {
            let entry = entries[hint]
            if Int(entry.length) == count, matches(entry, key) {
                hint &+= 1
                return Int(entry.place)
            }
        }
        return search(key, count: count, hint: &hint)
    }

    @inline(__always)
    private func matches(_ entry: Entry, _ key: UnsafePointer<UInt8>) -> Bool {
        bytes.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return entry.length == 0 }
            return compareBytes(base + Int(entry.start), key, Int(entry.length)) == 0
        }
    }

    @inline(never)
    private func search(_ key: UnsafePointer<UInt8>, count: Int, hint: inout Int) -> Int {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            let entry = entries[middle]
            var order = Int32(truncatingIfNeeded: Int(entry.length) - count)
            if order == 0 {
                order = bytes.withUnsafeBufferPointer { buffer in
                    guard let base = buffer.baseAddress else { return 0 }
                    return compareBytes(base + Int(entry.start), key, count)
                }
            }
            if order == 0 {
                hint = middle + 1
                return Int(entry.place)
            }
            if order < 0 { low = middle + 1 } else { high = middle }
        }
        hint = low
        return -1
    }
}
