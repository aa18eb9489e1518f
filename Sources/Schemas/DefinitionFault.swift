/// Something wrong in a part of an app's definition, with the place in its file.
///
/// Faults are collected and reported together; the importer adds the file. Source: `rules.md` §17, D9.
public struct DefinitionFault: Sendable, Hashable {
    /// How much a fault weighs.
    public enum Severity: String, Sendable, Hashable {
        /// The definition is refused.
        case error
        /// The definition is taken, but does not do what its author may think.
        case warning
    }

    /// Whether the definition is refused.
    public let severity: Severity
    /// `$.roles[0].apply_when`: from the root of the file.
    public let jsonPath: String
    /// One sentence without the path.
    public let message: String

    /// A fault at a place.
    public init(_ severity: Severity, at jsonPath: String, _ message: String) {
        self.severity = severity
        self.jsonPath = jsonPath
        self.message = message
    }
}

extension DefinitionFault: CustomStringConvertible {
    /// One line: `error: $.roles[0]: unknown key 'document_filter'`.
    public var description: String { "\(severity.rawValue): \(jsonPath): \(message)" }
}

/// The path below `path`, in the notation of faults; keys that are not plain words are quoted.
public func jsonPath(_ path: String, _ key: String) -> String {
    let isPlain =
        !key.isEmpty
        && key.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
    return isPlain ? "\(path).\(key)" : "\(path)[\"\(key)\"]"
}
