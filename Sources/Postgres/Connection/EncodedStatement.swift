import CLibpq
import Errors
import SQL

/// A statement as libpq takes it: text, types, and every value in one buffer.
///
/// Shape: `SELECT … WHERE _id = $1` with `.text("a")` becomes the text, the type 25, and one byte at offset 0.
/// Values travel in binary form, which needs no quoting, no terminating NUL and no parsing of digits;
/// `numeric` and nulls of unknown type travel as text.
struct EncodedStatement: Sendable {
    /// Where a value lies in ``bytes``; a negative length is NULL.
    struct Value: Sendable {
        var offset: Int32
        var length: Int32
        var isBinary: Bool
    }

    /// Text and parameter types: what a prepared statement is known by.
    let key: StatementKey
    private(set) var values: [Value] = []
    private(set) var bytes: [UInt8] = []

    /// Encodes a statement.
    ///
    /// - Throws: `invalidParameter` for a value outside PostgreSQL's range, or more than a gigabyte of values.
    init(_ fragment: SQLFragment) throws(ServiceError) {
        let binds = fragment.binds
        guard binds.count <= Int(UInt16.max) else {
            throw ServiceError(.invalidParameter, "the operation has too many values for one statement")
        }
        key = StatementKey(template: fragment.template, types: binds.map(\.objectID))
        values.reserveCapacity(binds.count)
        for bind in binds {
            let start = bytes.count
            let isNull = try bind.write(to: &bytes)
            guard bytes.count < 1 << 30 else {
                throw ServiceError(
                    .invalidParameter,
                    "the operation's values are too large for one statement"
                )
            }
            values.append(
                Value(
                    offset: Int32(start),
                    length: isNull ? -1 : Int32(bytes.count - start),
                    isBinary: bind.travelsBinary
                )
            )
            if !bind.travelsBinary { bytes.append(0) }
        }
    }

    /// Lends the values in the arrays that libpq asks for; the pointers die with the call.
    func withParameters<Answer>(
        _ body: (
            _ count: Int32, _ values: UnsafePointer<UnsafePointer<CChar>?>, _ lengths: UnsafePointer<Int32>,
            _ formats: UnsafePointer<Int32>
        ) -> Answer
    ) -> Answer {
        let count = values.count
        return bytes.withUnsafeBufferPointer { buffer in
            withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: count + 1) { pointers in
                withUnsafeTemporaryAllocation(of: Int32.self, capacity: 2 * count + 1) { numbers in
                    // An empty value must not be a null pointer, which libpq sends as NULL.
                    let base = UnsafeRawPointer(buffer.baseAddress) ?? UnsafeRawPointer(numbers.baseAddress)
                    for (index, value) in values.enumerated() {
                        pointers[index] =
                            value.length < 0
                            ? nil : base?.advanced(by: Int(value.offset)).assumingMemoryBound(to: CChar.self)
                        numbers[index] = max(value.length, 0)
                        numbers[count + index] = value.isBinary ? 1 : 0
                    }
                    guard let pointerBase = pointers.baseAddress, let numberBase = numbers.baseAddress else {
                        preconditionFailure("an allocation of at least one element has an address")
                    }
                    return body(
                        Int32(count),
                        UnsafePointer(pointerBase),
                        UnsafePointer(numberBase),
                        UnsafePointer(numberBase + count)
                    )
                }
            }
        }
    }
}

/// What tells two prepared statements apart.
struct StatementKey: Hashable, Sendable {
    /// The text with NUL for each placeholder.
    let template: [UInt8]
    /// One object id for each placeholder; 0 lets the server infer the type.
    let types: [Oid]

    /// The text as the server reads it: made for preparing and for the log only.
    var text: String { SQLFragment.text(of: template) }

    func hash(into hasher: inout Hasher) {
        template.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}
