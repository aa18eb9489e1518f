import CLibpq
import Errors
import SQL

extension SQLValue {
    /// The type's object id, as `pg_type.oid` has it; 0 for a null of unknown type.
    var objectID: Oid {
        switch self {
        case .null: 0
        case .text: 25
        case .bool: 16
        case .int: 20
        case .int4: 23
        case .double: 701
        case .numeric: 1700
        case .textArray: 1009
        case .int4Array: 1007
        case .intArray: 1016
        case .jsonb: 3802
        case .jsonbArray: 3807
        case .jsonpath: 4072
        case .bytes: 17
        case .timestamp: 1184
        }
    }

    /// Whether the value is sent in the type's binary form.
    var travelsBinary: Bool {
        switch self {
        case .null, .numeric: false
        default: true
        }
    }

    /// Appends the value in its wire form; answers whether it is NULL instead.
    ///
    /// Source: the `…recv` functions of PostgreSQL (`array_recv`, `jsonb_recv`, `jsonpath_recv`,
    /// `timestamptz_recv`).
    func write(to out: inout [UInt8]) throws(ServiceError) -> Bool {
        switch self {
        case .null: return true
        case .text(let text): out.append(contentsOf: text.utf8)
        case .bool(let flag): out.append(flag ? 1 : 0)
        case .int(let number): out.appendBigEndian(number)
        case .int4(let number): out.appendBigEndian(number)
        case .double(let number): out.appendBigEndian(number.bitPattern)
        case .numeric(let digits):
            guard !digits.utf8.contains(0) else {
                throw ServiceError(.invalidParameter, "a number holds characters that are no digits")
            }
            out.append(contentsOf: digits.utf8)
        case .textArray(let texts):
            out.appendArrayHeader(count: texts.count, element: 25)
            for text in texts {
                out.appendBigEndian(try Self.length(text.utf8.count))
                out.append(contentsOf: text.utf8)
            }
        case .int4Array(let numbers):
            out.appendArrayHeader(count: numbers.count, element: 23)
            for number in numbers {
                out.appendBigEndian(4 as Int32)
                out.appendBigEndian(number)
            }
        case .intArray(let numbers):
            out.appendArrayHeader(count: numbers.count, element: 20)
            for number in numbers {
                out.appendBigEndian(8 as Int32)
                out.appendBigEndian(number)
            }
        case .jsonb(let json):
            out.append(1)
            out.append(contentsOf: json)
        case .jsonbArray(let elements):
            out.appendArrayHeader(count: elements.count, element: 3802)
            for json in elements {
                out.appendBigEndian(try Self.length(json.count &+ 1))
                out.append(1)
                out.append(contentsOf: json)
            }
        case .jsonpath(let path):
            out.append(1)
            out.append(contentsOf: path.utf8)
        case .bytes(let bytes): out.append(contentsOf: bytes)
        case .timestamp(let milliseconds): out.appendBigEndian(try Self.timestamp(milliseconds))
        }
        return false
    }

    /// Microseconds since 2000-01-01, within what `timestamptz` holds (4713 BC to 294276 AD).
    private static func timestamp(_ milliseconds: Int64) throws(ServiceError) -> Int64 {
        let (shifted, tooEarly) = milliseconds.subtractingReportingOverflow(946_684_800_000)
        let (micros, tooFar) = shifted.multipliedReportingOverflow(by: 1000)
        guard !tooEarly, !tooFar, (-211_813_488_000_000_000..<9_223_371_331_200_000_000).contains(micros)
        else {
            throw ServiceError(.invalidParameter, "a date is out of the range that can be stored")
        }
        return micros
    }

    private static func length(_ count: Int) throws(ServiceError) -> Int32 {
        guard let length = Int32(exactly: count) else {
            throw ServiceError(.invalidParameter, "a value is too large")
        }
        return length
    }
}

extension [UInt8] {
    fileprivate mutating func appendBigEndian(_ value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }

    /// Dimensions, null flag, element type, then size and lower bound of the one dimension; an empty array
    /// has no dimension.
    fileprivate mutating func appendArrayHeader(count: Int, element: Int32) {
        appendBigEndian(count == 0 ? 0 : 1 as Int32)
        appendBigEndian(0 as Int32)
        appendBigEndian(element)
        guard count > 0 else { return }
        appendBigEndian(Int32(truncatingIfNeeded: count))
        appendBigEndian(1 as Int32)
    }
}
