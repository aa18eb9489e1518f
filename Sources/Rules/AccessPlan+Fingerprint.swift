import BSON
import Schemas

extension AccessPlan {
    /// A text that is another one when what the caller may do has changed, or nearly so, and the same in each process.
    ///
    /// What has been resolved is compared, not how the rules are written.
    public var fingerprint: String {
        var lines = ["\(queryFilter)", "\(queryProjection.map { "\($0)" } ?? "")"]
        for role in roles {
            lines += [role.name, "\(role.applyWhen)"]
            lines += [role.documentRead, role.documentWrite, role.read, role.write].map { condition in
                condition.map { "\($0)" } ?? ""
            }
            lines += ["\(role.insert)", "\(role.delete)", Self.text(role.fields.entries)]
            lines.append(role.fields.additional.map { Self.text($0) } ?? "")
        }
        return lines.joined(separator: "\n")
    }

    private static func text(_ entries: [FieldName: ResolvedField]) -> String {
        let sorted = entries.sorted { TextOrder.compare($0.key.text, $1.key.text) < 0 }
        return sorted.map { "\($0.key.text): \(text($0.value))" }.joined(separator: ", ")
    }

    private static func text(_ field: ResolvedField) -> String {
        let own = [field.read, field.write].map { condition in condition.map { "\($0)" } ?? "" }
        return "\(own) {\(text(field.nested))}"
    }
}
