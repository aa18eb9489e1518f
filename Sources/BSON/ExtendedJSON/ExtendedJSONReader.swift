internal import Errors

/// Extended JSON text to a value, in one pass over the bytes.
struct ExtendedJSONReader {
    var scanner: JSONScanner
    let limits: ReadLimits
    private var nodes = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>, limits: ReadLimits) throws(ServiceError) {
        scanner = try JSONScanner(bytes)
        self.limits = limits
    }

    /// The whole text: one value and nothing behind it.
    mutating func readWhole() throws(ServiceError) -> BSONValue {
        scanner.skipSpace()
        let value = try readValue(depth: 0)
        scanner.skipSpace()
        guard scanner.position == scanner.count else { throw scanner.unexpected("the end") }
        return value
    }

    /// `depth` is the number of containers around the value.
    private mutating func readValue(depth: Int) throws(ServiceError) -> BSONValue {
        nodes &+= 1
        guard nodes <= limits.nodes else {
            throw scanner.fault("more than \(limits.nodes) values (limit max-values)")
        }
        switch scanner.next {
        case UInt8(ascii: "\""):
            let text = try scanner.text()
            return .string(try scanner.string(text))
        case UInt8(ascii: "{"): return try readObject(depth: depth)
        case UInt8(ascii: "["): return try readArray(depth: depth)
        case UInt8(ascii: "t"):
            try scanner.literal("true")
            return .bool(true)
        case UInt8(ascii: "f"):
            try scanner.literal("false")
            return .bool(false)
        case UInt8(ascii: "n"):
            try scanner.literal("null")
            return .null
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try readNumber()
        default: throw scanner.unexpected("a value")
        }
    }

    @inline(__always)
    private mutating func readNumber() throws(ServiceError) -> BSONValue {
        let number = try scanner.number()
        if number.isInteger, let integer = number.signedMantissa {
            if let small = Int32(exactly: integer) { return .int32(small) }
            return .int64(integer)
        }
        let double = number.double(in: scanner.base)
        guard double.isFinite else { throw JSONScanner.fault(number.start, "number out of range") }
        return .double(double)
    }

    private mutating func open(depth: Int) throws(ServiceError) {
        guard depth < limits.depth else {
            throw scanner.fault("nested more than \(limits.depth) levels deep (limit max-depth)", .overflow)
        }
        scanner.position &+= 1
        scanner.skipSpace()
    }

    private mutating func readArray(depth: Int) throws(ServiceError) -> BSONValue {
        try open(depth: depth)
        var elements: [BSONValue] = []
        if scanner.next == UInt8(ascii: "]") {
            scanner.position &+= 1
            return .array(elements)
        }
        while true {
            guard elements.count < limits.elements else {
                throw scanner.fault(
                    "an array of more than \(limits.elements) elements (limit max-array-length)"
                )
            }
            elements.append(try readValue(depth: depth + 1))
            scanner.skipSpace()
            let mark = scanner.next
            if mark == UInt8(ascii: ",") {
                scanner.position &+= 1
                scanner.skipSpace()
            } else if mark == UInt8(ascii: "]") {
                scanner.position &+= 1
                return .array(elements)
            } else {
                throw scanner.unexpected("',' or ']'")
            }
        }
    }

    private mutating func readObject(depth: Int) throws(ServiceError) -> BSONValue {
        let start = scanner.position
        try open(depth: depth)
        if scanner.next == UInt8(ascii: "}") {
            scanner.position &+= 1
            return .document(BSONDocument())
        }
        var fields: [BSONDocument.Field] = []
        fields.reserveCapacity(4)
        var keys = UniqueKeys()
        var mayBeWrapper = false
        while true {
            guard scanner.next == UInt8(ascii: "\"") else { throw scanner.unexpected("a field name") }
            let place = scanner.position
            let key = try readKey()
            guard keys.isNew(key, among: fields) else {
                throw JSONScanner.fault(place, "duplicate key '\(key)'")
            }
            if fields.isEmpty { mayBeWrapper = scanner.base[place + 1] == UInt8(ascii: "$") }
            scanner.skipSpace()
            guard scanner.next == UInt8(ascii: ":") else { throw scanner.unexpected("':'") }
            scanner.position &+= 1
            scanner.skipSpace()
            fields.append(BSONDocument.Field(key: key, value: try readValue(depth: depth + 1)))
            scanner.skipSpace()
            let mark = scanner.next
            if mark == UInt8(ascii: ",") {
                scanner.position &+= 1
                scanner.skipSpace()
            } else if mark == UInt8(ascii: "}") {
                scanner.position &+= 1
                break
            } else {
                throw scanner.unexpected("',' or '}'")
            }
        }
        if mayBeWrapper, let wrapper = ExtendedJSONWrapper(of: fields) {
            guard let value = wrapper.value(of: fields) else {
                throw JSONScanner.fault(start, "\(wrapper.rawValue) takes \(wrapper.operand)")
            }
            return value
        }
        return .document(BSONDocument(fields))
    }

    @inline(__always)
    private mutating func readKey() throws(ServiceError) -> String {
        let text = try scanner.text()
        guard text.end - text.start <= limits.keyBytes else {
            throw JSONScanner.fault(
                text.start,
                "field name longer than \(limits.keyBytes) bytes (limit max-key-bytes)"
            )
        }
        let key = try scanner.string(text)
        if text.isEscaped, key.utf8.contains(0) {
            throw JSONScanner.fault(text.start, "field name with a NUL character")
        }
        return key
    }
}
