import Crypto
public import Errors
import Glibc

/// One file of `migrations/`: a change of the database's schema, never edited once released.
public struct Migration: Sendable, Hashable {
    /// The number in front of the file's name; the order of application.
    public let number: Int
    /// The rest of the name, without `.sql`.
    public let name: String
    /// SHA-256 over the file's bytes, as 64 hex digits.
    public let checksum: String
    /// The SQL.
    public let text: String

    /// Reads a migration from a file's name and bytes.
    ///
    /// - Parameters:
    ///   - fileName: `NNNN_name`, with or without `.sql`.
    ///   - bytes: The file, UTF-8 without NUL.
    /// - Throws: `invalidSetting` for another name or other bytes.
    public init(fileName: String, bytes: [UInt8]) throws(ServiceError) {
        let stem = fileName.hasSuffix(".sql") ? String(fileName.dropLast(4)) : fileName
        let parts = stem.split(separator: "_", maxSplits: 1)
        guard parts.count == 2, parts[0].utf8.allSatisfy({ (48...57).contains($0) }),
            let number = Int(parts[0]), number > 0
        else {
            throw ServiceError(
                .invalidSetting,
                "\(fileName) is no migration; such files are called NNNN_name.sql"
            )
        }
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
            throw ServiceError(.invalidSetting, "\(fileName) is not UTF-8 text")
        }
        self.number = number
        self.name = String(parts[1])
        self.text = text
        checksum = SHA256.hash(data: bytes).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }

    /// The migrations that this program was built with.
    ///
    /// - Throws: `invalidSetting` only if the source tree held a malformed file.
    public static func embedded() throws(ServiceError) -> [Migration] {
        var found: [Migration] = []
        for file in EmbeddedFiles.all {
            found.append(try Migration(fileName: file.name, bytes: file.bytes))
        }
        return try ordered(found)
    }

    /// The migrations in a directory: its files `NNNN_name.sql`.
    ///
    /// - Throws: `invalidSetting` for a directory that cannot be read, a malformed name, or a number that two
    ///   files share.
    public static func read(directory: String) throws(ServiceError) -> [Migration] {
        guard let listing = opendir(directory) else {
            throw ServiceError(.invalidSetting, "cannot read the directory \(directory)")
        }
        defer { closedir(listing) }
        var found: [Migration] = []
        while let entry = readdir(listing) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard name.hasSuffix(".sql") else { continue }
            found.append(try Migration(fileName: name, bytes: try contents(of: directory + "/" + name)))
        }
        return try ordered(found)
    }

    private static func ordered(_ migrations: [Migration]) throws(ServiceError) -> [Migration] {
        let sorted = migrations.sorted { $0.number < $1.number }
        for (left, right) in zip(sorted, sorted.dropFirst()) where left.number == right.number {
            throw ServiceError(
                .invalidSetting,
                "two migrations have number \(left.number): \(left.name) and \(right.name)"
            )
        }
        return sorted
    }

    private static func contents(of path: String) throws(ServiceError) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw ServiceError(.invalidSetting, "cannot read \(path)") }
        defer { close(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(file, &chunk, chunk.count)
            guard count >= 0 else { throw ServiceError(.invalidSetting, "cannot read \(path)") }
            guard count > 0 else { return bytes }
            bytes.append(contentsOf: chunk.prefix(count))
        }
    }
}
