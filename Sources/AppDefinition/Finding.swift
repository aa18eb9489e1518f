/// One line of an import's report: what became of one item of an app's tree, or what is wrong with it.
///
/// Source: `reference/app-config.md` §16.
public struct Finding: Sendable, Hashable {
    /// What became of the item.
    public enum Outcome: String, Sendable, Hashable, CaseIterable {
        /// Taken as it is.
        case imported
        /// Taken after a change of form: an older layout, a migrated permission, a trailing comma.
        case adapted
        /// Taken, but something about it deserves a look.
        case warning
        /// Kept for export, not served.
        case notImported = "not imported"
        /// The app cannot be served like this.
        case error
    }

    /// What became of it.
    public let outcome: Outcome
    /// The path below the app's root, with slashes.
    public let file: String
    /// Where in the file, `$.roles[0].name`; empty when the whole file is meant.
    public let path: String
    /// One sentence, safe to print: never a secret's content.
    public let message: String

    /// One line.
    public init(_ outcome: Outcome, file: String, path: String = "", _ message: String) {
        self.outcome = outcome
        self.file = file
        self.path = path
        self.message = message
    }
}

extension Finding: CustomStringConvertible {
    /// The report's line: outcome, place, reason.
    public var description: String {
        let place = path.isEmpty ? file : "\(file) \(path)"
        return "\(outcome.rawValue): \(place): \(message)"
    }
}

/// Collects findings while a tree is read, so that all faults are reported together.
public struct Findings: Sendable, Hashable {
    /// In the order in which they were found.
    public private(set) var list: [Finding] = []

    /// Nothing found yet.
    public init() {}

    /// Whether the app cannot be served.
    public var hasErrors: Bool { list.contains { $0.outcome == .error } }
    /// Those that keep the app from being served.
    public var errors: [Finding] { list.filter { $0.outcome == .error } }

    /// Takes note of one that somebody else found.
    public mutating func add(_ finding: Finding) {
        list.append(finding)
    }

    /// Takes note of one.
    public mutating func add(_ outcome: Finding.Outcome, _ place: Place, _ message: String) {
        list.append(Finding(outcome, file: place.file, path: place.path, message))
    }

    /// Takes over what another part found.
    public mutating func append(contentsOf other: Findings) {
        list.append(contentsOf: other.list)
    }
}

/// Where a value of the configuration stands: a file and a JSON path in it.
public struct Place: Sendable, Hashable {
    /// The path below the app's root.
    public let file: String
    /// `$.roles[0]`, or empty for the whole file.
    public let path: String

    /// A whole file, or a place in it.
    public init(file: String, path: String = "") {
        self.file = file
        self.path = path
    }

    /// The place of a member of an object.
    public func key(_ name: String) -> Place {
        Place(file: file, path: (path.isEmpty ? "$" : path) + "." + name)
    }

    /// The place of an element of an array.
    public func index(_ index: Int) -> Place {
        Place(file: file, path: (path.isEmpty ? "$" : path) + "[\(index)]")
    }
}
