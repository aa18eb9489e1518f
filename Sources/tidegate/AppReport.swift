import AppDefinition
import Foundation

/// What became of an app's directory, for the terminal.
struct AppReport {
    /// The app, when it has no errors.
    private(set) var app: AppConfiguration?
    let tree: ConfigurationTree?
    private(set) var findings: Findings

    init(_ files: FileTree, knownSecrets: Set<String> = []) {
        var (tree, findings) = ConfigurationTreeReader.read(files)
        var app: AppConfiguration?
        if let read = tree {
            let parsed = AppConfigurationParser.parse(read, knownSecrets: knownSecrets)
            findings.append(contentsOf: parsed.findings)
            app = findings.hasErrors ? nil : parsed.app
        } else {
            tree = nil
        }
        self.app = app
        self.tree = tree
        self.findings = findings
    }

    /// With what an engine finds in the sources of the app's functions.
    func checkingSources() async -> AppReport {
        guard let app else { return self }
        var checked = self
        let faults = await EngineForChecks.faults(of: app)
        for fault in faults { checked.findings.add(fault) }
        if !faults.isEmpty { checked.app = nil }
        return checked
    }

    /// One line per item, and the sums.
    func text(quiet: Bool) -> String {
        var lines = findings.list.filter { !quiet || $0.outcome != .imported }.map(\.description)
        let counts = Finding.Outcome.allCases.compactMap { outcome -> String? in
            let number = findings.list.count { $0.outcome == outcome }
            return number > 0 ? "\(number) \(outcome.rawValue)" : nil
        }
        lines.append(counts.joined(separator: ", "))
        return lines.joined(separator: "\n")
    }
}

/// Writes a line to standard error.
func printToError(_ line: String) {
    FileHandle.standardError.write(Data((line + "\n").utf8))
}
