/// The files of a directory: paths and contents, no disk.
///
/// Paths are relative, with slashes, without `.` and `..`; whoever fills the tree sees to that.
public struct FileTree: Sendable, Hashable {
    /// Path to content.
    public var files: [String: [UInt8]]

    /// A tree of files.
    public init(files: [String: [UInt8]] = [:]) {
        self.files = files
    }

    /// The paths in their order by code point, so that reports and archives are the same each time.
    public var paths: [String] { files.keys.sorted() }

    /// The content of a file; nil when there is none, and setting nil removes it.
    public subscript(path: String) -> [UInt8]? {
        get { files[path] }
        set { files[path] = newValue }
    }

    /// The files below a folder, as a tree of its own.
    public func folder(_ name: String) -> FileTree {
        let prefix = name + "/"
        var result = FileTree()
        for (path, content) in files where path.hasPrefix(prefix) {
            result.files[String(path.dropFirst(prefix.count))] = content
        }
        return result
    }

    /// Whether a name can be that of a file or folder in an export as it stands, and comes back in an import.
    static func isFileName(_ name: some StringProtocol) -> Bool {
        !name.isEmpty && !name.utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
            && isPartOfApp(String(name))
            && name != ".mdb"
    }

    /// Whether an importer looks at a file: hidden ones (but `.mdb`) and installed packages are no part of an app.
    public static func isPartOfApp(_ path: String) -> Bool {
        let steps = path.split(separator: "/", omittingEmptySubsequences: false)
        for step in steps {
            if step == "node_modules" || step == "__MACOSX" { return false }
            if step.hasPrefix("."), step != ".mdb" { return false }
        }
        return true
    }
}
