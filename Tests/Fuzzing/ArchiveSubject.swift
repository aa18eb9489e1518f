import Scripting

/// Archives of packages: nothing leaves the folder, and nothing unpacks to more than it may.
struct ArchiveSubject: FuzzSubject {
    let name = "archive"
    let isBinary = true

    func run(_ input: [UInt8]) throws -> Bool {
        guard let modules = try? PackageArchive.modules(input) else { return false }
        var size = 0
        for (path, content) in modules {
            size += content.count
            if path.hasPrefix("/") || path.split(separator: "/").contains("..") {
                throw Finding("a package reaches out of its folder: \(path)")
            }
        }
        if size > 64 << 20 { throw Finding("an archive unpacks to \(size) bytes") }
        return true
    }
}
