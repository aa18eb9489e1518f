import HeapModule

/// Those who wait for a worker: by app in the order in which they came, each with a time after which a worker is of no
/// use to them.
///
/// Thousands may stand here, and event loops wait for whoever asks: no step looks at all of them, but for one in so
/// many that it costs each as much as looking at a few.
struct WaitingLine<Waiter: Sendable>: Sendable {
    private struct Place {
        let app: String
        let waiter: Waiter
    }

    /// The serials of one app.
    private struct Queue {
        /// Those who left are still among them until they come first.
        private var serials: [Int] = []
        private var head = 0
        /// How many have not left.
        var count = 0

        /// Who came first; nobody has left before them.
        var first: Int { serials[head] }

        mutating func append(_ serial: Int) {
            serials.append(serial)
            count += 1
        }

        /// The first has not left, or there is none.
        mutating func settle(_ waits: (Int) -> Bool) {
            while head < serials.count, !waits(serials[head]) { head += 1 }
            if head > 64, head * 2 > serials.count {
                serials.removeFirst(head)
                head = 0
            }
            if serials.count - head > 2 * count + 64 {
                serials = serials[head...].filter(waits)
                head = 0
            }
        }
    }

    /// When somebody's time is up.
    private struct Deadline: Comparable {
        let time: ContinuousClock.Instant
        let serial: Int

        static func < (left: Deadline, right: Deadline) -> Bool {
            (left.time, left.serial) < (right.time, right.serial)
        }
    }

    private var places: [Int: Place] = [:]
    /// Of the apps for whose workers somebody waits.
    private var queues: [String: Queue] = [:]
    /// Of all who wait, and of some who have left.
    private var deadlines = Heap<Deadline>()
    /// Those who wait for no worker any more, only for being told.
    private var expired: ArraySlice<Waiter> = []
    /// Of whoever began to wait last: what ``withdraw(serial:)`` takes.
    private(set) var lastSerial = 0

    /// How many wait for a worker.
    var count: Int { places.count }
    /// How many wait for being told that none came in time.
    var expiredCount: Int { expired.count }
    /// For workers of how many apps somebody waits.
    var appCount: Int { queues.count }

    /// How many wait for a worker of an app.
    func count(of app: String) -> Int { queues[app]?.count ?? 0 }

    /// The app whose first one comes before those of the others, by a rank, and then by when they came.
    func first(byRank rank: (String) -> Int) -> String? {
        queues.min { left, right in
            (rank(left.key), left.value.first) < (rank(right.key), right.value.first)
        }?.key
    }

    /// The last of its app.
    mutating func append(_ waiter: Waiter, app: String, until deadline: ContinuousClock.Instant) {
        lastSerial += 1
        places[lastSerial] = Place(app: app, waiter: waiter)
        queues[app, default: Queue()].append(lastSerial)
        // Most leave in the order of their times: two for each who comes keep up with them.
        for _ in 0..<2 {
            guard let first = deadlines.min, places[first.serial] == nil else { break }
            deadlines.removeMin()
        }
        deadlines.insert(Deadline(time: deadline, serial: lastSerial))
        if deadlines.count > 2 * places.count + 64 {
            deadlines = Heap(deadlines.unordered.filter { places[$0.serial] != nil })
        }
    }

    /// Takes the first who waits for a worker of an app.
    mutating func takeFirst(of app: String) -> Waiter? {
        queues[app].flatMap { withdraw(serial: $0.first) }
    }

    /// Takes one out of the queue of its app; nil when it is no longer there.
    mutating func withdraw(serial: Int) -> Waiter? {
        guard let place = places.removeValue(forKey: serial) else { return nil }
        queues[place.app]?.count -= 1
        if queues[place.app]?.count == 0 {
            queues[place.app] = nil
        } else {
            queues[place.app]?.settle { [places] in places[$0] != nil }
        }
        return place.waiter
    }

    /// Sets those apart whose time is up: no worker is to serve them any more.
    mutating func expire(at now: ContinuousClock.Instant) {
        while let first = deadlines.min, first.time <= now {
            deadlines.removeMin()
            if let waiter = withdraw(serial: first.serial) { expired.append(waiter) }
        }
    }

    /// Takes the first of those that were set apart.
    mutating func takeExpired(atMost most: Int) -> ArraySlice<Waiter> {
        let taken = expired.prefix(most)
        // An empty slice would keep all that it ever held.
        expired = taken.count < expired.count ? expired.dropFirst(most) : []
        return taken
    }

    /// Takes all, those first who wait only for being told.
    mutating func takeAll() -> [Waiter] {
        let all = Array(expired) + places.sorted { $0.key < $1.key }.map(\.value.waiter)
        (places, queues, deadlines, expired) = ([:], [:], Heap(), [])
        return all
    }
}
