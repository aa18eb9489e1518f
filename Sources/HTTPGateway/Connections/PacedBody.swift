import Hummingbird
import NIOCore

extension ResponseBody {
    /// A body that is written in pieces, each when the client has taken the one before.
    ///
    /// - Parameters:
    ///   - bytes: The whole of it.
    ///   - gate: Counts a large body until it is written, so that slow readers do not fill the memory.
    /// - Returns: The body; a short one as it is.
    static func paced(_ bytes: [UInt8], _ gate: RequestGate) -> ResponseBody {
        let buffer = ByteBuffer(bytes: bytes)
        guard buffer.readableBytes > RequestGate.smallBody else { return ResponseBody(byteBuffer: buffer) }
        let room = gate.hold(buffer.readableBytes)
        return ResponseBody(contentLength: buffer.readableBytes) { writer in
            var rest = buffer
            while let piece = rest.readSlice(length: min(rest.readableBytes, RequestGate.smallBody)),
                piece.readableBytes > 0
            {
                try await writer.write(piece)
            }
            try await writer.finish(nil)
            withExtendedLifetime(room) {}
        }
    }
}
