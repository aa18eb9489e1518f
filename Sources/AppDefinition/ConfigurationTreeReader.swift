import BSON

/// Turns the files of an exported app, of any version, into a ``ConfigurationTree``.
///
/// Layouts are read by what is there rather than by version, since mixed forms exist: `auth/providers.json` or
/// `auth_providers/`, `data_sources/` or `services/`, either endpoint folder. The same item twice is an error.
/// What no part of this room takes stays in ``ConfigurationTree/otherFiles``, so that nothing is dropped.
/// Source: `reference/app-config.md` §§1, 2, 16.
public struct ConfigurationTreeReader {
    var files: FileTree
    var taken: Set<String> = []
    var findings = Findings()
    var tree: ConfigurationTree

    /// Reads a tree.
    ///
    /// - Returns: The tree, nil when there is no root file that can be read; and every finding.
    public static func read(_ files: FileTree) -> (tree: ConfigurationTree?, findings: Findings) {
        var own = FileTree()
        for (path, content) in files.files where FileTree.isPartOfApp(path) { own.files[path] = content }
        var findings = Findings()
        let expanded = TreeLocator.locate(own) == nil ? SavedConfiguration.expand(own, into: &findings) : nil
        if findings.hasErrors { return (nil, findings) }
        guard let location = TreeLocator.locate(expanded ?? own) else {
            findings.add(
                .error,
                Place(file: TreeLocator.rootFiles[0]),
                "no app here: none of \(TreeLocator.rootFiles.joined(separator: ", ")) with a config_version"
            )
            return (nil, findings)
        }
        var reader = ConfigurationTreeReader(files: location.tree)
        reader.findings = findings
        guard reader.readRoot(location.rootFile) else { return (nil, reader.findings) }
        reader.readEnvironments()
        reader.readNamed("values", into: \.values, what: "value")
        reader.readSources()
        reader.readFunctions()
        reader.readAccounts()
        reader.readMailTemplates()
        reader.readEndpoints()
        reader.readSync()
        reader.readNamed("triggers", into: \.triggers, what: "trigger")
        reader.readSecrets()
        reader.checkNames()
        reader.keepRest()
        return (reader.tree, reader.findings)
    }

    private init(files: FileTree) {
        self.files = files
        tree = ConfigurationTree(name: "", root: .init(BSONDocument(), at: Place(file: "")))
    }

    // MARK: Files

    /// Reads a file if it is there, and marks it as taken.
    mutating func value(_ path: String) -> BSONValue? {
        guard let bytes = files[path] else { return nil }
        taken.insert(path)
        if !bytes.contains(where: { $0 > UInt8(ascii: " ") }) {
            findings.add(.error, Place(file: path), "the file is empty")
            return nil
        }
        return JSONDialect.read(bytes, file: path, into: &findings)
    }

    /// Reads a file that must hold an object.
    mutating func object(_ path: String) -> ConfigurationTree.Node? {
        guard let value = value(path) else { return nil }
        guard let document = value.document else {
            findings.add(.error, Place(file: path), "must hold an object")
            return nil
        }
        return ConfigurationTree.Node(document, at: Place(file: path))
    }

    /// Reads a file that must hold an array of objects.
    mutating func objects(_ path: String) -> [ConfigurationTree.Node] {
        guard let value = value(path) else { return [] }
        if let document = value.document, document.isEmpty { return [] }
        guard let elements = value.array else {
            findings.add(.error, Place(file: path), "must hold an array")
            return []
        }
        var nodes: [ConfigurationTree.Node] = []
        for (index, element) in elements.enumerated() {
            let place = Place(file: path).index(index)
            if let document = element.document {
                nodes.append(ConfigurationTree.Node(document, at: place))
            } else {
                findings.add(.error, place, "must be an object")
            }
        }
        return nodes
    }

    /// The text of a file; an error when it is no UTF-8 or holds NUL, which PostgreSQL cannot keep.
    mutating func text(_ path: String) -> String? {
        guard let bytes = files[path] else { return nil }
        taken.insert(path)
        guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else {
            findings.add(.error, Place(file: path), "must be UTF-8 text without NUL")
            return nil
        }
        return text
    }

    /// The files directly in a folder with an ending, in order.
    func filesIn(_ folder: String, ending: String = ".json") -> [String] {
        files.paths.filter { path in
            guard path.hasPrefix(folder + "/"), path.hasSuffix(ending) else { return false }
            return !path.dropFirst(folder.count + 1).contains("/")
        }
    }

    /// The names of the folders directly in a folder, in order.
    func foldersIn(_ folder: String) -> [String] {
        var names: Set<String> = []
        for path in files.files.keys where path.hasPrefix(folder + "/") {
            let steps = path.dropFirst(folder.count + 1).split(separator: "/", maxSplits: 1)
            if steps.count == 2 { names.insert(String(steps[0])) }
        }
        return names.sorted()
    }

    // MARK: Parts of one form

    private mutating func readEnvironments() {
        for path in filesIn("environments") {
            let name = fileName(path)
            let tag = name == "no-environment" ? "" : name
            guard Self.environmentTags.contains(tag) else {
                findings.add(
                    .warning,
                    Place(file: path),
                    "not an environment; there are no-environment, development, testing, qa, production"
                )
                continue
            }
            if let node = object(path) { tree.environments[tag] = node }
        }
    }

    static let environmentTags: Set<String> = ["", "development", "testing", "qa", "production"]

    /// Reads a folder of files that each hold one object with a name.
    private mutating func readNamed(
        _ folder: String,
        into target: WritableKeyPath<ConfigurationTree, [String: ConfigurationTree.Node]>,
        what: String
    ) {
        for path in filesIn(folder) {
            guard var node = object(path) else { continue }
            let name = node.document["name"]?.string ?? fileName(path)
            if node.document["name"] == nil { node.document["name"] = .string(name) }
            let file = fileName(path)
            if tree[keyPath: target][name] == nil {
                tree[keyPath: target][name] = node
            } else if what == "trigger", tree[keyPath: target][file] == nil {
                // A trigger's name is shown to people and refers to nothing, so that both can be kept.
                tree[keyPath: target][file] = node
                findings.add(
                    .warning,
                    Place(file: path).key("name"),
                    "there is another trigger named '\(name)'; this one is kept as '\(file)'"
                )
            } else {
                findings.add(
                    .error,
                    Place(file: path).key("name"),
                    "there is another \(what) named '\(name)'"
                )
            }
        }
    }

    /// `values/a.json` becomes `a`.
    func fileName(_ path: String) -> String {
        let last = path.split(separator: "/").last ?? ""
        return String(last.hasSuffix(".json") ? last.dropLast(5) : last)
    }

    /// Keeps every file that nothing took, and says so for those that would have done something.
    private mutating func keepRest() {
        for path in files.paths where !taken.contains(path) {
            if TreeLocator.metaFiles.contains(path) { continue }
            guard let content = files[path] else { continue }
            tree.otherFiles[path] = content
        }
    }
}
