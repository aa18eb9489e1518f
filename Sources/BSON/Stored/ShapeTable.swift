/// The keys of a shape as PostgreSQL prints them, sorted as jsonb sorts them.
///
/// A row brings its keys in jsonb's order, so the next key is nearly always the one after the last match:
/// one comparison of bytes finds its place, without hashing and without making a string.
///
/// The memory is written once in `init` and never again, and the pointers do not leave this class, so that
/// threads may share it; pointers instead of arrays spare the lookups their reference counting.
final class ShapeTable: @unchecked Sendable {
    /// Where the bytes of a key lie and which place the shape gives it.
    private struct Entry {
        var start: Int32
        var length: Int32
        var place: Int32
    }

    private let bytes: UnsafeMutableBufferPointer<UInt8>
    private let entries: UnsafeMutableBufferPointer<Entry>

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
                    length: Int32(truncatingIfNeeded: text.bytes.count),
                    place: text.place
                )
            )
            bytes.append(contentsOf: text.bytes)
        }
        // One byte more than needed, so that there always is an address.
        self.bytes = .allocate(capacity: bytes.count + 1)
        self.entries = .allocate(capacity: entries.count)
        _ = self.bytes.initialize(from: bytes + [0])
        _ = self.entries.initialize(from: entries)
    }

    deinit {
        bytes.deallocate()
        entries.deallocate()
    }

    /// The place of a key given by its escaped bytes, or -1.
    ///
    /// The hint says which entry is expected, and moves on to the one expected after this key.
    @inline(__always)
    func place(of key: UnsafePointer<UInt8>, count: Int, hint: inout Int) -> Int {
        if hint < entries.count {
            let entry = entries[hint]
            if Int(entry.length) == count, order(entry, key) == 0 {
                hint &+= 1
                return Int(entry.place)
            }
        }
        return search(key, count: count, hint: &hint)
    }

    @inline(__always)
    private func order(_ entry: Entry, _ key: UnsafePointer<UInt8>) -> Int32 {
        guard let base = bytes.baseAddress else { return 0 }
        return compareBytes(base + Int(entry.start), key, Int(entry.length))
    }

    @inline(never)
    private func search(_ key: UnsafePointer<UInt8>, count: Int, hint: inout Int) -> Int {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            let entry = entries[middle]
            var order = Int32(truncatingIfNeeded: Int(entry.length) - count)
            if order == 0 { order = self.order(entry, key) }
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
