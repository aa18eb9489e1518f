internal import BSON
internal import Errors

/// Bytes on the socket between gateway and worker: one BSON document after another.
enum WorkerFrame {
    /// Longer ones are refused by both sides: results of 18 MB, their wrapping, and what JSON makes of
    /// binaries.
    static let bytesLimit = 64 << 20

    private static let limits = ReadLimits(depth: 200, nodes: 16_000_000, documentBytes: bytesLimit)

    static func encode(_ document: BSONDocument) throws(ServiceError) -> [UInt8] {
        try BSONBinaryFormat.write(document, bytesLimit: bytesLimit)
    }

    static func decode(_ bytes: [UInt8]) throws(ServiceError) -> BSONDocument {
        try BSONBinaryFormat.read(bytes, limits: limits)
    }
}

/// Collects bytes and gives out whole frames.
struct FrameBuffer {
    private var bytes: [UInt8] = []
    private var start = 0

    /// The length of a frame that cannot be.
    struct BadLength: Error {}

    mutating func append(_ more: UnsafeRawBufferPointer) {
        if start > 0, start == bytes.count {
            bytes.removeAll(keepingCapacity: bytes.capacity <= 1 << 20)
            start = 0
        }
        bytes.append(contentsOf: more)
    }

    /// The next frame, if all of it is here.
    mutating func next() throws(BadLength) -> [UInt8]? {
        let count = bytes.count - start
        guard count >= 4 else { return nil }
        var length = 0
        for index in 0..<4 { length |= Int(bytes[start + index]) << (8 * index) }
        guard length >= 5, length <= WorkerFrame.bytesLimit else { throw BadLength() }
        guard count >= length else {
            if start > 0 {
                bytes.removeFirst(start)
                start = 0
            }
            return nil
        }
        defer { start += length }
        return Array(bytes[start..<start + length])
    }
}
