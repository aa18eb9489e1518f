import BSON
import Errors

/// `$sort`, with a bound where a `$limit` follows.
final class SortStep: PipelineStep {
    private let sort: Sort
    private let bound: Int?
    private var top: TopDocuments?
    private var documents: [BSONDocument] = []
    private var memory: MemoryBound

    init(_ next: PipelineStep, _ sort: Sort, bound: Int?, _ memory: MemoryBound) {
        self.sort = sort
        self.bound = bound
        self.memory = memory
        top = bound.map { TopDocuments(sort: sort, limit: $0) }
        super.init(next)
    }

    override func accept(_ document: BSONDocument) throws(ServiceError) -> Bool {
        let size = ValueSize.of(document, limit: memory.limit)
        if top != nil {
            top?.insert(document)
            if memory.overflows(with: size) {
                // Most of what was counted has been let go; count what is still there.
                memory.reset()
                for kept in top?.documents ?? [] { try memory.add(kept) }
            } else {
                try memory.add(size)
            }
        } else {
            try memory.add(size)
            documents.append(document)
        }
        return true
    }

    override func finish() throws(ServiceError) {
        for document in top?.documents ?? sort.sorted(documents) {
            guard try super.accept(document) else { break }
        }
        documents = []
        try super.finish()
    }
}

/// `$sample`: each document has the same chance (reservoir sampling).
final class SampleStep: PipelineStep {
    private let count: Int
    private let random: RandomSource
    private var seen = 0
    private var kept: [BSONDocument] = []
    private var memory: MemoryBound

    init(_ next: PipelineStep, _ count: Int, _ random: RandomSource, _ memory: MemoryBound) {
        self.count = count
        self.random = random
        self.memory = memory
        super.init(next)
    }

    override func accept(_ document: BSONDocument) throws(ServiceError) -> Bool {
        seen += 1
        if kept.count < count {
            try memory.add(document)
            kept.append(document)
        } else {
            let place = random.next(below: seen)
            if place < count { kept[place] = document }
        }
        return true
    }

    override func finish() throws(ServiceError) {
        for index in kept.indices.reversed() { kept.swapAt(index, random.next(below: index + 1)) }
        for document in kept {
            guard try super.accept(document) else { break }
        }
        try super.finish()
    }
}
