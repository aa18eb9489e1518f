import BSON

/// Finds an app in a tree of files: the folder with a root file, and the version of its layout.
///
/// Source: `reference/app-config.md` §1.
struct TreeLocator {
    /// The root files, in the order in which they are looked for.
    static let rootFiles = ["root_config.json", "realm_config.json", "config.json", "stitch.json"]
    /// Where the newer tools keep what ties a tree to an app.
    static let metaFiles = [".mdb/meta.json", ".mdb/app_meta.json"]
    /// Versions that are understood.
    static let versions = [20_180_301, 20_200_603, 20_210_101, 20_230_101]

    /// The tree from the app's root, and the name of its root file.
    struct Location {
        let tree: FileTree
        let rootFile: String
    }

    /// Looks in the tree itself, then in `backend/`, then in a single top folder (as archives have it) and
    /// its `backend/`.
    static func locate(_ tree: FileTree) -> Location? {
        for candidate in candidates(tree) {
            let folder = candidate.isEmpty ? tree : tree.folder(candidate)
            for name in rootFiles where folder[name] != nil && isRootFile(name, in: folder) {
                return Location(tree: folder, rootFile: name)
            }
        }
        return nil
    }

    private static func candidates(_ tree: FileTree) -> [String] {
        var result = ["", "backend"]
        let tops = Set(
            tree.files.keys.compactMap { path in path.split(separator: "/").first.map(String.init) }
        )
        if tops.count == 1, let top = tops.first { result += [top, top + "/backend"] }
        return result
    }

    /// Many folders have a `config.json`; one with a version is a root file.
    private static func isRootFile(_ name: String, in folder: FileTree) -> Bool {
        guard name == "config.json" else { return true }
        var ignored = Findings()
        for file in [name] + metaFiles {
            guard let bytes = folder[file] else { continue }
            let document = JSONDialect.read(bytes, file: file, into: &ignored)?.document
            if let version = document?["config_version"]?.exactInt64, version != 0 { return true }
        }
        return false
    }

    /// The version of a root file that states none.
    static func assumedVersion(of rootFile: String) -> Int {
        switch rootFile {
        case "root_config.json": 20_230_101
        case "realm_config.json": 20_210_101
        case "config.json": 20_200_603
        default: 20_180_301
        }
    }
}
