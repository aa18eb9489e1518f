/// Reads zip archives by their directory: files that are stored or deflated, without encryption.
enum ZipReader {
    /// The files of an archive, in the order of its directory.
    ///
    /// - Throws: ``ArchiveFault`` for what is no archive, is cut short or packed in another way.
    static func files(_ bytes: [UInt8]) throws(ArchiveFault) -> [(path: String, content: ArraySlice<UInt8>)] {
        guard let end = directoryEnd(bytes) else { throw ArchiveFault("the archive is no zip file") }
        var files: [(path: String, content: ArraySlice<UInt8>)] = []
        var position = try number(bytes, end + 16, 4)
        var unpacked = 0
        for _ in 0..<(try number(bytes, end + 10, 2)) {
            guard try number(bytes, position, 4) == 0x0201_4b50 else { throw cutShort }
            let method = try number(bytes, position + 10, 2)
            let packedSize = try number(bytes, position + 20, 4)
            let nameLength = try number(bytes, position + 28, 2)
            let after = try number(bytes, position + 30, 2) + number(bytes, position + 32, 2)
            let path = String(decoding: try slice(bytes, position + 46, nameLength), as: UTF8.self)
            let local = try number(bytes, position + 42, 4)
            position += 46 + nameLength + after
            // Others would be unpacked in vain.
            guard PackageArchive.place(of: path) != nil else { continue }
            guard try number(bytes, local, 4) == 0x0403_4b50 else { throw cutShort }
            let start = local + 30 + (try number(bytes, local + 26, 2)) + (try number(bytes, local + 28, 2))
            let packed = try slice(bytes, start, packedSize)
            switch method {
            case 0: files.append((path, packed))
            case 8:
                let content = try Inflation.bytes(packed, .none, most: PackageArchive.mostBytes - unpacked)
                unpacked += content.count
                files.append((path, content[...]))
            default: throw ArchiveFault("'\(path)' is packed in a way that is not known (\(method))")
            }
        }
        return files
    }

    private static let cutShort = ArchiveFault("the archive is damaged or cut short")

    /// Where the directory's end is told of: behind it, only a comment of up to 64 KiB.
    private static func directoryEnd(_ bytes: [UInt8]) -> Int? {
        guard bytes.count >= 22 else { return nil }
        let first = max(0, bytes.count - 22 - 65_535)
        return (first...(bytes.count - 22)).reversed().first {
            bytes[$0] == 0x50 && bytes[$0 + 1] == 0x4b && bytes[$0 + 2] == 5 && bytes[$0 + 3] == 6
        }
    }

    private static func slice(_ bytes: [UInt8], _ start: Int, _ count: Int) throws(ArchiveFault)
        -> ArraySlice<UInt8>
    {
        guard start >= 0, count >= 0, start <= bytes.count, count <= bytes.count - start else {
            throw cutShort
        }
        return bytes[start..<(start + count)]
    }

    /// A number whose least byte comes first.
    private static func number(_ bytes: [UInt8], _ start: Int, _ count: Int) throws(ArchiveFault) -> Int {
        try slice(bytes, start, count).reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
