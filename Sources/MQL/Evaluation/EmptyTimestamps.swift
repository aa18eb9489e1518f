public import BSON
import Synchronization

/// `Timestamp(0, 0)`, which asks the server for the time where a document is inserted or replaces another.
public enum EmptyTimestamps {
    /// The last one given: no two are the same.
    private static let last = Mutex<(seconds: UInt32, increment: UInt32)>((0, 0))

    /// The document with the time in its empty timestamps; only those of the top level count, and never `_id`.
    ///
    /// - Parameters:
    ///   - document: What a caller sent.
    ///   - now: Milliseconds since 1970.
    /// - Returns: The same fields in the same order.
    public static func filled(_ document: BSONDocument, now: Int64) -> BSONDocument {
        let isEmpty: (BSONDocument.Field) -> Bool = { field in
            guard case .timestamp(let stamp) = field.value else { return false }
            return stamp.seconds == 0 && stamp.increment == 0 && field.key != "_id"
        }
        guard document.fields.contains(where: isEmpty) else { return document }
        return BSONDocument(
            document.fields.map { field in
                isEmpty(field) ? BSONDocument.Field(key: field.key, value: .timestamp(next(now))) : field
            }
        )
    }

    private static func next(_ now: Int64) -> BSONTimestamp {
        let seconds = UInt32(clamping: now / 1000)
        return last.withLock { last in
            last = seconds > last.seconds ? (seconds, 1) : (last.seconds, last.increment + 1)
            return BSONTimestamp(seconds: last.seconds, increment: last.increment)
        }
    }
}
