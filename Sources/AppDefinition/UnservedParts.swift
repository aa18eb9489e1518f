import BSON

/// Names what an app holds that tidegate does not serve yet; all of it is kept.
enum UnservedParts {
    static func report(_ tree: ConfigurationTree) -> Findings {
        var findings = Findings()
        var folders: [String: Int] = [:]
        for path in tree.otherFiles.keys {
            folders[path.split(separator: "/").first.map(String.init) ?? path, default: 0] += 1
        }
        for (folder, number) in folders.sorted(by: { $0.key < $1.key }) {
            findings.add(.notImported, Place(file: folder), reason(folder, number, tree))
        }
        return findings
    }

    private static func reason(_ folder: String, _ number: Int, _ tree: ConfigurationTree) -> String {
        let files = count(number, "file")
        return switch folder {
        case "graphql": "GraphQL is not served; \(files) kept for export"
        case "hosting": "hosting is not served; \(files) kept for export"
        case "log_forwarders": "log forwarders are not served; \(files) kept for export"
        case "services":
            "services of third parties are not served (\(services(tree))); \(files) kept for export"
        case "functions":
            "\(files) kept; of packages, functions may require what node_modules.tar.gz or .zip holds"
        default: "no part of an app; \(files) kept for export"
        }
    }

    private static func services(_ tree: ConfigurationTree) -> String {
        var names: Set<String> = []
        for path in tree.otherFiles.keys where path.hasPrefix("services/") {
            let steps = path.split(separator: "/")
            if steps.count > 2 { names.insert(String(steps[1])) }
        }
        return names.sorted().joined(separator: ", ")
    }

    private static func count(_ number: Int, _ noun: String) -> String {
        number == 1 ? "1 \(noun)" : "\(number) \(noun)s"
    }
}
