import BSON

/// Cuts a stream of bytes into documents with their line numbers.
///
/// One document stands on a line, or the stream is one JSON array; what a document says is not looked at.
/// Feed ``append(_:)`` as bytes arrive and take pieces from ``next()`` until it answers nil; after the last bytes,
/// ``finish()`` and take again.
struct DocumentSplitter {
    /// One document's bytes, or why nothing more can be cut.
    enum Piece: Equatable {
        case document([UInt8], line: Int)
        case broken(line: Int, reason: String)
    }

    /// No document of 16 MiB is longer than this as text.
    static let longestDocument = 64 << 20

    private enum Form {
        case unknown
        case lines
        /// Between elements; whether an element must follow, a comma, or either.
        case array(expects: Expectation)
        case ended
    }

    private enum Expectation {
        case elementOrEnd
        case element
        case commaOrEnd
    }

    private var bytes: [UInt8] = []
    /// Where the next piece is looked for.
    private var position = 0
    /// How far the current piece was scanned already.
    private var scanned = 0
    private var depth = 0
    private var strings = JSONStringTracker()
    private var line = 1
    private var form = Form.unknown
    private var isFinished = false
    private var isBroken = false

    mutating func append(_ more: [UInt8]) {
        if position > 1 << 20, position > bytes.count / 2 {
            bytes.removeFirst(position)
            scanned -= position
            position = 0
        }
        bytes += more
    }

    /// No more bytes will come.
    mutating func finish() {
        isFinished = true
    }

    /// The next piece; nil when more bytes are needed, or after ``finish()`` when there are none.
    mutating func next() -> Piece? {
        if isBroken { return nil }
        if case .unknown = form {
            let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
            if bytes.count < 3, !isFinished { return nil }
            if bytes.starts(with: mark) { position = 3 }
            skipSpace()
            guard position < bytes.count else { return nil }
            if bytes[position] == UInt8(ascii: "[") {
                form = .array(expects: .elementOrEnd)
                position += 1
            } else {
                form = .lines
            }
            scanned = position
        }
        switch form {
        case .unknown: return nil
        case .lines: return nextLine()
        case .array(let expects): return nextElement(expects)
        case .ended:
            skipSpace()
            guard position < bytes.count else { return nil }
            return broken(line, "something follows the array")
        }
    }

    private mutating func skipSpace() {
        while position < bytes.count, bytes[position] <= UInt8(ascii: " ") {
            if bytes[position] == UInt8(ascii: "\n") { line += 1 }
            position += 1
        }
    }

    private mutating func broken(_ line: Int, _ reason: String) -> Piece {
        isBroken = true
        return .broken(line: line, reason: reason)
    }

    private mutating func nextLine() -> Piece? {
        while true {
            scanned = max(scanned, position)
            var end = scanned
            while end < bytes.count, bytes[end] != UInt8(ascii: "\n") { end += 1 }
            scanned = end
            if end - position > Self.longestDocument {
                return broken(line, "the line is too long for a document")
            }
            guard end < bytes.count || isFinished else { return nil }
            guard position < bytes.count else { return nil }
            let content = bytes[position..<end]
            let number = line
            position = min(end + 1, bytes.count)
            line += 1
            if content.contains(where: { $0 > UInt8(ascii: " ") }) {
                return .document(Array(content), line: number)
            }
        }
    }

    private mutating func nextElement(_ expects: Expectation) -> Piece? {
        var expects = expects
        while depth == 0 {
            skipSpace()
            guard position < bytes.count else {
                return isFinished ? broken(line, "the array does not end") : nil
            }
            switch (bytes[position], expects) {
            case (UInt8(ascii: "]"), .elementOrEnd), (UInt8(ascii: "]"), .commaOrEnd):
                position += 1
                form = .ended
                return next()
            case (UInt8(ascii: ","), .commaOrEnd):
                position += 1
                expects = .element
                form = .array(expects: .element)
            case (UInt8(ascii: "{"), .element), (UInt8(ascii: "{"), .elementOrEnd):
                depth = 1
                scanned = position + 1
            default:
                return broken(line, "expected a document")
            }
        }
        while scanned < bytes.count, depth > 0 {
            scan(bytes[scanned])
            scanned += 1
        }
        if scanned - position > Self.longestDocument {
            return broken(line, "the element is too long for a document")
        }
        guard depth == 0 else { return isFinished ? broken(line, "the document does not end") : nil }
        let content = Array(bytes[position..<scanned])
        let number = line
        position = scanned
        for byte in content where byte == UInt8(ascii: "\n") { line += 1 }
        form = .array(expects: .commaOrEnd)
        return .document(content, line: number)
    }

    private mutating func scan(_ byte: UInt8) {
        if strings.isInside(byte) { return }
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
        default: break
        }
    }
}
