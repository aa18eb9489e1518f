import Crypto
import Foundation

/// A server's wish for digest authentication.
///
/// Source: RFC 7616.
struct DigestChallenge {
    private let parameters: [String: String]
    private let usesSHA256: Bool

    /// Chooses among the challenges of a response; nil when none can be answered.
    init?(_ headers: [String]) {
        for header in headers {
            guard header.lowercased().hasPrefix("digest ") else { continue }
            let parameters = Self.parameters(header.dropFirst("digest ".count))
            let algorithm = parameters["algorithm"]?.uppercased() ?? "MD5"
            let qualities = parameters["qop"]?.split(separator: ",").map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            guard ["MD5", "SHA-256"].contains(algorithm), qualities?.contains("auth") ?? true,
                parameters["realm"] != nil, parameters["nonce"] != nil
            else { continue }
            self.parameters = parameters
            usesSHA256 = algorithm == "SHA-256"
            return
        }
        return nil
    }

    /// The value of `Authorization`.
    func answer(username: String, password: String, method: String, uri: String) -> String {
        let realm = parameters["realm"] ?? ""
        let nonce = parameters["nonce"] ?? ""
        let client = hex(SystemRandomNumberGenerator.bytes(16))
        let secret = digest("\(username):\(realm):\(password)")
        let request = digest("\(method):\(uri)")
        var fields = [
            "username=\(quoted(username))", "realm=\(quoted(realm))", "nonce=\(quoted(nonce))",
            "uri=\(quoted(uri))", "algorithm=\(usesSHA256 ? "SHA-256" : "MD5")",
        ]
        if parameters["qop"] == nil {
            fields.append("response=\(quoted(digest("\(secret):\(nonce):\(request)")))")
        } else {
            let proof = digest("\(secret):\(nonce):00000001:\(client):auth:\(request)")
            fields += ["qop=auth", "nc=00000001", "cnonce=\(quoted(client))", "response=\(quoted(proof))"]
        }
        if let opaque = parameters["opaque"] { fields.append("opaque=\(quoted(opaque))") }
        return "Digest " + fields.joined(separator: ", ")
    }

    private func digest(_ text: String) -> String {
        let bytes = Array(text.utf8)
        return usesSHA256 ? hex(SHA256.hash(data: bytes)) : hex(Insecure.MD5.hash(data: bytes))
    }

    private func hex(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    private func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    /// `realm="a, b", nonce=c` by name in lower case.
    private static func parameters(_ text: Substring) -> [String: String] {
        var found: [String: String] = [:]
        var rest = text
        while let equals = rest.firstIndex(of: "=") {
            let name = rest[..<equals].trimmingCharacters(in: CharacterSet(charactersIn: " ,\t")).lowercased()
            rest = rest[rest.index(after: equals)...].drop { $0 == " " }
            var value = ""
            if rest.first == "\"" {
                rest.removeFirst()
                while let character = rest.popFirst(), character != "\"" {
                    value.append(character == "\\" ? rest.popFirst() ?? "\\" : character)
                }
            } else {
                value = rest.prefix { $0 != "," }.trimmingCharacters(in: .whitespaces)
                rest = rest.drop { $0 != "," }
            }
            if !name.isEmpty { found[name] = value }
        }
        return found
    }
}

extension SystemRandomNumberGenerator {
    fileprivate static func bytes(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }
}
