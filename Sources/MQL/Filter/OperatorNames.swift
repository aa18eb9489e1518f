import BSON

extension String {
    /// Whether the name is that of an operator: it starts with `$`.
    var startsWithDollar: Bool { utf8.first == UInt8(ascii: "$") }

    /// The parts between dots, split by bytes: a combining mark after a dot does not hide it.
    var pathComponents: [String] {
        utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
    }

    /// The array index that this path component denotes: plain decimal, no leading zero, at most
    /// nine digits; nil for any other name.
    var arrayIndex: Int? {
        let bytes = utf8
        guard let first = bytes.first, bytes.count <= 9 else { return nil }
        if first == UInt8(ascii: "0") { return bytes.count == 1 ? 0 : nil }
        var index = 0
        for byte in bytes {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            index = index * 10 + Int(byte - UInt8(ascii: "0"))
        }
        return index
    }
}

extension BSONDocument {
    /// Whether the document is made of operators.
    ///
    /// A database reference (`{$ref: …, $id: …}`) is data.
    var isOperatorDocument: Bool {
        guard let key = firstKey, key.startsWithDollar else { return false }
        return !["$ref", "$id", "$db"].contains(key)
    }
}
