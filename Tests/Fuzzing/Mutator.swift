import TestSupport

/// Makes new inputs out of old ones: by bytes, and by the values of JSON that they are made of.
struct Mutator {
    private let isBinary: Bool
    private let dictionary: [[UInt8]]
    private let pool: [[UInt8]]

    init(seeds: [[UInt8]], isBinary: Bool) {
        self.isBinary = isBinary
        dictionary = Self.words(in: seeds) + Self.awkward
        pool = isBinary ? [] : seeds.flatMap { seed in Self.values(in: seed).map { Array(seed[$0]) } }
    }

    func mutate(_ input: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        var bytes = input
        for _ in 0...(random.oneIn(3) ? random.below(5) : 0) {
            if !isBinary, !random.oneIn(4) {
                exchangeValue(&bytes, &random)
            } else {
                changeBytes(&bytes, &random)
            }
        }
        return Array(bytes.prefix(1 << 16))
    }

    /// One value of the text gives way to another: a neighbour, one of another seed, an awkward one.
    private func exchangeValue(_ bytes: inout [UInt8], _ random: inout SeededRandom) {
        let values = Self.values(in: bytes)
        guard !values.isEmpty else { return changeBytes(&bytes, &random) }
        let place = values[random.below(values.count)]
        let replacement: [UInt8]
        switch random.below(5) {
        case 0: replacement = Array(bytes[values[random.below(values.count)]])
        case 1,
            2 where !pool.isEmpty:
            replacement = pool[random.below(pool.count)]
        case 3: replacement = dictionary[random.below(dictionary.count)]
        default:
            let old = Array(bytes[place])
            replacement =
                [
                    Array("[".utf8) + old + Array("]".utf8), Array(#"{"a":"#.utf8) + old + Array("}".utf8),
                    Array(#"{"$not":"#.utf8) + old + Array("}".utf8), old + Array(",".utf8) + old,
                ][random.below(4)]
        }
        bytes.replaceSubrange(place, with: replacement)
    }

    private func changeBytes(_ bytes: inout [UInt8], _ random: inout SeededRandom) {
        let at = random.below(bytes.count + 1)
        let end = min(bytes.count, at + 1 + random.below(8))
        switch random.below(7) {
        case 0 where at < bytes.count: bytes[at] ^= 1 << UInt8(random.below(8))
        case 1 where at < bytes.count: bytes[at] = UInt8(random.below(256))
        case 2: bytes.insert(UInt8(random.below(256)), at: at)
        case 3 where at < end: bytes.removeSubrange(at..<end)
        case 4 where at < end: bytes.insert(contentsOf: bytes[at..<end], at: at)
        case 5: bytes.insert(contentsOf: dictionary[random.below(dictionary.count)], at: at)
        default: bytes.removeSubrange(at...)
        }
    }

    /// Where values and keys of a JSON text stand; good enough for texts that are broken.
    private static func values(in bytes: [UInt8]) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var open: [Int] = []
        var index = 0
        while index < bytes.count {
            let start = index
            switch bytes[index] {
            case UInt8(ascii: "{"), UInt8(ascii: "["): open.append(index)
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if let start = open.popLast() { found.append(start..<index + 1) }
            case UInt8(ascii: "\""):
                index += 1
                while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
                    index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
                }
                if index < bytes.count { found.append(start..<index + 1) }
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
                UInt8(ascii: "a")...UInt8(ascii: "z"):
                while index + 1 < bytes.count, isScalar(bytes[index + 1]) { index += 1 }
                found.append(start..<index + 1)
            default: break
            }
            index += 1
        }
        return found
    }

    private static func isScalar(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "."), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "E"):
            true
        default: false
        }
    }

    private static func words(in seeds: [[UInt8]]) -> [[UInt8]] {
        var words: Set<[UInt8]> = []
        for seed in seeds {
            for range in values(in: seed) where range.count < 24 { words.insert(Array(seed[range])) }
        }
        return words.sorted { $0.lexicographicallyPrecedes($1) }
    }

    private static let awkward: [[UInt8]] = [
        "null", "true", "0", "-1", "1e400", "-0.0", "9223372036854775807", "9223372036854775808",
        "-2147483649",
        "1.5", "[]", "{}", "\"\"", "\"$a\"", "\"$$ROOT\"", "\"$$\"", "\"a.b.c\"", "\"a..b\"", "\".\"",
        "\"$\"",
        "\"$[]\"", "\"a.$[x].b\"", "\"\\u0000\"", "\"\\ud800\"", "\"\u{1F642}\"", "\"'; DROP TABLE x; --\"",
        "\"a\\\"b\"", #"{"$numberLong":"-9223372036854775808"}"#, #"{"$numberDouble":"NaN"}"#,
        #"{"$numberDouble":"-Infinity"}"#, #"{"$numberDecimal":"9.999999999999999999999999999999999E+6144"}"#,
        #"{"$numberDecimal":"NaN"}"#, #"{"$date":{"$numberLong":"-9223372036854775808"}}"#,
        #"{"$date":{"$numberLong":"253402300800000"}}"#, #"{"$minKey":1}"#, #"{"$maxKey":1}"#,
        #"{"$undefined":true}"#, #"{"$regularExpression":{"pattern":"(a+)+$","options":"i"}}"#,
        #"{"$timestamp":{"t":4294967295,"i":1}}"#, #"{"$symbol":"s"}"#, #"{"$code":"x","$scope":{}}"#,
        "[[[[[[[[1]]]]]]]]", #"{"a":{"a":{"a":{"a":1}}}}"#,
    ].map { Array($0.utf8) }
}
