import AppDefinition
import Foundation
import TestSupport

/// A tree from paths and texts.
func files(_ texts: [String: String]) -> FileTree {
    FileTree(files: texts.mapValues { Array($0.utf8) })
}

/// Everything that reading and parsing finds, and the app when there are no errors.
func examine(_ tree: FileTree) -> (app: AppConfiguration?, tree: ConfigurationTree?, findings: Findings) {
    var (read, findings) = ConfigurationTreeReader.read(tree)
    guard let read else {
        read = nil
        return (nil, nil, findings)
    }
    let parsed = AppConfigurationParser.parse(read)
    findings.append(contentsOf: parsed.findings)
    return (findings.hasErrors ? nil : parsed.app, read, findings)
}

/// A published app of the case files.
func published(_ name: String) throws -> FileTree {
    let root = URL(fileURLWithPath: Corpus.path("apps/\(name)"))
    var tree = FileTree()
    let paths = FileManager.default.enumerator(atPath: root.path)
    while let path = paths?.nextObject() as? String {
        var isDirectory: ObjCBool = false
        let file = root.appendingPathComponent(path)
        guard FileManager.default.fileExists(atPath: file.path, isDirectory: &isDirectory),
            !isDirectory.boolValue
        else { continue }
        tree[path] = [UInt8](try Data(contentsOf: file))
    }
    return tree
}

/// The root file of the newest layout but one.
let root = ["realm_config.json": #"{"config_version": 20210101, "name": "shop"}"#]

extension [String: String] {
    static func + (left: [String: String], right: [String: String]) -> [String: String] {
        left.merging(right) { _, new in new }
    }
}
