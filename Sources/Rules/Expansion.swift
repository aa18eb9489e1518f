/// A `%%` name in an expression, or a bare field name, which is short for one.
///
/// Source: `rules.md` §8.4.
public enum Expansion: Sendable, Hashable {
    /// `%%true`, `%%false`
    case constant(Bool)
    /// `%%user`, `%%user.id`, `%%user.custom_data.team.name`
    case user([String])
    /// `%%values.admin_ids`
    case values([String])
    /// `%%environment.tag`
    case environmentTag
    /// `%%environment.values.base`
    case environmentValues([String])
    /// `%%request.httpMethod`, `%%request.requestHeaders.x-team`
    case request([String])
    /// `%%partition`: the value by which a file of partition-based sync is opened.
    case partition
    /// `%%root.owner`, `owner`, `%%prevRoot`, `%%this.kind`, `%%prev`
    case image(ImageReference)
}

/// A value of the document that a rule is asked about.
public struct ImageReference: Sendable, Hashable {
    /// Which state of the document, or of the field that carries the rule.
    public enum Image: String, Sendable, Hashable {
        case root
        case prevRoot
        case this
        case prev
    }

    /// Which state it is a value of.
    public let image: Image
    /// Empty for the image as a whole.
    public let path: [String]

    /// A value of one image.
    public init(_ image: Image, _ path: [String] = []) {
        self.image = image
        self.path = path
    }
}

extension Expansion {
    /// What an unusable name is refused with.
    struct Refusal: Error {
        let message: String
    }

    /// Reads a name that begins with `%%`.
    init(parsing text: String) throws(Refusal) {
        let name = text.dropFirst(2)
        if name.hasSuffix("%%") {
            throw Refusal(
                message: "'\(text)' ends with '%%'; write '\(text.dropLast(2))'"
            )
        }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard !parts.contains(""), !text.utf8.contains(0) else {
            throw Refusal(message: "'\(text)' is not an expansion: a part of the name is empty")
        }
        let rest = Array(parts.dropFirst())
        switch parts[0] {
        case "true" where rest.isEmpty: self = .constant(true)
        case "false" where rest.isEmpty: self = .constant(false)
        case "user":
            if let member = rest.first, !Self.userMembers.contains(member) {
                throw Refusal(
                    message:
                        "'\(text)' is not an expansion: %%user has id, type, data, custom_data and identities"
                )
            }
            self = .user(rest)
        case "values": self = .values(rest)
        case "environment":
            switch rest.first {
            case "tag"? where rest.count == 1: self = .environmentTag
            case "values"?: self = .environmentValues(Array(rest.dropFirst()))
            default: throw Refusal(message: "'\(text)' is not an expansion: %%environment has tag and values")
            }
        case "request":
            if let member = rest.first, !RuleRequest.memberNames.contains(member) {
                throw Refusal(message: "'\(text)' is not an expansion: %%request has no '\(member)'")
            }
            // Header names keep their dots and lose their case.
            self =
                rest.first == "requestHeaders" && rest.count > 1
                ? .request(["requestHeaders", rest.dropFirst().joined(separator: ".").lowercased()])
                : .request(rest)
        case "root": self = .image(ImageReference(.root, rest))
        case "prevRoot": self = .image(ImageReference(.prevRoot, rest))
        case "this": self = .image(ImageReference(.this, rest))
        case "prev": self = .image(ImageReference(.prev, rest))
        case "args":
            throw Refusal(message: "'\(text)' belongs to third-party services, which are not served")
        case "partition":
            throw Refusal(message: "'\(text)' stands in the permissions of a partition of Sync only")
        default:
            throw Refusal(message: "'\(text)' is not an expansion")
        }
    }

    /// The document value that it names, or nil.
    var imageReference: ImageReference? {
        if case .image(let reference) = self { reference } else { nil }
    }

    private static let userMembers: Set<String> = ["id", "type", "data", "custom_data", "identities"]

    /// The name as it would be written in a rule.
    public var text: String {
        func name(_ root: String, _ path: [String]) -> String {
            (["%%" + root] + path).joined(separator: ".")
        }
        return switch self {
        case .constant(let value): value ? "%%true" : "%%false"
        case .user(let path): name("user", path)
        case .values(let path): name("values", path)
        case .environmentTag: "%%environment.tag"
        case .environmentValues(let path): name("environment", ["values"] + path)
        case .request(let path): name("request", path)
        case .partition: "%%partition"
        case .image(let reference): name(reference.image.rawValue, reference.path)
        }
    }
}
