import BSON
import HTTPGateway
import MQL

/// A limit: a setting that is a whole number, and where the number goes.
struct LimitSetting: Sendable {
    let setting: Setting
    let range: ClosedRange<Int>
    let apply: @Sendable (inout ServerSettings, Int) -> Void

    private init(
        _ name: String,
        _ value: Int,
        in range: ClosedRange<Int>,
        _ help: String,
        _ apply: @escaping @Sendable (inout ServerSettings, Int) -> Void
    ) {
        setting = Setting(name: name, defaultValue: String(value), help: help)
        self.range = range
        self.apply = apply
    }

    /// What a flag's help says.
    static func help(_ name: String) -> String {
        guard let limit = all.first(where: { $0.setting.name == name }) else {
            preconditionFailure("there is no limit '\(name)'")
        }
        return "\(limit.setting.help) (default: \(limit.setting.defaultValue ?? ""))"
    }

    /// Every limit, in the order of the README.
    static let all: [LimitSetting] = sizes

    private static let megabyte = 1 << 20

    /// How much one request may hold.
    private static let sizes: [LimitSetting] = [
        LimitSetting(
            "max-body-bytes",
            18 * megabyte,
            in: 1024...1024 * megabyte,
            "Bytes of a request's body."
        ) {
            $0.gateway.limits.bodyBytes = $1
        },
        LimitSetting("max-url-bytes", 8192, in: 256...65536, "Bytes of a URL, its query included.") {
            $0.gateway.limits.urlBytes = $1
        },
        LimitSetting("max-header-bytes", 80 * 1024, in: 1024...megabyte, "Bytes of all header fields.") {
            $0.gateway.limits.headerBytes = $1
        },
        LimitSetting("max-header-fields", 200, in: 10...10_000, "Header fields of a request.") {
            $0.gateway.limits.headerFields = $1
        },
        LimitSetting("max-depth", 100, in: 4...100, "Levels of objects and arrays in a body.") {
            $0.gateway.limits.read.depth = $1
        },
        LimitSetting(
            "max-values",
            1_000_000,
            in: 100...100_000_000,
            "Values in a body, objects and arrays included."
        ) {
            $0.gateway.limits.read.nodes = $1
        },
        LimitSetting("max-array-length", 200_000, in: 10...100_000_000, "Elements of one array in a body.") {
            $0.gateway.limits.read.elements = $1
        },
        LimitSetting("max-key-bytes", 4096, in: 16...megabyte, "Bytes of a field's name.") {
            $0.gateway.limits.read.keyBytes = $1
        },
        LimitSetting("max-conditions", 1000, in: 1...100_000, "Conditions in all filters of a request.") {
            $0.gateway.limits.parse.conditions = $1
        },
        LimitSetting("max-list-members", 10_000, in: 1...1_000_000, "Members of one $in, $nin or $all.") {
            $0.gateway.limits.parse.listMembers = $1
        },
        LimitSetting("max-stages", 1000, in: 1...1000, "Stages of a pipeline.") {
            $0.gateway.limits.parse.stages = $1
        },
        LimitSetting("max-update-paths", 1000, in: 1...100_000, "Paths that an update names.") {
            $0.gateway.limits.parse.updatePaths = $1
        },
        LimitSetting("max-pattern-bytes", 8192, in: 1...32764, "Bytes of a regular expression.") {
            $0.gateway.limits.parse.patternBytes = $1
        },
        LimitSetting("max-sort-keys", 32, in: 1...32, "Keys of a sort.") {
            $0.gateway.limits.parse.sortKeys = $1
        },
        LimitSetting(
            "max-projected-fields",
            1000,
            in: 1...100_000,
            "Fields of a projection, or of a stage that makes fields."
        ) {
            $0.gateway.limits.parse.projectedFields = $1
        },
        LimitSetting("max-inserted-documents", 100_000, in: 1...100_000, "Documents of one insertMany.") {
            $0.gateway.limits.parse.insertedDocuments = $1
        },
    ]
}
