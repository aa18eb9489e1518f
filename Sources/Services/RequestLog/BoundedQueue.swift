/// A queue that forgets its oldest elements rather than grow beyond its capacity.
struct BoundedQueue<Element> {
    private var items: [Element] = []
    /// What lies before it is gone.
    private var head = 0
    let capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
    }

    var count: Int { items.count - head }

    /// The oldest element.
    var first: Element? { head < items.count ? items[head] : nil }

    /// Adds an element at the end; answers whether the oldest had to go for it.
    mutating func append(_ element: Element) -> Bool {
        let isFull = count >= capacity
        if isFull { head += 1 }
        items.append(element)
        compact()
        return isFull
    }

    /// Takes the oldest elements out, at most so many.
    mutating func take(_ most: Int) -> [Element] {
        let taken = items[head...].prefix(most)
        head += taken.count
        defer { compact() }
        return Array(taken)
    }

    /// Puts elements before all others; answers how many of them, the oldest, there was no room for.
    mutating func putBack(_ elements: [Element]) -> Int {
        let kept = elements.suffix(max(0, capacity - count))
        items.replaceSubrange(0..<head, with: kept)
        head = 0
        return elements.count - kept.count
    }

    /// Each element is moved once on average: what is gone makes up half of the array by then.
    private mutating func compact() {
        guard head == items.count || head >= 1024 && head * 2 >= items.count else { return }
        items.removeSubrange(0..<head)
        head = 0
    }
}
