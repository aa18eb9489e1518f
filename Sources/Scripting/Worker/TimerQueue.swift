/// When a script's timers are due: a heap by time, and by order of their making among equals.
struct TimerQueue {
    private struct Entry {
        let due: ContinuousClock.Instant
        let serial: Int
        let id: Int32

        static func < (left: Entry, right: Entry) -> Bool {
            left.due == right.due ? left.serial < right.serial : left.due < right.due
        }
    }

    private var heap: [Entry] = []
    /// The serial of each timer that still counts; entries of others are passed over.
    private var live: [Int32: Int] = [:]
    private var serial = 0

    var isEmpty: Bool { live.isEmpty }

    mutating func set(_ id: Int32, due: ContinuousClock.Instant) {
        serial += 1
        live[id] = serial
        heap.append(Entry(due: due, serial: serial, id: id))
        var child = heap.count - 1
        while child > 0, heap[child] < heap[(child - 1) / 2] {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func clear(_ id: Int32) {
        live[id] = nil
    }

    /// When the next one is due.
    mutating func next() -> ContinuousClock.Instant? {
        dropCleared()
        return heap.first?.due
    }

    /// Takes out one that is due.
    mutating func take(at now: ContinuousClock.Instant) -> Int32? {
        dropCleared()
        guard let first = heap.first, first.due <= now else { return nil }
        live[first.id] = nil
        removeFirst()
        return first.id
    }

    private mutating func dropCleared() {
        while let first = heap.first, live[first.id] != first.serial { removeFirst() }
    }

    private mutating func removeFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < heap.count && heap[child] < heap[least] {
                least = child
            }
            guard least != parent else { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
