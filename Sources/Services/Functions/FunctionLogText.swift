import BSON
import Scripting

/// What the log says of a run.
enum FunctionLogText {
    /// Longer texts are cut.
    private static let longest = 4096

    /// Arguments as canonical Extended JSON, an ellipsis in place of what credentials are called.
    static func arguments(_ arguments: [BSONValue]) -> String {
        let value = BSONValue.array(arguments)
        var room = longest
        let text = ExtendedJSON.canonical(isFit(value, &room) ? value : fitted(value))
        // What is cut off is JSON no more.
        return text.utf8.count > longest ? ExtendedJSON.canonical(.string(text.cut(to: longest))) : text
    }

    /// A failure with the places where it happened.
    static func error(_ failure: ScriptFailure) -> String {
        let stack = failure.stack.map { "\n" + $0 } ?? ""
        return (failure.message + stack).cut(to: longest)
    }

    /// Whether a value can be shown as it is: no name in it is one of a credential, and the room is enough.
    private static func isFit(_ value: BSONValue, _ room: inout Int) -> Bool {
        room -= 1
        switch value {
        case .document(let document):
            for field in document.fields {
                room -= field.key.utf8.count
                guard room >= 0, !isCredential(field.key), isFit(field.value, &room) else { return false }
            }
        case .array(let elements):
            for element in elements { guard isFit(element, &room) else { return false } }
        case .string(let text): room -= text.utf8.count
        case .binary(let binary): room -= binary.bytes.count
        default: break
        }
        return room >= 0
    }

    private static func fitted(_ value: BSONValue) -> BSONValue {
        var room = longest
        return fitted(value, &room)
    }

    /// A value without what stands under the name of a credential, and without what comes after the longest text.
    private static func fitted(_ value: BSONValue, _ room: inout Int) -> BSONValue {
        room -= 1
        switch value {
        case .document(let document):
            var result = BSONDocument()
            for field in document.fields {
                guard room >= 0 else { break }
                room -= field.key.utf8.count
                result.append(field.key, isCredential(field.key) ? "…" : fitted(field.value, &room))
            }
            return .document(result)
        case .array(let elements):
            var result: [BSONValue] = []
            for element in elements {
                guard room >= 0 else { break }
                result.append(fitted(element, &room))
            }
            return .array(result)
        case .string(let text):
            room -= text.utf8.count
            return room < 0 ? .string(text.cut(to: longest)) : value
        case .binary(let binary):
            room -= binary.bytes.count
            guard room < 0 else { return value }
            return .binary(BSONBinary(subtype: binary.subtype, bytes: Array(binary.bytes.prefix(longest))))
        default: return value
        }
    }

    /// Whether a name is one of a credential, however it is spelt.
    private static func isCredential(_ name: String) -> Bool {
        guard name.utf8.count <= 40, let first = name.utf8.first, !isInnocent(first) else { return false }
        return credentials.contains { credential in
            var letters = credential.utf8.makeIterator()
            for byte in name.utf8 where byte != UInt8(ascii: "-") && byte != UInt8(ascii: "_") {
                let letter = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte + 32 : byte
                guard letters.next() == letter else { return false }
            }
            return letters.next() == nil
        }
    }

    /// Whether no credential begins with that byte: most names are told by it.
    private static func isInnocent(_ byte: UInt8) -> Bool {
        switch byte | 0x20 {
        case UInt8(ascii: "a"), UInt8(ascii: "c"), UInt8(ascii: "e"), UInt8(ascii: "j"), UInt8(ascii: "p"),
            UInt8(ascii: "r"), UInt8(ascii: "s"), UInt8(ascii: "t"), UInt8(ascii: "x"):
            false
        default: byte != UInt8(ascii: "-") && byte != UInt8(ascii: "_")
        }
    }

    private static let credentials = [
        "apikey", "authorization", "cookie", "email", "jwttokenstring", "password", "secret", "token",
        "accesstoken", "refreshtoken", "endpointsignature", "xhooksignature",
    ]
}

extension String {
    /// The text, or as many of its bytes and an ellipsis.
    fileprivate func cut(to bytes: Int) -> String {
        guard utf8.count > bytes else { return self }
        return String(decoding: utf8.prefix(bytes), as: UTF8.self) + "…"
    }
}
