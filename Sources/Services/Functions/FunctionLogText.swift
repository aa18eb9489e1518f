import BSON
import Scripting

/// What the log says of a run.
enum FunctionLogText {
    /// Longer texts are cut.
    private static let longest = 4096

    /// Arguments as canonical Extended JSON, an ellipsis in place of what credentials are called.
    static func arguments(_ arguments: [BSONValue]) -> String {
        let text = ExtendedJSON.canonical(masked(.array(arguments)))
        // What is cut off is JSON no more.
        return text.utf8.count > longest ? ExtendedJSON.canonical(.string(text.cut(to: longest))) : text
    }

    /// A failure with the places where it happened.
    static func error(_ failure: ScriptFailure) -> String {
        let stack = failure.stack.map { "\n" + $0 } ?? ""
        return (failure.message + stack).cut(to: longest)
    }

    /// A value without what stands under the name of a credential.
    static func masked(_ value: BSONValue) -> BSONValue {
        switch value {
        case .document(let document):
            var result = BSONDocument()
            for field in document {
                result.append(field.key, isCredential(field.key) ? "…" : masked(field.value))
            }
            return .document(result)
        case .array(let elements): return .array(elements.map(masked))
        default: return value
        }
    }

    /// Whether a name is one of a credential, however it is spelt.
    private static func isCredential(_ name: String) -> Bool {
        guard name.utf8.count <= 40 else { return false }
        var letters: [UInt8] = []
        for byte in name.utf8 where byte != UInt8(ascii: "-") && byte != UInt8(ascii: "_") {
            letters.append((UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte + 32 : byte)
        }
        return credentials.contains(String(decoding: letters, as: UTF8.self))
    }

    private static let credentials: Set<String> = [
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
