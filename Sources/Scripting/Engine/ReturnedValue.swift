internal import BSON

extension BSONValue {
    /// What a function returns this as that returns it unchanged.
    ///
    /// The engine has numbers of one type, and no type for some of ours. Nil where only the engine itself can tell:
    /// patterns, dates that it cannot hold, objects whose keys it sorts.
    ///
    /// The same as ``ScriptJSONWriter``, `revive` of `bson.js` and `wire.js` make of it.
    var asReturned: BSONValue? { returned(depth: 0) }

    /// Past this depth the engine is asked: it refuses what is nested too deeply.
    private static let depthLimit = 150
    /// The latest and the earliest date of the engine, in milliseconds.
    private static let dates: ClosedRange<Int64> = -8_640_000_000_000_000...8_640_000_000_000_000

    private func returned(depth: Int) -> BSONValue? {
        switch self {
        case .string, .bool, .null, .undefined, .int32, .int64, .objectID, .binary, .timestamp, .code,
            .minKey,
            .maxKey:
            return self
        case .symbol(let text): return .string(text)
        case .dbPointer(let pointer): return .objectID(pointer.id)
        case .codeWithScope(let code): return .code(code.code)
        case .double(let number): return Self.number(number)
        case .decimal128(let number): return Decimal128(number.description).map { .decimal128($0) }
        case .date(let time): return Self.dates.contains(time) ? self : nil
        case .regex: return nil
        case .array(let elements):
            guard depth < Self.depthLimit else { return nil }
            var returned: [BSONValue] = []
            returned.reserveCapacity(elements.count)
            for element in elements {
                guard let element = element.returned(depth: depth + 1) else { return nil }
                returned.append(element)
            }
            return .array(returned)
        case .document(let document):
            guard depth < Self.depthLimit else { return nil }
            var returned = BSONDocument()
            for field in document.fields {
                guard Self.keepsItsPlace(field.key), let value = field.value.returned(depth: depth + 1) else {
                    return nil
                }
                returned.append(field.key, value)
            }
            return .document(returned)
        }
    }

    /// A number of the engine's, as it is written: an integer wherever it is one.
    static func number(_ number: Double) -> BSONValue {
        if number == 0 { return number.sign == .minus ? .double(number) : .int32(0) }
        if let small = Int32(exactly: number) { return .int32(small) }
        guard let whole = Int64(exactly: number), abs(whole) < 1 << 53 else { return .double(number) }
        return .int64(whole)
    }

    /// Whether the engine lists a key where it was put: numbers come first there, and one name is none.
    static func keepsItsPlace(_ key: String) -> Bool {
        guard let first = key.utf8.first else { return true }
        return !(first >= UInt8(ascii: "0") && first <= UInt8(ascii: "9")) && key != "__proto__"
    }
}
