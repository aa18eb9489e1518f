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

/// A text that is hashed and compared by its bytes.
struct ByteText: Hashable {
    let text: String

    static func == (left: ByteText, right: ByteText) -> Bool { TextOrder.equal(left.text, right.text) }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
