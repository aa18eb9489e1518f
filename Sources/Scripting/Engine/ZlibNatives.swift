internal import CZlib

/// Compression, for `require("zlib")`.
enum ZlibNatives {
    /// More is refused, so that a small text cannot become all of the memory before anybody looks.
    private static let outputLimit = 256 << 20

    static var table: [(String, NativeFunction.Body)] {
        [
            (
                "deflate",
                { (call) throws(NativeFault) in
                    let level = Int32(max(-1, min(9, try call.number(2))))
                    let window = Int32(try call.number(1))
                    let bytes = try call.bytes(0)
                    return call.make(
                        try run(bytes, { czlib_deflate_begin($0, level, window) }, deflate, deflateEnd)
                    )
                }
            ),
            (
                "inflate",
                { (call) throws(NativeFault) in
                    let window = Int32(try call.number(1))
                    let bytes = try call.bytes(0)
                    return call.make(try run(bytes, { czlib_inflate_begin($0, window) }, inflate, inflateEnd))
                }
            ),
            (
                "crc32",
                { (call) throws(NativeFault) in
                    let bytes = try call.bytes(0)
                    return call.make(Double(crc32(0, bytes, UInt32(bytes.count))))
                }
            ),
        ]
    }

    private static func run(
        _ input: [UInt8],
        _ begin: (UnsafeMutablePointer<z_stream>) -> Int32,
        _ step: (UnsafeMutablePointer<z_stream>, Int32) -> Int32,
        _ end: (UnsafeMutablePointer<z_stream>) -> Int32
    ) throws(NativeFault) -> [UInt8] {
        var stream = z_stream()
        guard begin(&stream) == Z_OK else { throw NativeFault("the compression cannot be set up") }
        defer { _ = end(&stream) }
        var input = input
        var output: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        var status = Z_OK
        input.withUnsafeMutableBufferPointer { input in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(input.count)
            while status == Z_OK, output.count <= outputLimit {
                piece.withUnsafeMutableBufferPointer { piece in
                    stream.next_out = piece.baseAddress
                    stream.avail_out = UInt32(piece.count)
                    status = step(&stream, Z_FINISH)
                    output += piece[0..<(piece.count - Int(stream.avail_out))]
                }
                // With room left and no end, the input is cut short.
                if status == Z_BUF_ERROR, stream.avail_out == 0 { status = Z_OK }
            }
        }
        switch status {
        case Z_STREAM_END: return output
        case Z_OK: throw NativeFault("the output is larger than \(outputLimit >> 20) MB")
        case Z_BUF_ERROR: throw NativeFault("unexpected end of file")
        default: throw NativeFault(stream.msg.map { String(cString: $0) } ?? "the data is invalid")
        }
    }
}
