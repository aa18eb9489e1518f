/// A bounded memory of values with an end each; the oldest entry makes room for a new one.
///
/// Not synchronised: its owner keeps it in a `Mutex`.
struct ExpiringCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        let value: Value
        let expiresAt: Int64
    }

    private let capacity: Int
    private var entries: [Key: Entry] = [:]
    /// Keys in the order of their arrival; those before `head`, and those removed since, count no more.
    private var arrivals: [Key] = []
    private var head = 0

    init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    var count: Int { entries.count }

    /// The value of a key that has not ended by a time in milliseconds.
    func value(_ key: Key, now: Int64) -> Value? {
        guard let entry = entries[key], entry.expiresAt > now else { return nil }
        return entry.value
    }

    mutating func store(_ value: Value, for key: Key, expiresAt: Int64) {
        if entries.updateValue(Entry(value: value, expiresAt: expiresAt), forKey: key) == nil {
            arrivals.append(key)
        }
        while entries.count > capacity, head < arrivals.count {
            entries[arrivals[head]] = nil
            head += 1
        }
        // Removed keys stay in the list of arrivals until it is twice as long as it need be.
        if head > capacity || arrivals.count - head > 2 * capacity {
            var seen: Set<Key> = []
            arrivals = arrivals[head...].filter { entries[$0] != nil && seen.insert($0).inserted }
            head = 0
        }
    }

    mutating func remove(_ key: Key) {
        entries[key] = nil
    }

    mutating func removeAll() {
        entries = [:]
        arrivals = []
        head = 0
    }
}
