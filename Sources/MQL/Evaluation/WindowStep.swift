import BSON
import Errors

/// A document that waits for its partition to be whole.
struct WindowEntry {
    let partition: BSONValue
    let key: SortKey?
    let arrival: Int
    let document: BSONDocument
}

/// `$setWindowFields`: partitions, one after the other in their order, each sorted.
final class WindowStep: CollectingStep<WindowArguments, WindowEntry> {
    override func accept(_ document: BSONDocument) throws(ServiceError) -> Bool {
        try memory.add(document)
        var partition = BSONValue.null
        if let expression = arguments.partition {
            partition = context.keyed(try expression.evaluate(document, context) ?? .null)
            if case .array = partition {
                throw .mongo(
                    .typeMismatch,
                    "An expression used to partition cannot evaluate to value of type array"
                )
            }
        }
        entries.append(
            WindowEntry(
                partition: partition,
                key: arguments.sort.map { SortKey(of: document, by: $0) },
                arrival: entries.count,
                document: document
            )
        )
        return true
    }

    override func finish() throws(ServiceError) {
        if arguments.partition != nil || arguments.sort != nil { entries.sort(by: precedes) }
        var start = 0
        while start < entries.count {
            var end = start + 1
            while end < entries.count,
                BSONOrdering.equal(entries[end].partition, entries[start].partition)
            {
                end += 1
            }
            guard try handOn(entries[start..<end]) else { break }
            start = end
        }
        entries = []
        try super.finish()
    }

    private func precedes(_ first: WindowEntry, _ second: WindowEntry) -> Bool {
        let order = BSONOrdering.compare(first.partition, second.partition)
        if order != 0 { return order < 0 }
        if let sort = arguments.sort, let left = first.key, let right = second.key {
            let order = left.compare(right, by: sort)
            if order != 0 { return order < 0 }
        }
        return first.arrival < second.arrival
    }

    /// Computes the fields of one partition, and hands its documents on.
    private func handOn(_ entries: ArraySlice<WindowEntry>) throws(ServiceError) -> Bool {
        var partition = WindowPartition(
            documents: entries.map(\.document),
            keys: entries.compactMap(\.key),
            sort: arguments.sort,
            context: context,
            memory: memory
        )
        var columns: [[BSONValue]] = []
        for output in arguments.outputs {
            columns.append(try partition.values(of: output.function, over: output.frame))
        }
        for (place, entry) in entries.enumerated() {
            var document = entry.document
            for (output, column) in zip(arguments.outputs, columns) {
                document = DocumentEdit.set(output.path.components[...], in: document, to: column[place])
            }
            try ValueSize.checkDepth(document)
            guard try super.accept(document) else { return false }
        }
        return true
    }
}
