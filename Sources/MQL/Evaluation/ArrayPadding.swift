import BSON
import Errors

/// Fills arrays with null up to an index past their end, within bounds.
struct ArrayPadding {
    /// The most nulls of one update.
    ///
    /// A document of 16 MiB does not hold many more.
    static let maximum = 1_500_000

    /// What a path component means to an array.
    enum Place: Hashable {
        case index(Int)
        /// A number larger than any array is long.
        case beyondAll
        /// No index.
        case none
    }

    private var used = 0

    /// Appends nulls until the array has `count` elements.
    ///
    /// - Throws: ``ServiceError`` with server code 2 when the update has asked for too many.
    mutating func fill(_ elements: inout [BSONValue], upTo count: Int) throws(ServiceError) {
        let missing = count - elements.count
        guard missing > 0 else { return }
        if missing > Self.maximum - used { throw Self.tooMany }
        used += missing
        elements.append(contentsOf: repeatElement(.null, count: missing))
    }

    static var tooMany: ServiceError {
        .mongo(.badValue, "can't backfill more than \(maximum) nulls")
    }

    /// Reads a path component as an index.
    static func index(_ name: String) -> Place {
        if let index = name.arrayIndex { return .index(index) }
        let isNumber =
            name.utf8.count > 9 && name.utf8.first != UInt8(ascii: "0")
            && name.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return isNumber ? .beyondAll : .none
    }
}
