import BSON
import Yams

/// A document of the contract as JSON, for readers without a parser of YAML: browsers.
enum OpenAPIDocument {
    /// The same members in the same order.
    ///
    /// The documents are built in and tested, so one that is not YAML is a fault of the build; it reads as
    /// `null`.
    static func json(_ yaml: String) -> [UInt8] {
        var bytes: [UInt8] = []
        let root = try? Yams.compose(yaml: yaml)
        PlainJSON.write(root.map(value) ?? .null, to: &bytes)
        return bytes
    }

    private static func value(_ node: Node) -> BSONValue {
        switch node {
        case .mapping(let mapping):
            var document = BSONDocument()
            for (key, member) in mapping { document.append(key.string ?? "", value(member)) }
            return .document(document)
        case .sequence(let sequence): return .array(sequence.map(value))
        case .scalar(let scalar):
            // Quoted text is text, whatever it looks like.
            guard scalar.style == .plain else { return .string(scalar.string) }
            switch scalar.string {
            case "true": return .bool(true)
            case "false": return .bool(false)
            case "", "null", "~": return .null
            default:
                if let whole = Int64(scalar.string) { return .int64(whole) }
                if let number = Double(scalar.string), number.isFinite { return .double(number) }
                return .string(scalar.string)
            }
        case .alias: return .null
        }
    }
}
