import BSON
import Errors
import NIOCore
import Services

/// Server-sent events as the SDKs' parsers read them.
///
/// Shape: `data: {"_id":…}` and an empty line. In data `%` is written `%25`: parsers turn `%25`, `%0A` and `%0D` back
/// before they read JSON. Line feeds and carriage returns do not occur, since JSON escapes them.
///
/// Source: client-api.md §10.2.
enum EventStreamWriter {
    /// A line that parsers skip: a sign of life.
    static let comment = ByteBuffer(string: ":\n\n")

    static func buffer(_ output: Watch.Output) -> ByteBuffer {
        switch output {
        case .heartbeat: return comment
        case .event(let event): return data(event, prefix: "data: ")
        case .failure(let error):
            return data(
                ["error_code": .string(error.code.rawValue), "error": .string(error.message)],
                prefix: "event: error\ndata: "
            )
        }
    }

    private static func data(_ document: BSONDocument, prefix: String) -> ByteBuffer {
        var text: [UInt8] = []
        ExtendedJSON.writeCanonical(.document(document), to: &text)
        var bytes = Array(prefix.utf8)
        bytes.reserveCapacity(bytes.count + text.count + 2)
        for byte in text {
            bytes.append(byte)
            if byte == UInt8(ascii: "%") { bytes.append(contentsOf: "25".utf8) }
        }
        bytes.append(contentsOf: "\n\n".utf8)
        return ByteBuffer(bytes: bytes)
    }
}
