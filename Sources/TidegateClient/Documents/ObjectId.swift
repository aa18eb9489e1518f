import Foundation
import Synchronization

/// MongoDB's usual `_id`: 12 bytes, the first four of which tell when it was made.
public struct ObjectId: Sendable, Hashable, CustomStringConvertible {
    /// 24 lowercase hexadecimal digits.
    public let stringValue: String

    /// The digits.
    public var description: String { stringValue }

    /// A new one, which no other process makes.
    public init() {
        let counter = Self.counter.withLock { counter in
            counter = (counter &+ 1) & 0xFF_FFFF
            return counter
        }
        let seconds = UInt32(truncatingIfNeeded: Int64(Date().timeIntervalSince1970))
        stringValue = Self.hex(UInt64(seconds), 8) + Self.hex(Self.process, 10) + Self.hex(UInt64(counter), 6)
    }

    /// Of 24 hexadecimal digits.
    ///
    /// - Throws: ``TidegateError`` of the kind `invalidDocument`.
    public init(string: String) throws {
        let isHex = string.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                UInt8(ascii: "A")...UInt8(ascii: "F"):
                true
            default: false
            }
        }
        guard string.utf8.count == 24, isHex else {
            throw TidegateError(.invalidDocument, "an ObjectId has 24 hexadecimal digits: \(string)")
        }
        stringValue = string.lowercased()
    }

    private static let process = UInt64.random(in: 0..<(1 << 40))
    private static let counter = Mutex(UInt32.random(in: 0..<(1 << 24)))

    private static func hex(_ value: UInt64, _ digits: Int) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: digits - text.count) + text
    }
}
