internal import CZlib

/// Undoes the compression of archives.
enum Inflation {
    /// What stands around the compressed bytes.
    enum Wrapping: Int32 {
        /// A header and a checksum, as of gzip.
        case gzip = 31
        /// Nothing, as within zip.
        case none = -15
    }

    /// The bytes that were compressed.
    ///
    /// - Throws: ``ArchiveFault`` for damaged bytes, and past the most that may come out.
    static func bytes(
        _ input: ArraySlice<UInt8>,
        _ wrapping: Wrapping,
        most: Int
    ) throws(ArchiveFault) -> [UInt8] {
        var stream = z_stream()
        guard czlib_inflate_begin(&stream, wrapping.rawValue) == Z_OK else {
            throw ArchiveFault("the archive cannot be unpacked")
        }
        defer { _ = inflateEnd(&stream) }
        var input = Array(input)
        var output: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        var status = Z_OK
        input.withUnsafeMutableBufferPointer { input in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(clamping: input.count)
            while status == Z_OK, output.count <= most {
                let made = piece.withUnsafeMutableBufferPointer { piece in
                    stream.next_out = piece.baseAddress
                    stream.avail_out = UInt32(piece.count)
                    status = inflate(&stream, Z_NO_FLUSH)
                    return piece.count - Int(stream.avail_out)
                }
                output += piece[0..<made]
                if made == 0, stream.avail_in == 0, status == Z_OK { status = Z_BUF_ERROR }
            }
        }
        guard output.count <= most else {
            throw ArchiveFault("the archive unpacks to more than \(most >> 20) MB")
        }
        guard status == Z_STREAM_END else { throw ArchiveFault("the archive is damaged or cut short") }
        return output
    }
}
