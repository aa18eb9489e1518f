import BSON

/// Replaces `%(%%environment.values.<name>)` in string values by the value in the environment in force.
///
/// Shape: `"clusterName": "%(%%environment.values.cluster)"` becomes `"clusterName": "Cluster0"`. Only strings hold
/// templates; `%%environment.values.x` without parentheses is an expansion and stays.
/// Source: `reference/app-config.md` §15.
struct TemplateResolver {
    let values: BSONDocument
    private(set) var findings = Findings()

    init(values: BSONDocument) {
        self.values = values
    }

    private static let opening = "%(%%environment.values."

    mutating func resolve(_ node: ConfigurationTree.Node) -> ConfigurationTree.Node {
        ConfigurationTree.Node(resolve(node.document, at: node.place), at: node.place)
    }

    private mutating func resolve(_ document: BSONDocument, at place: Place) -> BSONDocument {
        var result = document
        for index in result.fields.indices {
            let field = result.fields[index]
            result.fields[index].value = resolve(field.value, at: place.key(field.key))
        }
        return result
    }

    private mutating func resolve(_ value: BSONValue, at place: Place) -> BSONValue {
        switch value {
        case .document(let document): return .document(resolve(document, at: place))
        case .array(let elements):
            var result: [BSONValue] = []
            for (index, element) in elements.enumerated() {
                result.append(resolve(element, at: place.index(index)))
            }
            return .array(result)
        case .string(let text):
            return .string(resolve(text, at: place))
        default: return value
        }
    }

    private mutating func resolve(_ text: String, at place: Place) -> String {
        guard text.contains("%(") else { return text }
        var result = ""
        var rest = Substring(text)
        while let start = rest.firstRange(of: Self.opening) {
            guard let end = rest[start.upperBound...].firstIndex(of: ")") else { break }
            result += rest[..<start.lowerBound]
            let name = String(rest[start.upperBound..<end])
            switch values[name] {
            case .string(let content)?: result += content
            case let scalar? where scalar.isNumber || scalar.bool != nil: result += PlainText.of(scalar)
            case nil:
                findings.add(
                    .error,
                    place,
                    "template names the environment value '\(name)', which does not exist"
                )
            default:
                findings.add(
                    .error,
                    place,
                    "template names the environment value '\(name)', which is no string"
                )
            }
            rest = rest[rest.index(after: end)...]
        }
        return result + rest
    }
}

/// Scalars as they stand in text.
enum PlainText {
    static func of(_ value: BSONValue) -> String {
        var out: [UInt8] = []
        PlainJSON.write(value, to: &out)
        return String(decoding: out, as: UTF8.self)
    }
}
