internal import Errors

/// jsonb text to values, the fields of each document in the order of its shape.
struct StoredReader {
    private static let depthLimit = 400
    var scanner: JSONScanner
    /// The places of the fields of all documents that are open.
    private var places: [Int32] = []

    init(_ scanner: JSONScanner) {
        self.scanner = scanner
    }

    init(_ bytes: UnsafeBufferPointer<UInt8>) throws(ServiceError) {
        scanner = try JSONScanner(bytes)
    }

    /// The whole text as a document, which is never taken for a wrapper.
    mutating func readDocument(shape: DocumentShape?) throws(ServiceError) -> BSONDocument {
        scanner.skipSpace()
        guard scanner.next == UInt8(ascii: "{") else { throw scanner.unexpected("an object") }
        var document = BSONDocument(try readFields(shape: shape, depth: 0, isRoot: true, isRaw: false))
        if document.count == 1, let first = document.fields.first, first.key == StoredWrapper.escapeKey,
            case .document(let inner) = first.value
        {
            document = inner
        }
        try expectEnd()
        return document
    }

    mutating func readWholeValue(shape: DocumentShape?) throws(ServiceError) -> BSONValue {
        scanner.skipSpace()
        let value = try readValue(shape: shape, depth: 0)
        try expectEnd()
        return value
    }

    private mutating func expectEnd() throws(ServiceError) {
        scanner.skipSpace()
        guard scanner.position == scanner.count else { throw scanner.unexpected("the end") }
    }

    mutating func readValue(shape: DocumentShape?, depth: Int) throws(ServiceError) -> BSONValue {
        switch scanner.next {
        case UInt8(ascii: "\""):
            let text = try scanner.text()
            return .string(try scanner.string(text))
        case UInt8(ascii: "{"):
            let isDollar = scanner.isDollarObject
            let fields = try readFields(shape: shape, depth: depth, isRoot: false, isRaw: false)
            if isDollar, let value = StoredWrapper.value(of: fields) { return value }
            return .document(BSONDocument(fields))
        case UInt8(ascii: "["): return try readArray(shape: shape, depth: depth)
        case UInt8(ascii: "t"):
            try scanner.literal("true")
            return .bool(true)
        case UInt8(ascii: "f"):
            try scanner.literal("false")
            return .bool(false)
        case UInt8(ascii: "n"):
            try scanner.literal("null")
            return .null
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            return Self.value(of: try scanner.number(), in: scanner.base)
        default: throw scanner.unexpected("a value")
        }
    }

    /// The type of a number, by its display scale.
    static func value(of number: JSONNumber, in base: UnsafePointer<UInt8>) -> BSONValue {
        if number.isInteger {
            guard let integer = number.signedMantissa else { return .double(number.double(in: base)) }
            return Int32(exactly: integer).map { .int32($0) } ?? .int64(integer)
        }
        if isLong(number, in: base), let integer = long(number, in: base) { return .int64(integer) }
        return .double(number.double(in: base))
    }

    /// Whether exactly three zeros follow the point.
    @inline(__always)
    static func isLong(_ number: JSONNumber, in base: UnsafePointer<UInt8>) -> Bool {
        number.fractionDigits == 3 && !number.hasExponent && base[number.end - 1] == UInt8(ascii: "0")
            && base[number.end - 2] == UInt8(ascii: "0") && base[number.end - 3] == UInt8(ascii: "0")
    }

    private static func long(_ number: JSONNumber, in base: UnsafePointer<UInt8>) -> Int64? {
        if number.digits <= 19, let scaled = number.signedMantissa { return scaled / 1000 }
        let whole = UnsafeBufferPointer(start: base + number.start, count: number.end - number.start - 4)
        return Int64(String(decoding: whole, as: UTF8.self))
    }

    private mutating func readArray(shape: DocumentShape?, depth: Int) throws(ServiceError) -> BSONValue {
        try open(depth: depth)
        var elements: [BSONValue] = []
        if scanner.next == UInt8(ascii: "]") {
            scanner.position &+= 1
            return .array(elements)
        }
        while true {
            elements.append(try readValue(shape: shape?.element(elements.count), depth: depth + 1))
            if try scanner.isLast(before: UInt8(ascii: "]")) { return .array(elements) }
        }
    }

    private mutating func open(depth: Int) throws(ServiceError) {
        guard depth < Self.depthLimit else { throw scanner.fault("nested too deep") }
        scanner.position &+= 1
        scanner.skipSpace()
    }

    /// The fields of the object here; raw ones are the content of an escape, where `$document` is a key as any.
    private mutating func readFields(
        shape: DocumentShape?,
        depth: Int,
        isRoot: Bool,
        isRaw: Bool
    ) throws(ServiceError) -> [BSONDocument.Field] {
        try open(depth: depth)
        var fields: [BSONDocument.Field] = []
        if scanner.next == UInt8(ascii: "}") {
            scanner.position &+= 1
            return fields
        }
        fields.reserveCapacity(6)
        let firstPlace = places.count
        var highest: Int32 = 0
        var hint = 0
        var isSorted = true
        while true {
            guard scanner.next == UInt8(ascii: "\"") else { throw scanner.unexpected("a field name") }
            let text = try scanner.text()
            let place = StoredOrder.place(
                of: scanner.base + text.start,
                count: text.end - text.start,
                shape: shape,
                isRoot: isRoot,
                hint: &hint
            )
            let key = try scanner.string(text)
            scanner.skipSpace()
            guard scanner.next == UInt8(ascii: ":") else { throw scanner.unexpected("':'") }
            scanner.position &+= 1
            scanner.skipSpace()
            let child = StoredOrder.child(of: shape, place: place)
            let value: BSONValue
            if !isRaw, fields.isEmpty, scanner.next == UInt8(ascii: "{"), key == StoredWrapper.escapeKey {
                value = .document(
                    BSONDocument(try readFields(shape: child, depth: depth + 1, isRoot: isRoot, isRaw: true))
                )
            } else {
                value = try readValue(shape: child, depth: depth + 1)
            }
            fields.append(BSONDocument.Field(key: key, value: value))
            if place < highest { isSorted = false } else { highest = place }
            places.append(place)
            if try scanner.isLast(before: UInt8(ascii: "}")) { break }
        }
        if !isSorted { sort(&fields, from: firstPlace) }
        places.removeLast(places.count - firstPlace)
        return fields
    }

    /// Puts fields in the order of their places, which lie from an index on; unknown keys keep jsonb's order.
    private mutating func sort(_ fields: inout [BSONDocument.Field], from first: Int) {
        if fields.count > 24 {
            let order = fields.indices.sorted { left, right in
                let (before, after) = (places[first + left], places[first + right])
                return before == after ? left < right : before < after
            }
            fields = order.map { fields[$0] }
            return
        }
        for index in 1..<fields.count {
            var target = index
            while target > 0, places[first + target - 1] > places[first + target] {
                places.swapAt(first + target - 1, first + target)
                fields.swapAt(target - 1, target)
                target -= 1
            }
        }
    }
}

/// Where a field goes.
enum StoredOrder {
    /// The place of a key; keys that the shape does not know share the last one.
    @inline(__always)
    static func place(
        of key: UnsafePointer<UInt8>,
        count: Int,
        shape: DocumentShape?,
        isRoot: Bool,
        hint: inout Int
    ) -> Int32 {
        guard let shape else {
            let isID =
                isRoot && count == 3 && key[0] == UInt8(ascii: "_") && key[1] == UInt8(ascii: "i")
                && key[2] == UInt8(ascii: "d")
            return isID ? 0 : 1
        }
        let place = shape.table.place(of: key, count: count, hint: &hint)
        return Int32(truncatingIfNeeded: place < 0 ? shape.keys.count : place)
    }

    /// The shape of a field's value.
    @inline(__always)
    static func child(of shape: DocumentShape?, place: Int32) -> DocumentShape? {
        guard let shape, Int(place) < shape.children.count else { return nil }
        return shape.children[Int(place)]
    }
}
