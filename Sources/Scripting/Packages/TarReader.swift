/// Reads tar archives: ustar, and the long names of GNU and pax.
enum TarReader {
    private static let block = 512

    /// The regular files of an archive, in its order.
    ///
    /// - Throws: ``ArchiveFault`` for what is no archive or is cut short.
    static func files(_ bytes: [UInt8]) throws(ArchiveFault) -> [(path: String, content: ArraySlice<UInt8>)] {
        var files: [(path: String, content: ArraySlice<UInt8>)] = []
        guard bytes.count >= block else { throw ArchiveFault("the archive is no tar file") }
        var position = 0
        var longName: String?
        while position + block <= bytes.count {
            let header = bytes[position..<(position + block)]
            if header.allSatisfy({ $0 == 0 }) { break }
            guard isChecked(header), let size = number(header, 124, 12) else {
                throw ArchiveFault("the archive is no tar file")
            }
            let start = position + block
            guard size >= 0, size <= bytes.count - start else {
                throw ArchiveFault("the archive is cut short")
            }
            let content = bytes[start..<(start + size)]
            switch header[position + 156] {
            case UInt8(ascii: "L"): longName = text(content)
            case UInt8(ascii: "x"): longName = paxPath(content) ?? longName
            case UInt8(ascii: "0"), 0:
                files.append((longName ?? name(header), content))
                longName = nil
            default: longName = nil
            }
            position = start + (size + block - 1) / block * block
            guard files.count <= PackageArchive.mostFiles * 4 else {
                throw ArchiveFault("the archive holds too many files")
            }
        }
        return files
    }

    /// The sum of a header's bytes, its own field counted as blanks.
    private static func isChecked(_ header: ArraySlice<UInt8>) -> Bool {
        var sum = 0
        for (index, byte) in header.enumerated() { sum += (148..<156).contains(index) ? 32 : Int(byte) }
        return number(header, 148, 8) == sum
    }

    private static func name(_ header: ArraySlice<UInt8>) -> String {
        let name = text(field(header, 0, 100))
        guard text(field(header, 257, 5)) == "ustar" else { return name }
        let prefix = text(field(header, 345, 155))
        return prefix.isEmpty ? name : prefix + "/" + name
    }

    /// `<length> path=<path>\n` among the records of a pax header.
    private static func paxPath(_ records: ArraySlice<UInt8>) -> String? {
        for line in records.split(separator: UInt8(ascii: "\n")) {
            guard let blank = line.firstIndex(of: UInt8(ascii: " ")) else { continue }
            let record = line[(blank + 1)...]
            if record.starts(with: "path=".utf8) {
                return String(decoding: record.dropFirst(5), as: UTF8.self)
            }
        }
        return nil
    }

    private static func field(_ header: ArraySlice<UInt8>, _ offset: Int, _ length: Int) -> ArraySlice<UInt8>
    {
        header[(header.startIndex + offset)..<(header.startIndex + offset + length)]
    }

    /// Up to the first NUL.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }

    /// Octal digits between blanks and NULs.
    private static func number(_ header: ArraySlice<UInt8>, _ offset: Int, _ length: Int) -> Int? {
        let digits = field(header, offset, length).filter { $0 != 0 && $0 != 32 }
        if digits.isEmpty { return 0 }
        return Int(String(decoding: digits, as: UTF8.self), radix: 8)
    }
}
