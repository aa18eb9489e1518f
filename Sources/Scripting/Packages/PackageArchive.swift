/// Why an archive of packages cannot be read.
public struct ArchiveFault: Error, Sendable, Hashable {
    /// One sentence.
    public let message: String

    init(_ message: String) {
        self.message = message
    }
}

/// The packages that an app brought: `functions/node_modules` as tar, compressed or not, or zip.
///
/// Source: `reference/functions.md` §7, “Dependencies”.
public enum PackageArchive {
    /// The names that an archive may have in an app's directory.
    public static let paths = ["tar", "tar.gz", "tgz", "zip"].map { "functions/node_modules.\($0)" }

    /// What all files together may hold once they are unpacked.
    static let mostBytes = 64 << 20
    static let mostFiles = 20_000

    /// What scripts may `require`, by path below `node_modules/`.
    ///
    /// - Parameter bytes: The archive; its first bytes tell of which kind it is.
    /// - Returns: Sources and `package.json` files; whatever else packages hold is left out.
    /// - Throws: ``ArchiveFault`` for what is no archive, is cut short, or unpacks to too much.
    public static func modules(_ bytes: [UInt8]) throws(ArchiveFault) -> [String: [UInt8]] {
        let files: [(path: String, content: ArraySlice<UInt8>)]
        if bytes.starts(with: [0x1f, 0x8b]) {
            files = try TarReader.files(try Inflation.bytes(bytes[...], .gzip, most: mostBytes * 2))
        } else if bytes.starts(with: [0x50, 0x4b]) {
            files = try ZipReader.files(bytes)
        } else {
            files = try TarReader.files(bytes)
        }
        var modules: [String: [UInt8]] = [:]
        var size = 0
        for file in files {
            guard let path = place(of: file.path) else { continue }
            size += file.content.count
            guard size <= mostBytes, modules.count < mostFiles else {
                throw ArchiveFault(
                    "the packages are larger than \(mostBytes >> 20) MB or more than \(mostFiles) files"
                )
            }
            modules[path] = Array(file.content)
        }
        return modules
    }

    /// The path of a file that a script may ask for, below `node_modules/`; nil for all others.
    static func place(of path: String) -> String? {
        let isSource = [".js", ".cjs", ".json"].contains { path.hasSuffix($0) }
        var steps = path.split(separator: "/").filter { $0 != "." }
        guard isSource, !steps.contains("..") else { return nil }
        if let folder = steps.firstIndex(of: "node_modules") { steps.removeFirst(folder + 1) }
        return steps.isEmpty ? nil : steps.joined(separator: "/")
    }
}
