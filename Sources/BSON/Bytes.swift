#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Bytewise comparison, as C's `memcmp`.
@inline(__always)
func compareBytes(_ left: UnsafePointer<UInt8>, _ right: UnsafePointer<UInt8>, _ count: Int) -> Int32 {
    memcmp(left, right, count)
}

/// The order and equality of text by its UTF-8 bytes, which is the order of code points.
///
/// Swift's own `==` and `<` on `String` follow canonical equivalence: they would call `é` in its two
/// spellings one key. MongoDB and PostgreSQL's collation `C` compare bytes, and so does everything here.
public enum TextOrder {
    /// -1, 0 or 1.
    public static func compare(_ left: String, _ right: String) -> Int {
        var left = left
        var right = right
        return left.withUTF8 { left in
            right.withUTF8 { right in
                compare(left, right)
            }
        }
    }

    /// Whether both are the same bytes.
    public static func equal(_ left: String, _ right: String) -> Bool {
        guard left.utf8.count == right.utf8.count else { return false }
        return compare(left, right) == 0
    }

    static func compare(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Int {
        let shared = min(left.count, right.count)
        if shared > 0, let first = left.baseAddress, let second = right.baseAddress {
            let order = compareBytes(first, second, shared)
            if order != 0 { return order < 0 ? -1 : 1 }
        }
        return left.count == right.count ? 0 : (left.count < right.count ? -1 : 1)
    }
}

/// Text of UTF-8 bytes, nil when they are not valid.
///
/// The library repairs instead of refusing, and what needed repair differs from its source; that is faster than
/// its validating initializer, which is not specialised for a buffer.
@inline(__always)
func validText(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
    let text = String(decoding: bytes, as: UTF8.self)
    if isASCII(bytes) { return text }
    return isSame(text, bytes) ? text : nil
}

@inline(never)
private func isSame(_ text: String, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    var text = text
    return text.withUTF8 { TextOrder.compare($0, bytes) == 0 }
}

@inline(__always)
private func isASCII(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let base = bytes.baseAddress else { return true }
    var index = 0
    var seen: UInt64 = 0
    while index &+ 8 <= bytes.count {
        seen |= UnsafeRawPointer(base + index).loadUnaligned(as: UInt64.self)
        index &+= 8
    }
    while index < bytes.count {
        seen |= UInt64(base[index])
        index &+= 1
    }
    return seen & 0x8080_8080_8080_8080 == 0
}

/// A text that is hashed and compared by its bytes: for every table whose keys are names from outside.
public struct ByteText: Hashable, Sendable {
    /// The text as it came.
    public let text: String

    init(text: String) {
        self.text = text
    }

    /// Takes any text.
    public init(_ text: String) {
        self.text = text
    }

    /// Whether both are the same bytes.
    public static func == (left: ByteText, right: ByteText) -> Bool { TextOrder.equal(left.text, right.text) }

    /// Feeds the bytes.
    public func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
