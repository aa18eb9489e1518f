public import BSON

/// The right-hand side of a comparison: a value, or what becomes one once expansions are known.
public indirect enum RuleOperand: Sendable, Hashable {
    case literal(BSONValue)
    /// `"%%user.id"`
    case expansion(Expansion)
    /// `["%%user.id", "x"]`, where at least one element is not a literal.
    case array([RuleOperand])
    /// `{a: "%%user.id"}`, likewise.
    case document([Member])
    /// `{"%stringToOid": "%%user.id"}`
    case converted(Conversion, RuleOperand)
    /// `{"%function": {name: "isMember", arguments: ["%%root.team"]}}`
    case function(FunctionOperand)

    /// One field of a document operand.
    public struct Member: Sendable, Hashable {
        /// The field.
        public let key: String
        /// What it holds.
        public let value: RuleOperand
    }

    /// The document values in it.
    var imageReferences: [ImageReference] { expansions.compactMap(\.imageReference) }

    /// The expansions in it.
    var expansions: [Expansion] {
        switch self {
        case .literal: []
        case .expansion(let expansion): [expansion]
        case .array(let elements): elements.flatMap(\.expansions)
        case .document(let members): members.flatMap(\.value.expansions)
        case .converted(_, let operand): operand.expansions
        case .function(let function): function.arguments.flatMap(\.expansions)
        }
    }

    /// The functions that it asks.
    var functionNames: [String] {
        switch self {
        case .literal, .expansion: []
        case .array(let elements): elements.flatMap(\.functionNames)
        case .document(let members): members.flatMap(\.value.functionNames)
        case .converted(_, let operand): operand.functionNames
        case .function(let function): [function.name] + function.arguments.flatMap(\.functionNames)
        }
    }
}

/// A change of type that an expression asks for.
public enum Conversion: String, Sendable, Hashable, CaseIterable {
    case stringToOid
    case oidToString
    case stringToUuid
    case uuidToString

    /// The converted value; nil for a value that has no such form, which makes the comparison false.
    public func apply(_ value: BSONValue) -> BSONValue? {
        switch (self, value) {
        case (.stringToOid, .string(let text)):
            if text.utf8.count == 12 { return ObjectID(bytes: Array(text.utf8)).map { .objectID($0) } }
            return ObjectID(hex: text).map { .objectID($0) }
        case (.oidToString, .objectID(let id)):
            return .string(id.hex)
        case (.stringToUuid, .string(let text)):
            return Self.uuidBytes(text).map { .binary(BSONBinary(subtype: 4, bytes: $0)) }
        case (.uuidToString, .binary(let binary)) where binary.subtype == 4 && binary.bytes.count == 16:
            return .string(Self.uuidText(binary.bytes))
        default:
            return nil
        }
    }

    /// `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` → 16 bytes.
    private static func uuidBytes(_ text: String) -> [UInt8]? {
        let characters = Array(text.utf8)
        guard characters.count == 36 else { return nil }
        var bytes: [UInt8] = []
        var high: UInt8?
        for (index, character) in characters.enumerated() {
            if [8, 13, 18, 23].contains(index) {
                guard character == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard let digit = Character(UnicodeScalar(character)).hexDigitValue else { return nil }
            if let first = high {
                bytes.append(first << 4 | UInt8(digit))
                high = nil
            } else {
                high = UInt8(digit)
            }
        }
        return bytes
    }

    private static func uuidText(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var characters: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { characters.append(UInt8(ascii: "-")) }
            characters.append(digits[Int(byte >> 4)])
            characters.append(digits[Int(byte & 15)])
        }
        return String(decoding: characters, as: UTF8.self)
    }
}
