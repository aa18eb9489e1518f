import BSON
import Crypto
public import HTTPTypes
public import Services

/// What becomes of a request to open a socket for sync.
///
/// Source: `realm-sync-protocol.md` §1.
public enum SyncUpgrade: Sendable {
    /// The socket is opened: the answer's fields, and who is on it.
    case accepted(HTTPFields, SyncCaller)
    /// It is not.
    case refused(HTTPResponse.Status, String)

    /// The versions of the protocol that are spoken here.
    static let versions = 10...14
    private static let flexible = "com.mongodb.realm-query-sync"
    private static let partition = "com.mongodb.realm-sync"

    /// The protocol of a list that is answered: Flexible Sync or not, the version, the name in the list.
    static func best(of list: String) -> (isFlexible: Bool, version: Int, name: String)? {
        list.split(separator: ",").compactMap { item -> (isFlexible: Bool, version: Int, name: String)? in
            let name = item.trimmingSpaces
            guard let separator = name.lastIndex(where: { $0 == "#" || $0 == "/" }),
                let version = Int(name[name.index(after: separator)...]), versions.contains(version)
            else { return nil }
            switch name[..<separator] {
            case flexible: return (true, version, String(name))
            case partition: return (false, version, String(name))
            default: return nil
            }
        }.max { $0.version < $1.version }
    }

    /// The proof that the server has understood the request (RFC 6455 §4.2.2).
    static func accept(_ key: String) -> String {
        let text = key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        let digest = Insecure.SHA1.hash(data: Array(text.utf8))
        var answer: [UInt8] = []
        Base64.append(Array(digest), to: &answer)
        return String(decoding: answer, as: UTF8.self)
    }
}

extension Substring {
    fileprivate var trimmingSpaces: Substring {
        var text = self
        while text.first == " " { text = text.dropFirst() }
        while text.last == " " { text = text.dropLast() }
        return text
    }
}
