import AppDefinition
import Errors
import Foundation

/// The directory of an app on disk, as a ``FileTree`` and back.
///
/// Source: `reference/app-config.md` §16, “File limits”.
enum AppDirectory {
    /// All files together may hold this many bytes.
    static let sizeLimit = 256 << 20

    /// Reads a directory, or a single file that holds a whole app as one object.
    ///
    /// Symbolic links are refused: they may lead out of the tree.
    static func read(_ path: String) throws -> FileTree {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
            throw ServiceError(.invalidAppDefinition, "there is no directory \(path)")
        }
        guard isDirectory.boolValue else {
            if path.hasSuffix(".zip") {
                throw ServiceError(.invalidAppDefinition, "\(path) is an archive; unpack it first")
            }
            guard path.hasSuffix(".json"), let content = FileManager.default.contents(atPath: path) else {
                throw ServiceError(.invalidAppDefinition, "\(path) is not a directory")
            }
            return FileTree(files: [URL(fileURLWithPath: path).lastPathComponent: [UInt8](content)])
        }
        var tree = FileTree()
        var size = 0
        try read(URL(fileURLWithPath: path), below: "", into: &tree, &size)
        return tree
    }

    private static func read(
        _ folder: URL,
        below prefix: String,
        into tree: inout FileTree,
        _ size: inout Int
    ) throws {
        let keys: Set<URLResourceKey> = [.isSymbolicLinkKey, .isDirectoryKey, .isRegularFileKey]
        let entries = try FileManager.default.contentsOfDirectory(
            at: folder,
            includingPropertiesForKeys: Array(keys)
        )
        for entry in entries {
            let path = prefix + entry.lastPathComponent
            guard FileTree.isPartOfApp(path) else { continue }
            let values = try entry.resourceValues(forKeys: keys)
            if values.isSymbolicLink == true {
                throw ServiceError(
                    .invalidAppDefinition,
                    "\(path) is a symbolic link; an app consists of files"
                )
            }
            if values.isDirectory == true {
                try read(entry, below: path + "/", into: &tree, &size)
            } else if values.isRegularFile == true {
                let content = try Data(contentsOf: entry)
                size += content.count
                guard size <= sizeLimit else {
                    throw ServiceError(
                        .invalidAppDefinition,
                        "the directory holds more than \(sizeLimit >> 20) MiB"
                    )
                }
                tree[path] = [UInt8](content)
            }
        }
    }

    /// Writes a tree into a directory that is made, or empty.
    ///
    /// - Parameters:
    ///   - tree: What to write.
    ///   - path: Where to.
    ///   - replace: Files that are there may be replaced.
    /// - Throws: `invalidSetting` when the directory is not empty; what the file system says.
    static func write(_ tree: FileTree, to path: String, replace: Bool) throws {
        let root = URL(fileURLWithPath: path, isDirectory: true)
        let manager = FileManager.default
        if !replace, let entries = try? manager.contentsOfDirectory(atPath: path), !entries.isEmpty {
            throw ServiceError(.invalidSetting, "\(path) is not empty; --force writes into it")
        }
        for file in tree.paths {
            let steps = file.split(separator: "/", omittingEmptySubsequences: false)
            // Paths may come from the database.
            guard !steps.contains(where: { $0.isEmpty || $0 == "." || $0 == ".." }) else {
                throw ServiceError(.invalidAppDefinition, "the path \(file) leads out of the directory")
            }
            let target = root.appendingPathComponent(file)
            try manager.createDirectory(
                at: target.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(tree[file] ?? []).write(to: target)
        }
    }
}
