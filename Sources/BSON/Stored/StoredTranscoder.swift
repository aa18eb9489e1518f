internal import Errors

/// jsonb text to response text in one pass, without a value in between.
///
/// Each field is written where it comes; when the shape wants another order the pieces of that document are
/// rearranged once it is complete. Scalars are copied as bytes wherever their notation is the same; the rare
/// types are read and written as values.
struct StoredTranscoder: ~Copyable {
    private static let depthLimit = 400
    private var scanner: JSONScanner
    private let isCanonical: Bool
    private var sink: ByteSink
    /// The fields of the documents that are open, each with the comma behind it.
    private var pieces: [Piece] = []

    private struct Piece {
        var place: Int32
        var start: Int
        var end: Int
    }

    init(_ scanner: JSONScanner, form: StoredForm.OutputForm) {
        self.scanner = scanner
        isCanonical = form == .canonical
        sink = ByteSink(capacity: scanner.count * (form == .canonical ? 2 : 1) + 64)
        pieces.reserveCapacity(16)
    }

    mutating func transcodeDocument(shape: DocumentShape?, into out: inout [UInt8]) throws(ServiceError) {
        scanner.skipSpace()
        guard scanner.next == UInt8(ascii: "{") else { throw scanner.unexpected("an object") }
        if scanner.isDollarObject {
            // Only an escaped document begins so; never a row of ours, which has an `_id`.
            var reader = StoredReader(scanner)
            let document = try reader.readDocument(shape: shape)
            append(.document(document))
        } else {
            try object(shape: shape, depth: 0, isRoot: true)
            scanner.skipSpace()
            guard scanner.position == scanner.count else { throw scanner.unexpected("the end") }
        }
        out.append(contentsOf: UnsafeBufferPointer(start: sink.base, count: sink.count))
    }

    private mutating func value(shape: DocumentShape?, depth: Int) throws(ServiceError) {
        switch scanner.next {
        case UInt8(ascii: "\""): try string()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
        case UInt8(ascii: "{"):
            if scanner.isDollarObject {
                try wrapper(shape: shape, depth: depth)
            } else {
                try object(shape: shape, depth: depth, isRoot: false)
            }
        case UInt8(ascii: "["): try array(shape: shape, depth: depth)
        case UInt8(ascii: "t"):
            try scanner.literal("true")
            sink.reserve(4)
            sink.put("true")
        case UInt8(ascii: "f"):
            try scanner.literal("false")
            sink.reserve(5)
            sink.put("false")
        case UInt8(ascii: "n"):
            try scanner.literal("null")
            sink.reserve(4)
            sink.put("null")
        default: throw scanner.unexpected("a value")
        }
    }

    /// Copies a string with its quotes.
    ///
    /// Escapes are written anew, in case the text is not PostgreSQL's.
    @inline(__always)
    private mutating func string() throws(ServiceError) {
        let text = try scanner.text()
        if text.isEscaped {
            var quoted: [UInt8] = []
            try scanner.unescapedBytes(text).withUnsafeBufferPointer { JSONText.append($0, to: &quoted) }
            sink.append(quoted)
            return
        }
        let length = text.end &- text.start &+ 2
        sink.reserve(length)
        sink.put(scanner.base + (text.start &- 1), length)
    }

    private mutating func number() throws(ServiceError) {
        let number = try scanner.number()
        let start = scanner.base + number.start
        let length = number.end &- number.start
        if number.isInteger, let integer = number.signedMantissa, integer != 0 || !number.isNegative {
            sink.reserve(length &+ 24)
            if isCanonical {
                if integer >= Int64(Int32.min), integer <= Int64(Int32.max) {
                    sink.put("{\"$numberInt\":\"")
                } else {
                    sink.put("{\"$numberLong\":\"")
                }
            }
            sink.put(start, length)
            if isCanonical { sink.put("\"}") }
            return
        }
        if number.digits <= 15, !number.hasExponent, number.fractionDigits > 0 {
            if StoredReader.isLong(number, in: scanner.base) {
                sink.reserve(length &+ 24)
                if isCanonical { sink.put("{\"$numberLong\":\"") }
                sink.put(start, length &- 4)
                if isCanonical { sink.put("\"}") }
                return
            }
            if isShortest(number) {
                sink.reserve(length &+ 24)
                if isCanonical {
                    sink.put("{\"$numberDouble\":\"")
                    sink.put(start, length)
                    sink.put("\"}")
                } else {
                    let isWhole = number.fractionDigits == 1 && start[length &- 1] == UInt8(ascii: "0")
                    sink.put(start, isWhole ? length &- 2 : length)
                }
                return
            }
        }
        append(StoredReader.value(of: number, in: scanner.base))
    }

    /// Whether the digits are what a double of this value prints as.
    ///
    /// Up to 15 digits name a double each, so they are the shortest, unless zeros trail; and from 0.001 up
    /// to 10^15 both notations are positional.
    private func isShortest(_ number: JSONNumber) -> Bool {
        guard number.mantissa != 0 else { return false }
        if number.fractionDigits > 1, scanner.base[number.end - 1] == UInt8(ascii: "0") { return false }
        return number.fractionDigits < number.digits + 3
    }

    private mutating func array(shape: DocumentShape?, depth: Int) throws(ServiceError) {
        try open(UInt8(ascii: "["), depth: depth)
        if scanner.next == UInt8(ascii: "]") {
            scanner.position &+= 1
            return sink.put(UInt8(ascii: "]"))
        }
        var index = 0
        while true {
            try value(shape: shape?.element(index), depth: depth + 1)
            index += 1
            let isLast = try scanner.isLast(before: UInt8(ascii: "]"))
            sink.reserve(1)
            sink.put(UInt8(ascii: isLast ? "]" : ","))
            if isLast { return }
        }
    }

    private mutating func open(_ mark: UInt8, depth: Int) throws(ServiceError) {
        guard depth < Self.depthLimit else { throw scanner.fault("nested too deep") }
        sink.reserve(2)
        sink.put(mark)
        scanner.position &+= 1
        scanner.skipSpace()
    }

    private mutating func object(shape: DocumentShape?, depth: Int, isRoot: Bool) throws(ServiceError) {
        try open(UInt8(ascii: "{"), depth: depth)
        if scanner.next == UInt8(ascii: "}") {
            scanner.position &+= 1
            return sink.put(UInt8(ascii: "}"))
        }
        let firstPiece = pieces.count
        var hint = 0
        var highest: Int32 = 0
        var isSorted = true
        while true {
            guard scanner.next == UInt8(ascii: "\"") else { throw scanner.unexpected("a field name") }
            let start = sink.count
            let nameStart = scanner.position &+ 1
            try string()
            let key = scanner.base + nameStart
            let place = StoredOrder.place(
                of: key,
                count: scanner.position &- 1 &- nameStart,
                shape: shape,
                isRoot: isRoot,
                hint: &hint
            )
            scanner.skipSpace()
            guard scanner.next == UInt8(ascii: ":") else { throw scanner.unexpected("':'") }
            scanner.position &+= 1
            scanner.skipSpace()
            sink.reserve(1)
            sink.put(UInt8(ascii: ":"))
            try value(shape: StoredOrder.child(of: shape, place: place), depth: depth + 1)
            sink.reserve(1)
            sink.put(UInt8(ascii: ","))
            if place < highest { isSorted = false } else { highest = place }
            pieces.append(Piece(place: place, start: start, end: sink.count))
            if try scanner.isLast(before: UInt8(ascii: "}")) { break }
        }
        if !isSorted { rearrange(from: firstPiece) }
        pieces.removeLast(pieces.count - firstPiece)
        // The comma behind the last field becomes the closing brace.
        sink.base[sink.count - 1] = UInt8(ascii: "}")
    }

    /// Puts the pieces from an index on, which lie at the end of the sink, in the order of their places.
    private mutating func rearrange(from first: Int) {
        let start = pieces[first].start
        let length = sink.count - start
        sortPieces(from: first)
        sink.reserve(length)
        let region = sink.base + start
        let copy = sink.base + sink.count
        copy.update(from: region, count: length)
        var target = region
        for index in first..<pieces.count {
            let piece = pieces[index]
            target.update(from: copy + (piece.start - start), count: piece.end - piece.start)
            target += piece.end - piece.start
        }
    }

    private mutating func sortPieces(from first: Int) {
        if pieces.count - first > 24 {
            pieces[first...].sort { $0.place == $1.place ? $0.start < $1.start : $0.place < $1.place }
            return
        }
        // Few and nearly sorted: insertion is stable and fast.
        for index in (first + 1)..<pieces.count {
            let piece = pieces[index]
            var target = index
            while target > first, pieces[target - 1].place > piece.place {
                pieces[target] = pieces[target - 1]
                target -= 1
            }
            pieces[target] = piece
        }
    }

    private mutating func wrapper(shape: DocumentShape?, depth: Int) throws(ServiceError) {
        if try objectID() { return }
        var reader = StoredReader(scanner)
        let value = try reader.readValue(shape: shape, depth: depth)
        scanner.position = reader.scanner.position
        if case .date(let milliseconds) = value { return appendDate(milliseconds) }
        append(value)
    }

    /// Copies `{"$oid": "…"}` when it has PostgreSQL's spacing and 24 lower-case digits.
    private mutating func objectID() throws(ServiceError) -> Bool {
        let head: StaticString = "{\"$oid\": \""
        let start = scanner.position
        guard scanner.count - start >= 36, compareBytes(scanner.base + start, head.utf8Start, 10) == 0,
            scanner.base[start + 34] == UInt8(ascii: "\""), scanner.base[start + 35] == UInt8(ascii: "}")
        else { return false }
        for index in start + 10..<start + 34 {
            let byte = scanner.base[index]
            guard byte &- UInt8(ascii: "0") <= 9 || byte &- UInt8(ascii: "a") <= 5 else { return false }
        }
        sink.reserve(35)
        if isCanonical { sink.put("{\"$oid\":") }
        sink.put(scanner.base + start + 9, 26)
        if isCanonical { sink.put(UInt8(ascii: "}")) }
        scanner.position = start + 36
        return true
    }

    private mutating func appendDate(_ milliseconds: Int64) {
        var text: [UInt8] = []
        text.reserveCapacity(48)
        if isCanonical {
            ExtendedJSON.writeCanonical(.date(milliseconds), to: &text)
        } else {
            PlainJSON.write(.date(milliseconds), to: &text)
        }
        sink.append(text)
    }

    private mutating func append(_ value: BSONValue) {
        var text: [UInt8] = []
        if isCanonical {
            ExtendedJSON.writeCanonical(value, to: &text)
        } else {
            PlainJSON.write(value, to: &text)
        }
        sink.append(text)
    }
}
