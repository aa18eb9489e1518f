/// A whole number without sign and without bound, for what 128 bits cannot hold.
///
/// Only what decimal functions need; whoever uses it bounds the size.
struct WideInteger: Equatable {
    /// The least significant word first; the last one is never zero.
    private(set) var words: [UInt64]

    init(_ value: UInt128) {
        words = [UInt64(truncatingIfNeeded: value), UInt64(truncatingIfNeeded: value >> 64)]
        normalize()
    }

    private init(words: [UInt64]) {
        self.words = words
        normalize()
    }

    static let zero = WideInteger(0)

    var isZero: Bool { words.isEmpty }

    /// How many bits the number has; none for zero.
    var bitWidth: Int { words.last.map { words.count * 64 - $0.leadingZeroBitCount } ?? 0 }

    /// The lowest 128 bits.
    var low: UInt128 {
        UInt128(words.first ?? 0) | UInt128(words.count > 1 ? words[1] : 0) << 64
    }

    private mutating func normalize() {
        while words.last == 0 { words.removeLast() }
    }

    static func < (left: WideInteger, right: WideInteger) -> Bool {
        if left.words.count != right.words.count { return left.words.count < right.words.count }
        for (a, b) in zip(left.words.reversed(), right.words.reversed()) where a != b { return a < b }
        return false
    }

    static func + (left: WideInteger, right: WideInteger) -> WideInteger {
        let (long, short) = left.words.count < right.words.count ? (right, left) : (left, right)
        var words = long.words
        var carry: UInt64 = 0
        for index in words.indices {
            if index >= short.words.count, carry == 0 { break }
            let addend = index < short.words.count ? short.words[index] : 0
            let (first, overflow) = words[index].addingReportingOverflow(addend)
            let (second, another) = first.addingReportingOverflow(carry)
            words[index] = second
            carry = overflow || another ? 1 : 0
        }
        if carry != 0 { words.append(carry) }
        return WideInteger(words: words)
    }

    /// The difference; the caller promises that it is not negative.
    static func - (left: WideInteger, right: WideInteger) -> WideInteger {
        var words = left.words
        var borrow: UInt64 = 0
        for index in words.indices {
            if index >= right.words.count, borrow == 0 { break }
            let subtrahend = index < right.words.count ? right.words[index] : 0
            let (first, overflow) = words[index].subtractingReportingOverflow(subtrahend)
            let (second, another) = first.subtractingReportingOverflow(borrow)
            words[index] = second
            borrow = overflow || another ? 1 : 0
        }
        return WideInteger(words: words)
    }

    static func * (left: WideInteger, right: WideInteger) -> WideInteger {
        if left.isZero || right.isZero { return zero }
        var words = [UInt64](repeating: 0, count: left.words.count + right.words.count)
        for (offset, factor) in left.words.enumerated() {
            var carry: UInt64 = 0
            for (index, other) in right.words.enumerated() {
                // (2^64 - 1)^2 + 2 (2^64 - 1) is just below 2^128.
                let sum = UInt128(factor) * UInt128(other) + UInt128(words[offset + index]) + UInt128(carry)
                words[offset + index] = UInt64(truncatingIfNeeded: sum)
                carry = UInt64(truncatingIfNeeded: sum >> 64)
            }
            words[offset + right.words.count] = carry
        }
        return WideInteger(words: words)
    }

    static func << (value: WideInteger, count: Int) -> WideInteger {
        if value.isZero || count <= 0 { return value }
        let bits = UInt64(count % 64)
        var words = [UInt64](repeating: 0, count: count / 64)
        var carry: UInt64 = 0
        for word in value.words {
            words.append(word << bits | carry)
            carry = bits == 0 ? 0 : word >> (64 - bits)
        }
        words.append(carry)
        return WideInteger(words: words)
    }

    static func >> (value: WideInteger, count: Int) -> WideInteger {
        if count <= 0 { return value }
        let bits = UInt64(count % 64)
        var words = Array(value.words.dropFirst(count / 64))
        guard bits != 0 else { return WideInteger(words: words) }
        for index in words.indices {
            let above = index + 1 < words.count ? words[index + 1] << (64 - bits) : 0
            words[index] = words[index] >> bits | above
        }
        return WideInteger(words: words)
    }

    /// The quotient by one word, which is not zero.
    func divided(by divisor: UInt64) -> WideInteger {
        var words = words
        var remainder: UInt64 = 0
        for index in words.indices.reversed() {
            (words[index], remainder) = divisor.dividingFullWidth((remainder, words[index]))
        }
        return WideInteger(words: words)
    }

    /// The quotient and what is left; the divisor is not zero.
    ///
    /// Source: Knuth, The Art of Computer Programming 2, §4.3.1, algorithm D.
    func quotientAndRemainder(dividingBy divisor: WideInteger) -> (
        quotient: WideInteger, remainder: WideInteger
    ) {
        if self < divisor { return (.zero, self) }
        guard divisor.words.count > 1, let top = divisor.words.last else {
            let quotient = divided(by: divisor.words.first ?? 1)
            return (quotient, self - quotient * divisor)
        }
        let shift = top.leadingZeroBitCount
        let bottom = (divisor << shift).words
        var rest = (self << shift).words
        // One word more than the dividend has, for the first step.
        rest += Array(repeating: 0, count: Swift.max(0, words.count + 1 - rest.count))
        let size = bottom.count
        var digits = [UInt64](repeating: 0, count: rest.count - size)
        for place in digits.indices.reversed() {
            let digit = Self.digit(rest, bottom, place)
            digits[place] = Self.subtract(digit, bottom, from: &rest, at: place)
        }
        return (WideInteger(words: digits), WideInteger(words: Array(rest.prefix(size))) >> shift)
    }

    /// The estimate of one digit of a quotient; at most one too large.
    private static func digit(_ rest: [UInt64], _ bottom: [UInt64], _ place: Int) -> UInt64 {
        let size = bottom.count
        let (high, next, third) = (rest[place + size], rest[place + size - 1], rest[place + size - 2])
        let (first, second) = (bottom[size - 1], bottom[size - 2])
        var digit = UInt64.max
        var remainder: UInt64
        if high < first {
            (digit, remainder) = first.dividingFullWidth((high, next))
        } else {
            let (sum, overflow) = next.addingReportingOverflow(first)
            if overflow { return digit }
            remainder = sum
        }
        while UInt128(digit) * UInt128(second) > UInt128(remainder) << 64 | UInt128(third) {
            digit -= 1
            let (sum, overflow) = remainder.addingReportingOverflow(first)
            if overflow { break }
            remainder = sum
        }
        return digit
    }

    /// Takes a multiple of the divisor away, one less where it was one too many; gives the multiple.
    private static func subtract(
        _ digit: UInt64,
        _ bottom: [UInt64],
        from rest: inout [UInt64],
        at place: Int
    )
        -> UInt64
    {
        var borrow: UInt64 = 0
        for (index, word) in bottom.enumerated() {
            let product = UInt128(digit) * UInt128(word) + UInt128(borrow)
            let (difference, overflow) = rest[place + index].subtractingReportingOverflow(
                UInt64(truncatingIfNeeded: product)
            )
            rest[place + index] = difference
            borrow = UInt64(truncatingIfNeeded: product >> 64) + (overflow ? 1 : 0)
        }
        let (top, overflow) = rest[place + bottom.count].subtractingReportingOverflow(borrow)
        rest[place + bottom.count] = top
        guard overflow else { return digit }
        var carry: UInt64 = 0
        for (index, word) in bottom.enumerated() {
            let sum = UInt128(rest[place + index]) + UInt128(word) + UInt128(carry)
            rest[place + index] = UInt64(truncatingIfNeeded: sum)
            carry = UInt64(truncatingIfNeeded: sum >> 64)
        }
        rest[place + bottom.count] = rest[place + bottom.count] &+ carry
        return digit - 1
    }

    /// The largest whole number whose square is no larger.
    var squareRoot: WideInteger {
        if isZero { return self }
        // Newton's method from above ends where it no longer falls.
        var root = WideInteger(1) << ((bitWidth + 1) / 2)
        while true {
            let next = (root + quotientAndRemainder(dividingBy: root).quotient) >> 1
            if !(next < root) { return root }
            root = next
        }
    }

    /// 10 to a power.
    static func powerOfTen(_ exponent: Int) -> WideInteger {
        var result = WideInteger(1)
        var base = WideInteger(10)
        var rest = exponent
        while rest > 0 {
            if rest & 1 == 1 { result = result * base }
            rest >>= 1
            if rest > 0 { base = base * base }
        }
        return result
    }
}
