internal import CZlib

/// zlib's format (RFC 1950), as bodies are packed in it.
package enum Deflation {
    /// Unpacks what must become exactly so many bytes.
    ///
    /// - Parameters:
    ///   - packed: The bytes as they came.
    ///   - size: What the header promises; nothing beyond it is ever unpacked.
    /// - Returns: The bytes.
    /// - Throws: ``SyncFault`` with `badDecompression`.
    package static func inflate(_ packed: ArraySlice<UInt8>, size: Int) throws(SyncFault) -> [UInt8] {
        let fault = SyncFault(.badDecompression, "Error in decompression (UPLOAD)")
        // zlib packs at most 1032 to 1: a promise of more is a lie, and is not worth the memory.
        guard size <= packed.count * 1040 + 64 else { throw fault }
        var output = [UInt8](repeating: 0, count: size)
        var length = uLongf(size)
        let status = output.withUnsafeMutableBufferPointer { output in
            packed.withUnsafeBufferPointer { packed in
                guard let from = packed.baseAddress, packed.count <= Int(UInt32.max) else {
                    return Z_DATA_ERROR
                }
                var empty: UInt8 = 0
                return withUnsafeMutablePointer(to: &empty) { spare in
                    uncompress(output.baseAddress ?? spare, &length, from, uLong(packed.count))
                }
            }
        }
        guard status == Z_OK, length == size else { throw fault }
        return output
    }

    /// Packs at the lowest level; nil when that gains nothing.
    package static func deflate(_ bytes: [UInt8]) -> [UInt8]? {
        var length = compressBound(uLong(bytes.count))
        var output = [UInt8](repeating: 0, count: Int(length))
        let status = output.withUnsafeMutableBufferPointer { output in
            bytes.withUnsafeBufferPointer { bytes in
                guard let to = output.baseAddress, let from = bytes.baseAddress else { return Z_DATA_ERROR }
                return compress2(to, &length, from, uLong(bytes.count), Z_BEST_SPEED)
            }
        }
        guard status == Z_OK, length < bytes.count else { return nil }
        return Array(output[..<Int(length)])
    }
}
