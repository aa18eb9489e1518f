/// Reading a path from its beginning on.
extension Slice<UnsafeBufferPointer<UInt8>> {
    /// Leaves out what it begins with; false when that is something else.
    mutating func skip(_ literal: StaticString) -> Bool {
        let isThere = literal.withUTF8Buffer { starts(with: $0) }
        if isThere { self = dropFirst(literal.utf8CodeUnitCount) }
        return isThere
    }

    /// What stands before the next slash: letters, digits, `-` and `_`, at least one.
    mutating func component() -> String? {
        var end = startIndex
        while end < endIndex, self[end] != UInt8(ascii: "/") {
            switch self[end] {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                end += 1
            default: return nil
            }
        }
        guard end > startIndex else { return nil }
        defer { self = self[end...] }
        return String(decoding: self[..<end], as: UTF8.self)
    }
}
