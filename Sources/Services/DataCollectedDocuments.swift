import BSON
import Errors
import MQL

/// Documents gathered in memory: in order of arrival, or sorted; no more than are wanted, and within a bound.
struct CollectedDocuments {
    private struct Entry {
        /// What the sort looks at: the document as stored.
        let document: BSONDocument
        /// What the caller may see of it.
        let seen: BSONDocument
        let bytes: Int
    }

    /// Source: `reference/mql.md` §10, the bound of a blocking stage.
    private static let memoryLimit = 100 << 20
    private let sort: Sort?
    /// Skip and limit together; nil is all.
    private let wanted: Int?
    private var entries: [Entry] = []
    private var heldBytes = 0

    init(sort: Sort?, wanted: Int?) {
        self.sort = sort
        self.wanted = wanted
    }

    /// - Returns: Whether more documents can change the result.
    mutating func add(_ document: BSONDocument, seen: BSONDocument, bytes: Int) throws(ServiceError) -> Bool {
        entries.append(Entry(document: document, seen: seen, bytes: bytes))
        heldBytes += bytes
        if sort == nil, let wanted { return entries.count < wanted }
        // Twice what is wanted, so that sorting is paid by as many arrivals.
        if let wanted, wanted < 1 << 30, entries.count >= max(2 * wanted, 1024) { prune(to: wanted) }
        guard heldBytes <= Self.memoryLimit else {
            throw .mongo(
                .exceededMemoryLimit,
                "Sort exceeded memory limit of \(Self.memoryLimit) bytes, but did not opt in to external sorting."
            )
        }
        return true
    }

    private mutating func prune(to count: Int) {
        order()
        entries.removeLast(max(entries.count - count, 0))
        heldBytes = entries.reduce(0) { $0 + $1.bytes }
    }

    private mutating func order() {
        guard let sort else { return }
        // Ties keep the order of arrival.
        let places = entries.indices.sorted { left, right in
            let order = sort.compare(entries[left].document, entries[right].document)
            return order != 0 ? order < 0 : left < right
        }
        entries = places.map { entries[$0] }
    }

    /// What is left after skip and limit.
    mutating func result(skip: Int, limit: Int?) -> [BSONDocument] {
        order()
        let rest = entries.dropFirst(skip)
        return (limit.map { rest.prefix($0) } ?? rest).map(\.seen)
    }
}
