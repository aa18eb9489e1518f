public import BSON

extension Sort {
    /// -1, 0 or 1: the order of two documents.
    public func compare(_ first: BSONDocument, _ second: BSONDocument) -> Int {
        SortKey(of: first, by: self).compare(SortKey(of: second, by: self), by: self)
    }

    /// The documents in order; with a limit, the first so many of them.
    ///
    /// Equal documents keep the order in which they came.
    public func sorted(_ documents: [BSONDocument], limit: Int? = nil) -> [BSONDocument] {
        let bound = Swift.max(limit ?? documents.count, 0)
        if bound == 0 { return [] }
        if keys.isEmpty { return Array(documents.prefix(bound)) }
        if documents.count < 2 { return documents }
        var collector = TopDocuments(sort: self, limit: bound, expected: documents.count)
        for document in documents { collector.insert(document) }
        return collector.documents
    }
}

/// Keeps the first documents of an order while they stream by, in memory for twice the limit.
public struct TopDocuments: Sendable {
    private struct Entry: Sendable {
        let key: SortKey
        let arrival: Int
        let document: BSONDocument
    }

    private let sort: Sort
    private let limit: Int
    private var entries: [Entry] = []
    private var arrivals = 0
    /// The last entry that can still be among the first, once the limit has been passed.
    private var threshold: Entry?

    /// - Parameters:
    ///   - sort: The order.
    ///   - limit: How many documents to keep, at least 1.
    ///   - expected: How many documents will come, as far as is known.
    public init(sort: Sort, limit: Int, expected: Int = 0) {
        self.sort = sort
        self.limit = Swift.max(limit, 1)
        entries.reserveCapacity(Swift.min(expected, self.limit))
    }

    /// Takes one more document.
    public mutating func insert(_ document: BSONDocument) {
        let entry = Entry(key: SortKey(of: document, by: sort), arrival: arrivals, document: document)
        arrivals += 1
        if let threshold, !Self.precedes(entry, threshold, sort) { return }
        entries.append(entry)
        // Sorting only when twice the limit has gathered costs a logarithm per document.
        if entries.count / 2 >= limit { shrink() }
    }

    /// The kept documents, in order.
    public var documents: [BSONDocument] {
        let sort = sort
        let sorted = entries.sorted { Self.precedes($0, $1, sort) }
        return sorted.prefix(limit).map { $0.document }
    }

    private mutating func shrink() {
        let sort = sort
        entries.sort { Self.precedes($0, $1, sort) }
        entries.removeSubrange(limit...)
        threshold = entries.last
    }

    private static func precedes(_ first: Entry, _ second: Entry, _ sort: Sort) -> Bool {
        let order = first.key.compare(second.key, by: sort)
        return order == 0 ? first.arrival < second.arrival : order < 0
    }
}
