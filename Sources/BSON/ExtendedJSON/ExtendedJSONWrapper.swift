/// The objects of Extended JSON that stand for one value, and how each is read.
///
/// An object is a wrapper when its first key says so; then it must have the wrapper's exact form.
/// `$regex` with `$options` is never one: where it may stand it is a query operator.
/// Legacy forms are read as well: `{"$binary": "…", "$type": "00"}`, `{"$date": ms}`.
///
/// Source: MongoDB specifications, “Extended JSON (v2)”; `reference/data-api.md` §4.3.
enum ExtendedJSONWrapper: String {
    case objectID = "$oid"
    case symbol = "$symbol"
    case int32 = "$numberInt"
    case int64 = "$numberLong"
    case double = "$numberDouble"
    case decimal = "$numberDecimal"
    case binary = "$binary"
    case uuid = "$uuid"
    case code = "$code"
    case timestamp = "$timestamp"
    case regularExpression = "$regularExpression"
    case dbPointer = "$dbPointer"
    case date = "$date"
    case minKey = "$minKey"
    case maxKey = "$maxKey"
    case undefined = "$undefined"

    private static let byKey: [ByteText: ExtendedJSONWrapper] = {
        let all: [ExtendedJSONWrapper] = [
            .objectID, .symbol, .int32, .int64, .double, .decimal, .binary, .uuid, .code, .timestamp,
            .regularExpression, .dbPointer, .date, .minKey, .maxKey, .undefined,
        ]
        return Dictionary(uniqueKeysWithValues: all.map { (ByteText(text: $0.rawValue), $0) })
    }()

    /// The wrapper that a key announces.
    init?(key: String) {
        // Shorter and longer names are operators and data.
        guard (4...18).contains(key.utf8.count), let wrapper = Self.byKey[ByteText(text: key)] else {
            return nil
        }
        self = wrapper
    }

    /// The wrapper that an object of these fields claims to be; nil for an ordinary document.
    init?(of fields: [BSONDocument.Field]) {
        guard let first = fields.first else { return nil }
        if let wrapper = Self(key: first.key) {
            self = wrapper
        } else if fields.count == 2, let second = Self(key: fields[1].key) {
            // Of the two-field forms either field may come first.
            switch (first.key, second) {
            case ("$scope", .code), ("$type", .binary): self = second
            default: return nil
            }
        } else {
            return nil
        }
    }

    /// What the wrapper takes, for messages.
    var operand: String {
        switch self {
        case .objectID: "24 hexadecimal digits"
        case .symbol: "a string"
        case .int32: "a string with a 32-bit integer"
        case .int64: "a string with a 64-bit integer"
        case .double: "a string with a number in range, NaN, Infinity or -Infinity"
        case .decimal: "a string with a decimal number of at most 34 digits"
        case .binary: "base64 text and a subType of two hexadecimal digits"
        case .uuid: "a string in the form of a UUID"
        case .code: "a string, and beside it at most a $scope document"
        case .timestamp: "t and i, both from 0 to 4294967295"
        case .regularExpression: "pattern and options, strings without NUL"
        case .dbPointer: "$ref, a string, and $id, an ObjectId"
        case .date: "an ISO 8601 date or milliseconds"
        case .minKey, .maxKey: "1"
        case .undefined: "true"
        }
    }

    /// The value, or nil when the object has not the wrapper's form.
    func value(of fields: [BSONDocument.Field]) -> BSONValue? {
        if fields.count == 2 { return pair(of: fields) }
        guard fields.count == 1 else { return nil }
        let operand = fields[0].value
        switch self {
        case .objectID: return operand.string.flatMap { ObjectID(hex: $0) }.map { .objectID($0) }
        case .symbol: return operand.string.map { .symbol($0) }
        case .int32:
            return operand.string.flatMap(Self.integer).flatMap { Int32(exactly: $0) }.map { .int32($0) }
        case .int64: return operand.string.flatMap(Self.integer).map { .int64($0) }
        case .double: return operand.string.flatMap(Self.double).map { .double($0) }
        case .decimal: return operand.string.flatMap { Decimal128(exactly: $0) }.map { .decimal128($0) }
        case .binary: return binary(operand)
        case .uuid:
            return operand.string.flatMap(UUIDText.parse).map { .binary(BSONBinary(subtype: 4, bytes: $0)) }
        case .code: return operand.string.map { .code($0) }
        case .timestamp: return timestamp(operand)
        case .regularExpression: return regularExpression(operand)
        case .dbPointer: return dbPointer(operand)
        case .date: return date(operand)
        case .minKey: return operand.exactInt64 == 1 ? .minKey : nil
        case .maxKey: return operand.exactInt64 == 1 ? .maxKey : nil
        case .undefined: return operand.bool == true ? .undefined : nil
        }
    }

    private func pair(of fields: [BSONDocument.Field]) -> BSONValue? {
        let document = BSONDocument(fields)
        switch self {
        case .code:
            guard let code = document["$code"]?.string, let scope = document["$scope"]?.document else {
                return nil
            }
            return .codeWithScope(BSONCodeWithScope(code: code, scope: scope))
        case .binary:
            guard let text = document["$binary"]?.string, let type = document["$type"]?.string,
                let subtype = Self.subtype(type), let bytes = Base64.decode(text)
            else { return nil }
            return .binary(BSONBinary(subtype: subtype, bytes: bytes))
        default: return nil
        }
    }

    private func binary(_ operand: BSONValue) -> BSONValue? {
        guard let document = operand.document, document.count == 2, let text = document["base64"]?.string,
            let type = document["subType"]?.string, let subtype = Self.subtype(type),
            let bytes = Base64.decode(text)
        else { return nil }
        return .binary(BSONBinary(subtype: subtype, bytes: bytes))
    }

    private func timestamp(_ operand: BSONValue) -> BSONValue? {
        guard let document = operand.document, document.count == 2,
            let seconds = document["t"]?.exactInt64.flatMap({ UInt32(exactly: $0) }),
            let increment = document["i"]?.exactInt64.flatMap({ UInt32(exactly: $0) })
        else { return nil }
        return .timestamp(BSONTimestamp(seconds: seconds, increment: increment))
    }

    private func regularExpression(_ operand: BSONValue) -> BSONValue? {
        guard let document = operand.document, document.count == 2, let pattern = document["pattern"]?.string,
            let options = document["options"]?.string, !pattern.utf8.contains(0), !options.utf8.contains(0)
        else { return nil }
        return .regex(BSONRegularExpression(pattern: pattern, options: options))
    }

    private func dbPointer(_ operand: BSONValue) -> BSONValue? {
        guard let document = operand.document, document.count == 2, let namespace = document["$ref"]?.string,
            case .objectID(let id) = document["$id"]
        else { return nil }
        return .dbPointer(BSONDBPointer(namespace: namespace, id: id))
    }

    private func date(_ operand: BSONValue) -> BSONValue? {
        switch operand {
        case .string(let text): ISODate.parse(text).map { .date($0) }
        case .int32(let milliseconds): .date(Int64(milliseconds))
        case .int64(let milliseconds): .date(milliseconds)
        default: nil
        }
    }

    /// One or two hexadecimal digits.
    private static func subtype(_ text: String) -> UInt8? {
        guard (1...2).contains(text.utf8.count) else { return nil }
        var value: UInt8 = 0
        for character in text.utf8 {
            guard let digit = hexadecimalDigit(character) else { return nil }
            value = value << 4 | digit
        }
        return value
    }

    /// A sign and digits, nothing else; nil out of 64 bits.
    static func integer(_ text: String) -> Int64? {
        guard let first = text.utf8.first, first != UInt8(ascii: "+") else { return nil }
        return Int64(text)
    }

    /// A JSON number, or one of the three names; nil when it overflows.
    static func double(_ text: String) -> Double? {
        switch text {
        case "NaN": return .nan
        case "Infinity": return .infinity
        case "-Infinity": return -.infinity
        default:
            // `Double` also reads hexadecimal and names of its own.
            let isNumber = text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
                    UInt8(ascii: "+"), UInt8(ascii: "e"), UInt8(ascii: "E"):
                    true
                default: false
                }
            }
            guard isNumber, let value = Double(text), value.isFinite else { return nil }
            return value
        }
    }
}
