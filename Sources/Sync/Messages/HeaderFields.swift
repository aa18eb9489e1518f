/// Takes a message apart: a line of fields, each after one space, and what follows the line.
///
/// Source: `realm-sync-protocol.md` §2.
struct HeaderFields {
    /// What the longest header that a device sends stays far below.
    static let lineLimit = 256

    private let message: [UInt8]
    private var offset: Int
    private let lineEnd: Int

    /// Finds the end of the line.
    init(_ message: [UInt8]) throws(SyncFault) {
        guard let end = message.prefix(Self.lineLimit).firstIndex(of: UInt8(ascii: "\n")) else {
            throw SyncFault(.badSyntax, "Bad syntax in input message head: there is no end of it")
        }
        self.message = message
        lineEnd = end
        offset = 0
    }

    /// The name of the message.
    mutating func name() -> String {
        let end = message[..<lineEnd].firstIndex(of: UInt8(ascii: " ")) ?? lineEnd
        defer { offset = end }
        return String(decoding: message[..<end], as: UTF8.self)
    }

    private mutating func digits() throws(SyncFault) -> Substring.UTF8View {
        guard offset < lineEnd, message[offset] == UInt8(ascii: " ") else {
            throw syntax("a field is missing")
        }
        let start = offset + 1
        let end = message[start..<lineEnd].firstIndex(of: UInt8(ascii: " ")) ?? lineEnd
        guard end > start, end - start <= 20 else { throw syntax("a field is no number") }
        offset = end
        return Substring(decoding: message[start..<end], as: UTF8.self).utf8
    }

    /// A number that may be negative, in decimal.
    mutating func signed() throws(SyncFault) -> Int64 {
        guard let number = Int64(Substring(try digits())) else { throw syntax("a field is no number") }
        return number
    }

    /// A number from 0.
    mutating func count() throws(SyncFault) -> Int64 {
        let number = try signed()
        guard number >= 0 else { throw syntax("a field is negative") }
        return number
    }

    /// `0` or `1`.
    mutating func flag() throws(SyncFault) -> Bool {
        switch try signed() {
        case 0: return false
        case 1: return true
        default: throw syntax("a field is neither 0 nor 1")
        }
    }

    /// A session's number, from 1.
    mutating func session() throws(SyncFault) -> SessionIdent {
        let number = try signed()
        guard number > 0 else { throw syntax("a session's number is below 1") }
        return SessionIdent(number)
    }

    /// The bodies of the given sizes; they and the line must be the whole message.
    func bodies(_ sizes: Int64...) throws(SyncFault) -> [ArraySlice<UInt8>] {
        guard offset == lineEnd else { throw syntax("there are more fields than the message has") }
        var bodies: [ArraySlice<UInt8>] = []
        var start = lineEnd + 1
        for size in sizes {
            guard size <= message.count - start else { throw syntax("the body is shorter than its size") }
            bodies.append(message[start..<(start + Int(size))])
            start += Int(size)
        }
        guard start == message.count else { throw syntax("the body is longer than its size") }
        return bodies
    }

    func syntax(_ detail: String) -> SyncFault {
        SyncFault(.badSyntax, "Bad syntax in input message head: \(detail)")
    }
}

/// The number that a device gives a session; it means something within one connection.
public struct SessionIdent: Sendable, Hashable {
    /// From 1; 0 is the connection.
    public let number: Int64

    /// Takes the number as it came.
    public init(_ number: Int64) {
        self.number = number
    }
}
