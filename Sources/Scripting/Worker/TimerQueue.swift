import HeapModule

/// When a script's timers are due: by time, and by order of their making among equals.
struct TimerQueue {
    private struct Entry: Comparable {
        let due: ContinuousClock.Instant
        let serial: Int
        let id: Int32

        static func < (left: Entry, right: Entry) -> Bool {
            (left.due, left.serial) < (right.due, right.serial)
        }
    }

    private var heap = Heap<Entry>()
    /// The serial of each timer that still counts; entries of others are passed over.
    private var live: [Int32: Int] = [:]
    private var serial = 0

    var isEmpty: Bool { live.isEmpty }

    mutating func set(_ id: Int32, due: ContinuousClock.Instant) {
        serial += 1
        live[id] = serial
        heap.insert(Entry(due: due, serial: serial, id: id))
    }

    mutating func clear(_ id: Int32) {
        live[id] = nil
    }

    /// When the next one is due.
    mutating func next() -> ContinuousClock.Instant? {
        dropCleared()
        return heap.min?.due
    }

    /// Takes out one that is due.
    mutating func take(at now: ContinuousClock.Instant) -> Int32? {
        dropCleared()
        guard let first = heap.min, first.due <= now else { return nil }
        live[first.id] = nil
        heap.removeMin()
        return first.id
    }

    private mutating func dropCleared() {
        while let first = heap.min, live[first.id] != first.serial { heap.removeMin() }
    }
}
